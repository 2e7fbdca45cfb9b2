// A text and exactly what is said about it: `file:line:column: what, and what to write instead`.
#include <catch2/catch.hpp>

#include "tests/unit/conf/texts.h"

using namespace portico::conf;
using namespace portico::conf::testing;

namespace {

struct Case {
  std::string text;
  std::vector<std::string> problems;  // without "main.yaml:"
};

void check(const Case& one) {
  CAPTURE(one.text);
  std::vector<std::string> wanted;
  for (const std::string& problem : one.problems) wanted.push_back("main.yaml:" + problem);
  CHECK(lines(load_text(one.text).problems) == wanted);
}

const std::string site = "sites:\n  a.example:\n    to: \"127.0.0.1:1\"\n";

}  // namespace

TEST_CASE("problems: unknown keys get the nearest known one, in every kind of mapping") {
  const Case one = GENERATE(values<Case>({
      {"lisen: [\":80\"]\n", {"1:1: unknown key \"lisen\" at the top; write \"listen\""}},
      {"zzz: 1\n",
       {"1:1: unknown key \"zzz\" at the top; write include, listen, front_threads, user, "
        "shared_imports, sites, "
        "pools, timeouts, limits, log, trusted_proxies, spool, state_directory, run_directory or "
        "control"}},
      {"timeouts: {conect: 5s}\n",
       {"1:12: unknown key \"conect\" in \"timeouts\"; write \"connect\""}},
      {"limits: {bdy: 1B}\n", {"1:10: unknown key \"bdy\" in \"limits\"; write \"body\""}},
      {"log: {acess: x}\n", {"1:7: unknown key \"acess\" in \"log\"; write \"access\""}},
      {"spool: {qouta: 1B}\n", {"1:9: unknown key \"qouta\" in \"spool\"; write \"quota\""}},
      {"pools: {p: {endpoint: []}}\n",
       {"1:13: unknown key \"endpoint\" in a pool; write \"endpoints\""}},
      {"pools: {p: {endpoints: [{adress: x}]}}\n",
       {"1:26: unknown key \"adress\" in an endpoint; write \"address\""}},
      {"pools: {p: {endpoints: [\"a:1\"], health: {fal: 1}}}\n",
       {"1:42: unknown key \"fal\" in \"health\"; write \"fall\""}},
      {site + "    alias: x\n", {"4:5: unknown key \"alias\" in a site; write \"aliases\""}},
      {site + "    routes: {/x: {too: api}}\n",
       {"4:19: unknown key \"too\" in a route; write \"to\""}},
  }));
  check(one);
}

TEST_CASE("problems: keys of later versions are named as such") {
  const Case one = GENERATE(values<Case>({
      {"tls: {}\n", {"1:1: \"tls\" is not available in this version; take it out"}},
      {"sites: {a.example: {files: /srv}}\n",
       {"1:21: \"files\" is not available in this version; take it out"}},
      {"pools: {p: {endpoints: [\"a:1\"], policy: random_two}}\n",
       {"1:41: \"random_two\" is not known here; write round_robin or least_requests"}},
  }));
  check(one);
}

TEST_CASE("problems: a process has a name and a command in words") {
  const std::string shop = "sites: {a.example: {wsgi: a, directory: /a, processes: ";
  const std::string remedy = "write a command as a list of its words: [python, manage.py, migrate]";
  const Case one = GENERATE_COPY(values<Case>({
      {shop + "{queue: []}}}\n", {"1:64: " + remedy}},
      {shop + "{queue: python x.py}}}\n", {"1:64: " + remedy}},
      {shop + "{queue: [[x]]}}}\n", {"1:64: " + remedy}},
      {shop + "{\"a/b\": [x]}}}\n",
       {"1:57: \"a/b\" is no name for a process; write up to 32 letters, digits, \"-\", \"_\" or "
        "\".\""}},
      {shop + "{}}}\n", {}},
      {"sites: {a.example: {to: \"a:1\", processes: {queue: [x]}}}\n",
       {"1:32: \"processes\" belongs to \"wsgi\"; take it out"}},
      {"sites: {a.example: {wsgi: a, directory: /a, embedded: true, processes: {queue: [x]}}}\n",
       {"1:61: \"processes\" needs processes of the application's own, and this one is embedded "
        "in the front; take it out, or \"embedded\""}},
  }));
  check(one);
}

TEST_CASE("problems: modules that are imported once for several sites") {
  const std::string site_of = "sites: {a.example: {wsgi: a, directory: /a, ";
  const std::string remedy =
      " is not a module; write its name as after \"import\", such as \"django.template\"";
  const Case one = GENERATE_COPY(values<Case>({
      {"shared_imports: [django, django.template]\n", {}},
      {"shared_imports: []\n" + site_of + "shared_imports: django}}\n", {}},
      {"shared_imports: [shop/wsgi.py, a b]\n",
       {"1:18: \"shop/wsgi.py\"" + remedy, "1:32: \"a b\"" + remedy}},
      {"shared_imports: [django.]\n", {"1:18: \"django.\"" + remedy}},
      {"shared_imports: [\"shop:app\"]\n", {"1:18: \"shop:app\"" + remedy}},
      {"shared_imports: [a, b, a]\n",
       {"1:24: the module \"a\" stands here already; write it once"}},
      {site_of + "embedded: true, shared_imports: [a]}}\n",
       {"1:61: \"shared_imports\" needs processes of the application's own, and this one is "
        "embedded in the front; take it out, or \"embedded\""}},
      {"shared_imports: [a]\n" + site_of + "embedded: true}}\n", {}},
      {"sites: {a.example: {to: \"a:1\", shared_imports: [a]}}\n",
       {"1:32: \"shared_imports\" belongs to \"wsgi\"; take it out"}},
  }));
  check(one);
}

TEST_CASE("problems: numbers and lives of workers") {
  const std::string site_of = "sites: {a.example: {wsgi: a, directory: /a, ";
  const Case one = GENERATE_COPY(values<Case>({
      {site_of + "workers: {min: 3, max: 2}}}\n",
       {"1:60: \"min\" is more than \"max\"; write at most 2"}},
      {site_of + "workers: {max: 0}}}\n",
       {"1:60: \"0\" does not fit; write a whole number from 1 to 1000"}},
      {site_of + "workers: [1, 2]}}\n", {"1:54: a list stands here; write a whole number"}},
      {site_of + "workers: {least: 1}}}\n",
       {"1:55: unknown key \"least\" in \"workers\"; write min, max or idle"}},
      {site_of + "recycle: {requests: 0}}}\n",
       {"1:65: \"0\" does not fit; write a whole number from 1 to 1000000000000"}},
      {site_of + "recycle: {memory: 1KiB}}}\n",
       {"1:63: \"1KiB\" does not fit; write at least 1MiB"}},
      {site_of + "recycle: {lifetime: 10ms}}}\n",
       {"1:65: a worker that lives no longer mostly starts; write at least \"1s\""}},
      {site_of + "recycle: {jitter: 0.1}}}\n",
       {"1:63: \"0.1\" is not a share; write a whole number with a percent sign, such as "
        "\"10%\", from \"0%\" to \"100%\""}},
      {site_of + "recycle: 5}}\n",
       {"1:54: a single value stands here; write keys and values: requests, jitter, memory or "
        "lifetime"}},
      {site_of + "resources: {memory: 1MiB}}}\n",
       {"1:65: \"1MiB\" does not fit; write at least 16MiB"}},
      {site_of + "resources: {processes: 9}}}\n",
       {"1:68: \"9\" does not fit; write a whole number from 10 to 4000000"}},
      {site_of + "resources: {cpu: 1.5}}}\n",
       {"1:62: \"1.5\" is not a share; write a whole number with a percent sign, such as "
        "\"10%\", from \"1%\" to \"100000%\""}},
      {site_of + "resources: {cpus: 2}}}\n",
       {"1:57: unknown key \"cpus\" in \"resources\"; write \"cpu\""}},
      {"sites: {a.example: {to: \"127.0.0.1:1\", recycle: {}}}\n",
       {"1:40: \"recycle\" belongs to \"wsgi\"; take it out"}},
  }));
  check(one);
}

TEST_CASE("problems: an embedded application has no processes, and is the only one embedded") {
  const std::string embedded = "sites: {a.example: {wsgi: a, directory: /a, embedded: true, ";
  const Case one = GENERATE_COPY(values<Case>({
      {embedded + "workers: 2}}\n",
       {"1:61: \"workers\" needs processes of the application's own, and this one is embedded in "
        "the front; take it out, or \"embedded\""}},
      {embedded + "recycle: {requests: 5}}}\n",
       {"1:61: \"recycle\" needs processes of the application's own, and this one is embedded in "
        "the front; take it out, or \"embedded\""}},
      {embedded + "resources: {memory: 1GiB}}}\n",
       {"1:61: \"resources\" needs processes of the application's own, and this one is embedded in "
        "the front; take it out, or \"embedded\""}},
      {embedded + "routes: {/b: {wsgi: b, directory: /b, embedded: true}}}}\n",
       {"1:109: the application \"a.example\" is embedded already, and the front has one "
        "interpreter with one working directory; leave \"embedded\" out of one of them"}},
      {embedded + "routes: {/b: {wsgi: b, directory: /b, embedded: false}}}}\n", {}},
      {embedded + "threads: 0}}\n",
       {"1:70: without threads the front calls the application itself, in its only thread; write "
        "\"front_threads: 1\" at the top, or threads here"}},
      {"front_threads: 1\n" + embedded + "threads: 0}}\n", {}},
      {"sites: {a.example: {wsgi: a, directory: /a, threads: 0}}\n",
       {"1:54: \"0\" does not fit; write a whole number from 1 to 256"}},
      {"sites: {a.example: {to: \"a:1\", embedded: true}}\n",
       {"1:32: \"embedded\" belongs to \"wsgi\"; take it out"}},
  }));
  check(one);
}

TEST_CASE("problems: what concerns the whole server stands at the top of the main file") {
  const Case one = GENERATE(values<Case>({
      {site + "    timeouts: {shutdown: 1s}\n",
       {"4:16: \"shutdown\" concerns the whole server; write it at the top of the main file"}},
      {site + "    limits: {connections: 1}\n",
       {"4:14: \"connections\" concerns the whole server; write it at the top of the main file"}},
      {site + "    log: {level: debug}\n",
       {"4:11: \"level\" concerns the whole server; write it at the top of the main file"}},
  }));
  check(one);
  CHECK(lines(load_texts({site, "listen: [\":80\"]\n"}).problems) ==
        std::vector<std::string>{"part1.yaml:1:1: \"listen\" concerns the whole server; write it "
                                 "at the top of the main file"});
}

TEST_CASE("problems: duplicate keys, hosts, paths, pools, listeners, endpoints") {
  const Case one = GENERATE(values<Case>({
      {"user: a\nuser: b\n", {"2:1: the key \"user\" stands in line 1 already; write it once"}},
      {site + "  A.Example.: {to: \"127.0.0.1:1\"}\n",
       {"4:3: the host \"a.example\" is taken at main.yaml:2; write it in one site"}},
      {site + "    aliases: [b.example, a.example]\n",
       {"4:26: the host \"a.example\" is taken at main.yaml:2; write it in one site"}},
      {site + "    routes: {/x: {to: \"a:1\"}, /x/: {to: \"a:1\"}}\n",
       {"4:31: the path \"/x/\" is the same as in line 4; write it once"}},
      {site + "    routes: {/: {to: \"a:1\"}}\n",
       {"4:14: the path \"/\" is the same as in line 2; write it once"}},
      {"listen: [\":80\", \":80\"]\n", {"1:17: \":80\" is listened on already; write it once"}},
      {"pools: {p: {endpoints: [\"a:1\", \"A:1\"]}}\n",
       {"1:32: \"a:1\" is in this pool already; write it once, with a weight"}},
  }));
  check(one);
}

TEST_CASE("problems: duplicates over several files") {
  const std::string pool = "pools: {api: {endpoints: [\"127.0.0.1:1\"]}}\n";
  CHECK(lines(load_texts({site, site}).problems) ==
        std::vector<std::string>{"part1.yaml:2:3: the host \"a.example\" is taken at main.yaml:2; "
                                 "write it in one site"});
  CHECK(lines(load_texts({pool, pool}).problems) ==
        std::vector<std::string>{
            "part1.yaml:1:9: the pool \"api\" stands in main.yaml already; write it once"});
}

TEST_CASE("problems: wrong types") {
  const Case one = GENERATE(values<Case>({
      {"- a\n",
       {"1:1: a list stands here; write keys and values: include, listen, front_threads, user, "
        "shared_imports, "
        "sites, pools, timeouts, limits, log, trusted_proxies, spool, state_directory, "
        "run_directory or control"}},
      {"timeouts: 5s\n",
       {"1:11: a single value stands here; write keys and values: header, idle, connect, "
        "response, queue, start, body, send or shutdown"}},
      {"timeouts: {idle: [5s]}\n", {"1:18: a list stands here; write a duration such as \"10s\""}},
      {"front_threads: two\n", {"1:16: \"two\" does not fit; write a whole number from 0 to 128"}},
      {"log: {access: {}}\n", {"1:15: a mapping stands here; write a path"}},
      {"user:\n", {"1:1: nothing stands here; write a user's name such as \"portico\""}},
      {"sites: {a.example: {wsgi: a, directory: /a, user: \"\"}}\n",
       {"1:51: an empty text; write a user's name such as \"shop\""}},
      {"user: \"\"\n", {"1:7: an empty text; write a user's name such as \"portico\""}},
      {"user: \"a\\0\"\n", {"1:7: a text with a NUL; write a user's name such as \"portico\""}},
      {"listen: []\n",
       {"1:9: an empty list; write \":8080\", \"address:port\", \"[v6]:port\" or "
        "\"unix:/path\""}},
      {"sites: [a]\n", {"1:8: a list stands here; write hosts and sites: {shop.example: {}}"}},
      {site + "    merge_slashes: yes\n",
       {"4:20: \"yes\" is not a truth value; write true or false"}},
      {site + "    merge_slashes: \"true\"\n",
       {"4:20: \"true\" is not a truth value; write true or false"}},
      {"sites: {a.example: {wsgi: a, directory: /a, environment: {A: [1]}}}\n",
       {"1:62: a variable holds one text without NUL; write it in quotes, \"\" for an empty one"}},
  }));
  check(one);
}

TEST_CASE("problems: commands and warm-up requests") {
  const std::string app = "sites: {a.example: {wsgi: a, directory: /a, ";
  const std::string remedy = "write a command as a list of its words: [python, manage.py, migrate]";
  const Case one = GENERATE_COPY(values<Case>({
      {app + "before_deploy: [make]}}\n", {"1:61: " + remedy}},
      {app + "before_deploy: [[make], []]}}\n", {"1:69: " + remedy}},
      {app + "before_deploy: [[make, [x]]]}}\n", {"1:61: " + remedy}},
      {app + "before_deploy: [[\"\"]]}}\n", {"1:61: " + remedy}},
      {app + "warm: [x]}}\n", {"1:52: \"x\" is not a path; write one such as \"/healthz\""}},
      {"sites: {a.example: {to: \"a:1\", warm: [/]}}\n",
       {"1:32: \"warm\" belongs to \"wsgi\"; take it out"}},
  }));
  check(one);
}

TEST_CASE("problems: impossible values") {
  const Case one = GENERATE(values<Case>({
      {"listen: [\":65536\"]\n",
       {"1:10: the port in \":65536\": \"65536\" does not fit; write a whole number from 0 to "
        "65535"}},
      {"listen: [\"localhost:80\"]\n",
       {"1:10: \"localhost:80\" names a host; write an address of this machine, such as "
        "\"127.0.0.1:80\", or \":80\" for all"}},
      {"timeouts: {idle: 10}\n", {"1:18: \"10\" has no unit; write \"10s\" or \"10ms\""}},
      {"limits: {body: 10}\n", {"1:16: \"10\" has no unit; write \"10B\" or \"10KiB\""}},
      {"limits: {header_bytes: 1MiB}\n", {"1:24: \"1MiB\" does not fit; write at most 256KiB"}},
      {"limits: {header_bytes: 1B}\n", {"1:24: \"1B\" does not fit; write at least 1KiB"}},
      {"limits: {header_fields: -1}\n",
       {"1:25: \"-1\" does not fit; write a whole number from 10 to 1000"}},
      {"log: {format: jsn}\n", {"1:15: \"jsn\" is not known here; write \"json\""}},
      {"pools: {p: {endpoints: []}}\n",
       {"1:24: an empty list; write an address such as \"127.0.0.1:8000\""}},
      {"pools: {p: {}}\n",
       {"1:9: the pool \"p\" has no endpoints; write endpoints: [\"127.0.0.1:8000\"]"}},
      {"pools: {p: {endpoints: [\"a:1\"], health: {rise: 0, fall: 0, status: 400-200}}}\n",
       {"1:48: \"0\" does not fit; write a whole number from 1 to 1000",
        "1:57: \"0\" does not fit; write a whole number from 1 to 1000",
        "1:68: \"400-200\" is not a status; write one such as 200, or a range such as "
        "\"200-399\""}},
      {"pools: {p: {endpoints: [\"a:1\"], health: {path: healthz}}}\n",
       {"1:48: \"healthz\" is not a path; write one such as \"/healthz\""}},
      {"pools: {p: {endpoints: [{address: \"a:1\", weight: 0}]}}\n",
       {"1:50: \"0\" does not fit; write a whole number from 1 to 1000"}},
      {"sites: {a.example: {wsgi: a..b, directory: /a}}\n",
       {"1:27: \"a..b\" is not a WSGI application; write \"module\", \"module:callable\", "
        "\"module:factory()\" or \"file.py\""}},
      {"sites: {a.example: {wsgi: a, directory: /a, health: {interval: 1s}}}\n",
       {"1:53: an application is asked over HTTP; write {path: /healthz}"}},
  }));
  check(one);
}

TEST_CASE("problems: hosts that no request can have") {
  const Case one = GENERATE(values<Case>({
      {"sites: {\"*\": {to: \"a:1\"}}\n",
       {"1:9: \"*\" is not a wildcard; write \"*.\" before a name, such as \"*.shop.example\", or "
        "\"default\" for every other host"}},
      {"sites: {a.example:80: {to: \"a:1\"}}\n",
       {"1:9: \"a.example:80\" has a port, which belongs to \"listen\"; write \"a.example\""}},
      {"sites: {m\xC3\xBCnchen.de: {to: \"a:1\"}}\n",
       {"1:9: \"m\xC3\xBCnchen.de\" is not ASCII; write the name in punycode (\"xn--...\")"}},
      {"sites: {a_b.example: {to: \"a:1\"}}\n",
       {"1:9: \"a_b.example\" is not a host; write letters, digits and hyphens with dots between, "
        "such as \"shop.example\""}},
      {site + "    aliases: [default]\n",
       {"4:15: \"default\" is no host; write it as a site's key, in lower case"}},
      {"sites: {DeFault: {to: \"a:1\"}}\n",
       {"1:9: \"default\" is no host; write it as a site's key, in lower case"}},
      {site + "    aliases: [default.]\n",
       {"4:15: \"default\" is no host; write it as a site's key, in lower case"}},
  }));
  check(one);
}

TEST_CASE("problems: exactly one handler in a site without routes, and in every route") {
  const Case one = GENERATE(values<Case>({
      {"sites:\n  a.example:\n",
       {"2:3: \"a.example\" has nothing that answers; write \"wsgi\" or \"to\""}},
      {"sites: {a.example: {routes: {}}}\n",
       {"1:29: no routes stand here; write {/: {to: \"127.0.0.1:8000\"}}"}},
      {"sites: {a.example: {routes: }}\n",
       {"1:29: no routes stand here; write {/: {to: \"127.0.0.1:8000\"}}"}},
      {site + "    routes: {/x: {}}\n",
       {"4:14: \"/x\" has nothing that answers; write \"wsgi\" or \"to\""}},
      {site + "    wsgi: a\n", {"3:5: \"wsgi\" and \"to\" side by side; write one of them"}},
      {site + "    user: shop\n", {"4:5: \"user\" belongs to \"wsgi\"; take it out"}},
      {site + "    environment_file: a\n",
       {"4:5: \"environment_file\" belongs to \"wsgi\"; take it out"}},
      {site + "    directory: /a\n", {"4:5: \"directory\" belongs to \"wsgi\"; take it out"}},
      {site + "    health: {path: /}\n",
       {"4:5: \"health\" of addresses belongs to a pool; write it under \"pools\""}},
      {"sites: {a.example: {wsgi: a}}\n",
       {"1:9: a wsgi handler without a directory; write \"directory:\" and where the application "
        "lives"}},
  }));
  check(one);
}

TEST_CASE("problems: requests are streamed to applications with threads that can wait") {
  const std::string embedded =
      "front_threads: 1\nsites:\n  a.example:\n    wsgi: a\n    directory: /a\n    embedded: true\n"
      "    threads: 0\n";
  const std::string remedy =
      "\"request: stream\" needs threads that wait for the client, and with \"threads: 0\" the "
      "front "
      "itself would wait; write \"threads: 1\" or more for the application, or \"request: "
      "complete\" "
      "here";
  const Case one = GENERATE_COPY(values<Case>({
      {embedded + "    request: stream\n", {"8:14: " + remedy}},
      {embedded + "    routes: {/x: {request: stream}}\n", {"8:28: " + remedy}},
      {"front_threads: 1\nsites: {a.example: {request: stream, routes: {/x: {wsgi: a, directory: "
       "/a, embedded: true, threads: 0}}}}\n",
       {"2:47: " + remedy}},
      {site + "    request: stream\n",
       {"4:5: \"request\" belongs to \"wsgi\": endpoints get each body as it comes; take it out"}},
      {site + "    routes: {/x: {request: complete}}\n",
       {"4:19: \"request\" belongs to \"wsgi\": endpoints get each body as it comes; take it out"}},
      {"sites: {a.example: {wsgi: a, directory: /a, request: buffered}}\n",
       {"1:54: \"buffered\" is not known here; write complete or stream"}},
      {"sites: {a.example: {wsgi: a, directory: /a, routes: {/x: {threads: 2, request: "
       "stream}}}}\n",
       {"1:59: \"threads\" belongs to \"wsgi\"; take it out"}},
      {"sites: {a.example: {wsgi: a, routes: {/x: {request: stream}}}}\n",
       {"1:9: a wsgi handler without a directory; write \"directory:\" and where the application "
        "lives"}},
      {"sites: {a.example: {wsgi: a, to: b, routes: {/x: {request: stream}}}}\n",
       {"1:30: \"wsgi\" and \"to\" side by side; write one of them"}},
  }));
  check(one);
}

TEST_CASE("problems: unknown pools get the nearest name") {
  const Case one = GENERATE(values<Case>({
      {"pools: {api: {endpoints: [\"a:1\"]}}\nsites: {a.example: {to: apj}}\n",
       {"2:25: there is no pool \"apj\"; write \"api\""}},
      {"sites: {a.example: {to: localhost}}\n",
       {"1:25: there is no pool \"localhost\"; write it under \"pools\", or an address such as "
        "\"localhost:8000\""}},
  }));
  check(one);
}

TEST_CASE("problems: all kinds are told at once, in order of place") {
  check(
      {"lisen: x\n"
       "sites:\n"
       "  *.a.example: {to: apj, aliases: [b.example:80]}\n"
       "  b.example: {to: api, to: api}\n"
       "pools:\n"
       "  api: {endpoints: [\"a\"]}\n"
       "timeouts: {idle: 5}\n",
       {"1:1: unknown key \"lisen\" at the top; write \"listen\"",
        "3:3: an unquoted \"*\" starts an alias in YAML; write \"*.a.example\"",
        "3:21: there is no pool \"apj\"; write \"api\"",
        "3:36: \"b.example:80\" has a port, which belongs to \"listen\"; write \"b.example\"",
        "4:24: the key \"to\" stands in line 4 already; write it once",
        "6:21: \"a\" has no port; write \"127.0.0.1:8000\"",
        "7:18: \"5\" has no unit; write \"5s\" or \"5ms\""}});
}
