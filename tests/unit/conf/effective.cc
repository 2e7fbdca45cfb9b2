#include <catch2/catch.hpp>

#include "tests/unit/conf/texts.h"

using namespace portico::conf;
using namespace portico::conf::testing;

namespace {

void check_round_trip(const Config& config) {
  const std::string text = effective(config);
  CAPTURE(text);
  const Loaded again = load({{{"effective", "/elsewhere", text}}, {}});
  CHECK(lines(again.problems) == std::vector<std::string>{});
  CHECK(again.config == config);
  CHECK(effective(again.config) == text);
}

}  // namespace

TEST_CASE("effective: what is printed loads to an equal configuration") {
  const std::string text = GENERATE(
      "", "sites: {a.example: {to: \"127.0.0.1:1\"}}\n",
      "sites: {default: {to: \"127.0.0.1:1\"}}\n",
      "sites: {default: {aliases: [a.example, b.example], to: \"127.0.0.1:1\"}}\n",
      "sites: {\"*.a.example\": {routes: {/x: {to: \"[::1]:1\"}, /: {to: \"unix:/a b\"}}}}\n",
      "listen: [\":0\", \":0\", \"unix:/x\", \"[::1]:1\"]\nuser: bob\nfront_threads: 9\n",
      "trusted_proxies: [10.0.0.0/8, \"2001:db8::/32\", unix]\n",
      "log: {access: \"off\", format: json, level: debug}\nspool: {quota: 5B}\n",
      "pools: {api: {endpoints: [{address: \"a:1\", weight: 3}], connections: 5, health: "
      "\"off\"}}\n",
      "pools: {api: {endpoints: [\"a:1\"], health: {path: /h, host: b.example, status: 204}}}\n",
      "timeouts: {idle: 1h1ms, shutdown: 1s}\nlimits: {body: 7B, queue: 0, connections: 5}\n",
      R"(timeouts: {header: 1s, idle: 2s, connect: 3s, response: 4s, queue: 5s, body: 6s, send: 7s}
limits: {header_bytes: 1KiB, target_bytes: 1KiB, header_fields: 11, body: 1B, queue: 2,
         response_buffer: 65KiB, client_rate: 3B, connections: 4, connections_per_client: 5}
spool: {directory: /s, quota: 1B, memory: 2MiB, threshold: 3B}
state_directory: /a
run_directory: /b
control: /c
pools: {p: {endpoints: ["a:1"], policy: least_requests,
            health: {interval: 1s, timeout: 1ms, rise: 4, fall: 5, status: 201-202}}})",
      R"yaml(sites: {a.example: {wsgi: "x y.py:f()", directory: "/a \"b\" ü", python: python3.9,
         environment: {"NULL": "a\nb\\", E: ""}, health: {path: /h}, workers: 7, threads: 3,
         user: shop, preload: false, environment_file: /e,
         touch: /t, reload: true, before_deploy: [[a b, "c\"d"], [e]], warm: [],
         processes: {queue: [python, "a b"], "1.x-y_": [c]}}})yaml",
      "sites: {a.example: {wsgi: a, directory: /a, embedded: true, threads: 3}}\n",
      "shared_imports: [a, b.c]\nsites: {a.example: {wsgi: a, directory: /a, routes: {\n"
      "  /b: {wsgi: b, directory: /b, shared_imports: []}, /c: {wsgi: c, directory: /c,\n"
      "  shared_imports: [d]}}}, b.example: {wsgi: b, directory: /b, embedded: true}}\n",
      "sites: {a.example: {wsgi: a, directory: /a, workers: {min: 0, max: 4, idle: 90s},\n"
      "  recycle: {requests: 9, jitter: 0%, memory: 300MiB, lifetime: 24h}}}\n",
      "sites: {a.example: {wsgi: a, directory: /a, workers: {min: 3}, recycle: {memory: 1MiB}}}\n",
      "sites: {a.example: {wsgi: a, directory: /a, resources: {memory: 1GiB, cpu: 250%, processes: "
      "99}}}\n",
      "sites: {a.example: {wsgi: a, directory: /a, resources: {cpu: 5%}}}\n",
      "front_threads: 1\nsites: {a.example: {wsgi: a, directory: /a, embedded: true, threads: "
      "0}}\n",
      "sites: {a.example: {wsgi: a, directory: /a, request: stream, routes: {/x: {request: "
      "complete}, "
      "/y/: {limits: {body: 5B}}, /z: {to: \"a:1\"}, /b: {wsgi: b, directory: /b}}}}\n",
      "sites: {a.example: {to: \"a:1\", routes: {/x: {limits: {queue: 3}}}}, b.example: {to: p, "
      "routes: {/x: {to: p}, /y: {timeouts: {idle: 1s}}}}}\npools: {p: {endpoints: [\"a:1\"]}}\n",
      "sites: {a.example: {request: stream, routes: {/x: {to: \"a:1\"}, /b: {wsgi: b, directory: "
      "/b}, /c: {wsgi: c, directory: /c, request: complete}}}}\n",
      R"(limits: {queue: 5}
sites:
  a.example:
    to: "127.0.0.1:1"
    limits: {queue: 6, body: 1GiB}
    timeouts: {send: 1s}
    log: {access: "off"}
    merge_slashes: false
    unsafe_encoded_slashes: true
    unsafe_unknown_methods: true
    routes: {/x: {to: ["a:1", "b:1"], limits: {queue: 7}}, /%c3%bc: {wsgi: y, directory: /y}})");
  const Loaded loaded = load_text(text);
  REQUIRE(lines(loaded.problems) == std::vector<std::string>{});
  check_round_trip(loaded.config);
}

TEST_CASE("effective: two configurations that differ are not equal") {
  const Config one = load_text("timeouts: {idle: 1s}\n").config;
  const Config other = load_text("timeouts: {idle: 2s}\n").config;
  CHECK_FALSE(one == other);
  CHECK(one == load_text("\n\ntimeouts: {idle: 1000ms}\n").config);
}
