// What is written arrives: every option, inheritance, names, places.
#include <catch2/catch.hpp>

#include "tests/unit/conf/texts.h"

using namespace portico::conf;
using namespace portico::conf::testing;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Config loaded(const std::string& text) {
  Loaded out = load_text(text);
  REQUIRE(lines(out.problems) == std::vector<std::string>{});
  return out.config;
}

const Route& route(const Config& config, const std::string& path) {
  for (const Route& one : config.sites.at(0).routes) {
    if (one.path == path) return one;
  }
  FAIL("no route " << path);
  return config.sites.at(0).routes.at(0);
}

}  // namespace

TEST_CASE("values: the server's options") {
  const Config config = loaded(R"(
listen: [":80", "[::1]:81", "unix:/run/p.sock"]
front_threads: 3
user: www-data
trusted_proxies: [10.0.0.0/8, "::1", unix]
state_directory: /a//b/../c/
run_directory: run
control: run/c.sock
timeouts: {shutdown: 5s}
limits: {connections: 1000, connections_per_client: 10}
log: {access: access.log, format: json, level: debug}
spool: {directory: /spool, quota: 2GiB, memory: 1MiB, threshold: 0B}
)");
  REQUIRE(config.listeners.size() == 3);
  CHECK(config.listeners[1].address == Address{"::1", 81, ""});
  CHECK(config.listeners[2].address == Address{"", 0, "/run/p.sock"});
  CHECK(config.front_threads == 3);
  CHECK(config.user == "www-data");
  REQUIRE(config.trusted_proxies.size() == 3);
  CHECK(config.trusted_proxies[0].text() == "10.0.0.0/8");
  CHECK(config.state_directory == "/a/c");
  CHECK(config.run_directory == "/etc/portico/run");
  CHECK(config.control == "/etc/portico/run/c.sock");
  CHECK(loaded("control: \"off\"\n").control == "off");
  CHECK(config.shutdown_timeout == seconds(5));
  CHECK(config.connections.total == 1000);
  CHECK(config.connections.per_client == 10);
  CHECK(config.log.access == "/etc/portico/access.log");
  CHECK(config.log.format == LogFormat::json);
  CHECK(config.log.level == LogLevel::debug);
  CHECK(config.spool.directory == "/spool");
  CHECK(config.spool.quota == 2 * gib);
  CHECK(config.spool.memory == mib);
  CHECK(config.spool.threshold == 0);
}

TEST_CASE("values: timeouts and limits go from the top to sites to routes, key by key") {
  const Config config = loaded(R"(
timeouts: {response: 10s, queue: 11s}
limits: {body: 1MiB, queue: 7}
pools: {api: {endpoints: ["127.0.0.1:9"]}}
sites:
  a.example:
    to: "127.0.0.1:1"
    timeouts: {response: 20s, send: 21s}
    limits: {body: 2MiB}
    routes:
      /x: {to: "127.0.0.1:2", timeouts: {response: 30s}, limits: {body: 3MiB, queue: 9}}
      /y: {wsgi: y, directory: /y}
)");
  CHECK(config.timeouts.response == seconds(10));
  CHECK(config.timeouts.send == seconds(120));
  CHECK(route(config, "/").timeouts.response == seconds(20));
  CHECK(route(config, "/").timeouts.queue == seconds(11));
  CHECK(route(config, "/x").timeouts.response == seconds(30));
  CHECK(route(config, "/x").timeouts.send == seconds(21));
  CHECK(route(config, "/x").timeouts.queue == seconds(11));
  CHECK(route(config, "/x").timeouts.header == seconds(10));
  CHECK(route(config, "/x").limits.body == 3 * mib);
  CHECK(route(config, "/y").limits.body == 2 * mib);
  CHECK(config.applications.at(0).limits == route(config, "/y").limits);
  CHECK(config.applications.at(0).timeouts == route(config, "/y").timeouts);
  CHECK(find_pool(config, "a.example/x")->queue == 9);
  CHECK(find_pool(config, "a.example/")->queue == 7);
  CHECK(find_pool(config, "api")->queue == 7);
}

TEST_CASE("values: a route without a handler of its own is answered by what answers \"/\"") {
  const Config config = loaded(R"(
sites:
  a.example:
    wsgi: a
    directory: /a
    routes:
      /upload/: {request: stream}
      /large: {limits: {body: 1GiB}}
  b.example:
    routes: {/x: {limits: {body: 2GiB}}, /: {to: "127.0.0.1:1"}}
)");
  CHECK(config.applications.size() == 1);
  CHECK(std::get<ToApplication>(route(config, "/upload/").handler).application == "a.example");
  CHECK(std::get<ToApplication>(route(config, "/large").handler).application == "a.example");
  CHECK(route(config, "/large").limits.body == gib);
  CHECK(config.applications.at(0).script_name.empty());
  CHECK(config.sites.at(1).routes.at(1).handler == config.sites.at(1).routes.at(0).handler);
  CHECK(config.sites.at(1).routes.at(1).limits.body == 2 * gib);
}

TEST_CASE("values: request is complete; it goes from sites to routes of applications") {
  const Config config = loaded(R"(
sites:
  a.example:
    wsgi: a
    directory: /a
    request: stream
    routes:
      /whole: {request: complete}
      /same: {limits: {body: 1B}}
      /blog: {wsgi: b, directory: /b}
      /far: {to: "127.0.0.1:2"}
  b.example: {wsgi: b, directory: /b}
)");
  CHECK(route(config, "/").request == Handover::stream);
  CHECK(route(config, "/whole").request == Handover::complete);
  CHECK(route(config, "/same").request == Handover::stream);
  CHECK(route(config, "/blog").request == Handover::stream);
  CHECK(route(config, "/far").request == Handover::complete);
  CHECK(config.sites.at(1).routes.at(0).request == Handover::complete);
}

TEST_CASE("values: a site's log takes what it does not say from the top") {
  const Config config = loaded(R"(
log: {access: /log/all, format: json, level: error}
sites:
  a.example: {to: "127.0.0.1:1", log: {access: "off"}}
  b.example: {to: "127.0.0.1:1", log: {format: common}}
  c.example: {to: "127.0.0.1:1"}
)");
  CHECK(config.sites[0].log == Log{"off", LogFormat::json, LogLevel::error, {}});
  CHECK(config.sites[1].log == Log{"/log/all", LogFormat::common, LogLevel::error, {}});
  CHECK(config.sites[2].log == config.log);
}

TEST_CASE("values: the head is read within the largest limits of any route") {
  const Config config = loaded(R"(
limits: {header_bytes: 16KiB, header_fields: 50}
sites:
  a.example:
    to: "127.0.0.1:1"
    routes:
      /x: {to: "127.0.0.1:1", limits: {header_bytes: 64KiB, target_bytes: 300B}}
      /y: {to: "127.0.0.1:1", limits: {header_fields: 60}}
)");
  const Limits widest = widest_limits(config);
  CHECK(widest.header_bytes == 64 * kib);
  CHECK(widest.target_bytes == 8 * kib);
  CHECK(widest.header_fields == 60);
}

TEST_CASE("values: hosts are canonical; the default site has none of its own") {
  const Config config = loaded(R"(
sites:
  SHOP.Example.: {aliases: [WWW.shop.example, "*.Shop.example"], to: "127.0.0.1:1"}
  default: {aliases: other.example, to: "127.0.0.1:1"}
)");
  CHECK(config.sites[0].name == "shop.example");
  CHECK(config.sites[0].hosts ==
        std::vector<std::string>{"shop.example", "www.shop.example", "*.shop.example"});
  CHECK(config.sites[1].is_default);
  CHECK(config.sites[1].hosts == std::vector<std::string>{"other.example"});
}

TEST_CASE("values: a site's own handler is the route \"/\", and comes first") {
  const Config config = loaded(R"(
sites:
  a.example:
    routes:
      /x/: {to: "127.0.0.1:1"}
      /: {to: "127.0.0.1:2"}
)");
  REQUIRE(config.sites[0].routes.size() == 2);
  CHECK(config.sites[0].routes[0].path == "/");
  CHECK(config.sites[0].routes[1].path == "/x/");
}

TEST_CASE("values: pools, weights, health") {
  const Config config = loaded(R"(
pools:
  api:
    endpoints: ["App:8000", {address: "unix:/run/x", weight: 7}]
    policy: least_requests
    connections: 5
    health: {path: "/h?x=1", host: API.example, interval: 1s, timeout: 500ms, rise: 1, fall: 9, status: 204}
  quiet: {endpoints: "127.0.0.1:1", health: "off"}
)");
  const Pool& api = config.pools[0];
  CHECK(api.endpoints[0].address == Address{"app", 8000, ""});
  CHECK(api.endpoints[1].address.path == "/run/x");
  CHECK(api.endpoints[1].weight == 7);
  CHECK(api.policy == Policy::least_requests);
  CHECK(api.connections == 5);
  CHECK(*api.health ==
        Health{"/h?x=1", "api.example", seconds(1), milliseconds(500), 1, 9, 204, 204});
  CHECK_FALSE(config.pools[1].health);
}

TEST_CASE("values: applications in sites and routes stand on their own") {
  const Config config = loaded(R"yaml(
sites:
  shop.example:
    wsgi: "shop:make()"
    directory: shop
    python: venvs/shop
    workers: 4
    threads: 2
    environment: {A: b, N: 1, T: true, E: "", "NULL": "x"}
    health: {path: /healthz}
    routes:
      /blog/:
        wsgi: blog.py
        directory: /srv/blog
        python: python3.12
        user: blog
        environment_file: blog.env
        touch: now
        reload: true
        before_deploy: [[python, -c, "x y"], [make]]
        warm: [/a, "/b?c=1"]
      /wiki: {wsgi: wiki, directory: /srv/wiki}
)yaml");
  const Application& shop = config.applications.at(0);
  CHECK(shop.directory == "/etc/portico/shop");
  CHECK(shop.python == "/etc/portico/venvs/shop");
  CHECK(shop.workers == 4);
  CHECK(shop.threads == 2);
  using Variables = std::vector<std::pair<std::string, std::string>>;
  CHECK(shop.environment ==
        Variables{{"A", "b"}, {"N", "1"}, {"T", "true"}, {"E", ""}, {"NULL", "x"}});
  CHECK(shop.health->path == "/healthz");
  const Application& blog = config.applications.at(1);
  CHECK(blog.name == "shop.example/blog/");
  CHECK(blog.script_name == "/blog");
  CHECK(blog.python == "python3.12");
  CHECK(blog.workers == 2);
  CHECK(blog.environment.empty());
  CHECK(blog.touch == "/etc/portico/now");
  CHECK(blog.reload);
  using Words = std::vector<std::string>;
  CHECK(blog.before_deploy == std::vector<Words>{{"python", "-c", "x y"}, {"make"}});
  CHECK(blog.warm == Words{"/a", "/b?c=1"});
  CHECK(blog.user == "blog");
  CHECK(blog.environment_file == "/etc/portico/blog.env");
  CHECK(shop.user.empty());
  CHECK(shop.environment_file.empty());
  CHECK(config.applications.at(2).name == "shop.example/wiki");
  CHECK(config.applications.at(2).script_name == "/wiki");
}

TEST_CASE("values: what an application may use of the machine, each on its own") {
  const Config config = loaded(R"yaml(
sites:
  a.example:
    wsgi: a
    directory: /a
    resources: {memory: 512MiB, cpu: 150%, processes: 100}
    routes:
      /b: {wsgi: b, directory: /b, resources: {cpu: 50%}}
      /c: {wsgi: c, directory: /c}
)yaml");
  const Resources& all = config.applications.at(0).resources;
  CHECK(all.memory == 512 * mib);
  CHECK(all.cpu == 150);
  CHECK(all.processes == 100);
  CHECK(config.applications.at(1).resources.cpu == 50);
  CHECK(config.applications.at(1).resources.memory == 0);
  CHECK(config.applications.at(1).resources.any());
  CHECK_FALSE(config.applications.at(2).resources.any());
}

TEST_CASE("values: \"to\" is a pool's name, an address, or several") {
  const Config config = loaded(R"(
pools: {api: {endpoints: ["127.0.0.1:9"]}}
sites:
  a.example:
    to: api
    routes:
      /b: {to: "127.0.0.1:1"}
      /c: {to: ["127.0.0.1:1", {address: "[::1]:2", weight: 3}]}
      /d: {to: {address: "unix:/d", weight: 2}}
)");
  CHECK(route(config, "/").handler == Handler(ToPool{"api"}));
  CHECK(route(config, "/c").handler == Handler(ToPool{"a.example/c"}));
  CHECK(find_pool(config, "a.example/c")->endpoints.size() == 2);
  CHECK(find_pool(config, "a.example/d")->endpoints[0].weight == 2);
  CHECK(find_pool(config, "nowhere") == nullptr);
  CHECK(find_application(config, "a.example") == nullptr);
}

TEST_CASE("values: what was written where is kept for later checks") {
  const Config config = loaded(
      "user: bob\n"
      "sites:\n"
      "  a.example:\n"
      "    wsgi: a\n"
      "    directory: /a\n"
      "    python: /p\n");
  const auto place = [](const Position& where) {
    return where.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  };
  CHECK(place(config.user_where) == "main.yaml:1:7");
  CHECK(place(config.sites[0].where) == "main.yaml:3:3");
  CHECK(place(config.sites[0].routes[0].where) == "main.yaml:3:3");
  CHECK(place(config.applications[0].where) == "main.yaml:4:11");
  CHECK(place(config.applications[0].directory_where) == "main.yaml:5:16");
  CHECK(place(config.applications[0].python_where) == "main.yaml:6:13");
}

TEST_CASE("values: sites and pools of included files join those of the main file") {
  const Loaded out = load_texts({"sites: {a.example: {to: api}}\n",
                                 "pools: {api: {endpoints: [\"127.0.0.1:1\"]}}\n",
                                 "sites: {b.example: {to: api}}\n"});
  CHECK(lines(out.problems).empty());
  CHECK(out.config.sites.size() == 2);
  CHECK(out.config.sites[1].where.file == "part2.yaml");
}
