#include "proxy/run/status.h"

#include <catch2/catch.hpp>

#include "conf/load.h"
#include "proxy/run/status_json.h"
#include "proxy/run/status_text.h"

using namespace portico;
using namespace portico::run;
using process::ServiceReport;
using process::WorkerReport;

namespace {

constexpr const char* text = R"(
sites:
  a.example:
    wsgi: shop
    directory: /srv/shop
    routes: {/api/: {to: api}}
  b.example: {to: ["127.0.0.1:3"]}
pools: {api: {endpoints: ["127.0.0.1:1", "127.0.0.1:2"]}}
)";

/// Two workers that are ready, endpoints that are up, and what a test makes of them.
struct World {
  World() {
    conf::Loaded loaded = conf::load({{{"test", "/", text}}, {}});
    REQUIRE(loaded.problems.empty());
    config = loaded.config;
    service.name = service.site = "a.example";
    service.state = ServiceReport::State::ready;
    service.wanted = service.least = service.most = 2;
    service.parent = 10;
    service.workers = {{1, 11, WorkerReport::State::ready, {}, {}},
                       {2, 12, WorkerReport::State::ready, {}, {}}};
    for (const char* address : {"127.0.0.1:1", "127.0.0.1:2"})
      front.endpoints.push_back({"api", address, "none", 0});
    front.endpoints.push_back({"b.example/", "127.0.0.1:3", "none", 0});
    front.workers.push_back({"a.example", 1, 5});
    front.sites.push_back({"a.example", {0, 0, 4, 0, 0, 1}});
  }

  Status status(bool front_answers = true, const std::string& only = "") const {
    Knowledge known{config, {service}, front_answers ? &front : nullptr, 5, stopping, {}};
    return status_of(
        known, [&](const std::string& site) { return only.empty() || site == only; },
        [](pid_t) { return process::Memory{1024}; });
  }

  conf::Config config;
  ServiceReport service;
  FrontReport front;
  bool stopping = false;
};

}  // namespace

TEST_CASE("status: all is well when every worker is ready and every endpoint up") {
  const Status status = World().status();
  CHECK(status.standing == Standing::well);
  REQUIRE(status.applications.size() == 1);
  CHECK(status.applications[0].workers[0].requests == 5u);
  CHECK(status.applications[0].workers[1].requests == 0u);
  CHECK(status.applications[0].workers[0].memory->bytes == 1024);
  CHECK(status.reasons.empty());
}

TEST_CASE("status: a worker that is missing degrades its site; without any it is down") {
  World world;
  world.service.workers.pop_back();
  Status status = world.status();
  CHECK(status.applications[0].standing == Standing::degraded);
  CHECK(status.applications[0].reason == "1 of 2 workers are ready");
  CHECK(status.sites[0].standing == Standing::degraded);
  CHECK(status.sites[1].standing == Standing::well);
  CHECK(status.standing == Standing::degraded);
  world.service.workers.clear();
  world.service.state = ServiceReport::State::failed;
  world.service.reason = "importing shop failed";
  status = world.status();
  CHECK(status.applications[0].standing == Standing::down);
  CHECK(status.applications[0].reason == "importing shop failed");
  CHECK(status.sites[0].standing == Standing::degraded);  // its pool works
}

TEST_CASE("status: one that sleeps is well, whatever its health check found before") {
  World world;
  world.service.state = ServiceReport::State::sleeping;
  world.service.workers.clear();
  world.service.parent = 0;
  world.service.least = world.service.wanted = 0;
  world.front.applications.push_back({"a.example", false});
  const Status status = world.status();
  CHECK(status.standing == Standing::well);
  CHECK(status_text(status, Colours::no)
            .find("  zygote is not running\n  sleeping; a request starts it\n"
                  "  workers 0, from 0 to 2\n") != std::string::npos);
  CHECK(status_json(status).find(R"("phase":"sleeping","reason":null,"user":null,"preload":true,)"
                                 R"("workers_wanted":0,"workers_min":0,"workers_max":2,)") !=
        std::string::npos);
}

TEST_CASE("status: where a zygote comes from a base, that is named") {
  World world;
  CHECK(status_text(world.status(), Colours::no).find("shared imports") == std::string::npos);
  world.service.base = 4711;
  const Status status = world.status();
  CHECK(status_text(status, Colours::no).find("; shared imports in process 4711") !=
        std::string::npos);
  CHECK(status_json(status).find(R"("base":{"pid":4711,)") != std::string::npos);
}

TEST_CASE("status: workers beyond the least are no want") {
  World world;
  world.service.least = 1;
  world.service.workers.pop_back();
  CHECK(world.status().standing == Standing::well);
  world.service.workers.clear();
  CHECK(world.status().applications[0].reason == "0 of 1 worker is ready");
}

TEST_CASE("status: recycling is shown") {
  World world;
  world.service.recycled = 3;
  world.service.workers[0].due = "after 10012 requests";
  CHECK(status_text(world.status(), Colours::no)
            .find("  workers recycled 3\n  worker 1 is recycled after 10012 requests\n") !=
        std::string::npos);
  const std::string json = status_json(world.status());
  CHECK(json.find(R"("workers_recycled":3,)") != std::string::npos);
  CHECK(json.find(R"("due":"after 10012 requests"})") != std::string::npos);
}

TEST_CASE("status: what a site uses of what it may use is shown, and what is not in force") {
  World world;
  CHECK(status_json(world.status()).find(R"("resources":null)") != std::string::npos);
  auto& resources = world.service.resources.emplace();
  resources.memory = 3 << 20;
  resources.most_memory = 512 << 20;
  resources.processes = 4;
  resources.most_cpu = 150;
  resources.memory_kills = 2;
  resources.problem = "resources (processes) are not in force: so it is";
  CHECK(status_text(world.status(), Colours::no)
            .find("  uses memory 3.0 MiB of 512.0 MiB, processes 4, cpu 150%, killed for lack of "
                  "memory 2\n  resources (processes) are not in force: so it is\n") !=
        std::string::npos);
  CHECK(status_json(world.status())
            .find(R"("resources":{"memory":3145728,"memory_max":536870912,"processes":4,)"
                  R"("processes_max":null,"cpu_max":150,"memory_kills":2,"refused_forks":0,)"
                  R"("problem":"resources (processes) are not in force: so it is"})") !=
        std::string::npos);
}

TEST_CASE("status: endpoints that are down say why") {
  World world;
  world.front.endpoints[0].outage = "probes";
  world.front.endpoints[2].outage = "DNS";
  const Status status = world.status();
  CHECK(status.pools[0].standing == Standing::degraded);
  CHECK(status.pools[0].endpoints[0].state == EndpointStatus::State::down);
  CHECK(status.pools[0].endpoints[0].reason == "its health check fails");
  CHECK(status.pools[0].endpoints[1].reason.empty());
  CHECK(status.pools[1].endpoints[0].reason == "its name does not resolve");
  CHECK(status.sites[1].standing == Standing::down);
  CHECK(status.standing == Standing::degraded);
}

TEST_CASE("status: an application whose health check fails is degraded") {
  World world;
  world.front.applications.push_back({"a.example", false});
  CHECK(world.status().applications[0].reason == "its health check fails");
  CHECK(world.status().standing == Standing::degraded);
}

TEST_CASE("status: a front that does not answer is said, and nothing is made up") {
  const Status status = World().status(false);
  CHECK(status.standing == Standing::degraded);
  CHECK(status.reasons == std::vector<std::string>{"the front does not answer"});
  CHECK(status.pools[0].endpoints[0].state == EndpointStatus::State::unknown);
  CHECK_FALSE(status.applications[0].workers[0].requests);
  CHECK_FALSE(status.sites[0].requests);
}

TEST_CASE("status: a caller sees its own sites and what they use") {
  const Status status = World().status(true, "b.example");
  REQUIRE(status.sites.size() == 1);
  CHECK(status.sites[0].name == "b.example");
  CHECK(status.applications.empty());
  REQUIRE(status.pools.size() == 1);
  CHECK(status.pools[0].name == "b.example/");
}

TEST_CASE("status: one that is stopping is not well") {
  World world;
  world.stopping = true;
  CHECK(world.status().standing == Standing::degraded);
}

TEST_CASE("status: as JSON, with null for what nobody knows") {
  World world;
  world.service.workers.resize(1);
  world.service.troubles.push_back({{}, "worker 2 \"died\""});
  const std::string json = status_json(world.status(false));
  CHECK(json.find(R"("state":"degraded","reasons":["the front does not answer"])") !=
        std::string::npos);
  CHECK(json.find(R"({"number":1,"state":"ready","pid":11,"age":0.000000,"memory":1024,)"
                  R"("memory_kind":"pss","requests":null,"due":null})") != std::string::npos);
  CHECK(json.find(R"("errors":[{"time":"1970-01-01T00:00:00.000Z","text":"worker 2 \"died\""}])") !=
        std::string::npos);
  CHECK(json.ends_with("}\n"));
}

TEST_CASE("status: as text, aligned, coloured only where that is wanted") {
  World world;
  world.front.endpoints[0].outage = "failures";
  const std::string plain = status_text(world.status(), Colours::no);
  CHECK(plain.find("  WORKER  STATE  PROCESS  AGE  MEMORY   REQUESTS\n"
                   "  1       ready  11       0s   1.0 KiB  5\n") != std::string::npos);
  CHECK(plain.find("  127.0.0.1:1  down   0        requests to it failed\n"
                   "  127.0.0.1:2  up     0\n") != std::string::npos);
  CHECK(plain.find("site a.example is degraded: 5 requests, 1 of them 5xx\n") != std::string::npos);
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(status_text(world.status(), Colours::yes).find("\x1b[31mdown\x1b[0m") != std::string::npos);
}

TEST_CASE("status: ages and sizes for people") {
  using namespace std::chrono_literals;
  CHECK(age_text(0s) == "0s");
  CHECK(age_text(192s) == "3m 12s");
  CHECK(age_text(47h + 59min) == "47h 59m");
  CHECK(age_text(291h) == "12d 3h");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1536) == "1.5 KiB");
  CHECK(size_text(3ull << 30) == "3.0 GiB");
}

TEST_CASE("status: a companion that fails degrades a site that answers") {
  World world;
  process::CompanionReport queue;
  queue.name = "queue";
  queue.state = process::CompanionReport::State::running;
  queue.pid = 21;
  world.service.companions = {queue};
  CHECK(world.status().applications.at(0).standing == Standing::well);
  world.service.companions[0].is_failing = true;
  world.service.companions[0].last_end = "ended with status 1";
  const Status status = world.status();
  CHECK(status.applications.at(0).standing == Standing::degraded);
  CHECK(status.applications.at(0).reason == "the process queue ended with status 1");
  CHECK(status.applications.at(0).companions.at(0).memory);
  CHECK(status_text(status, Colours::no).find("queue      running  21") != std::string::npos);
  CHECK(status_json(status).find(
            "\"processes\":[{\"name\":\"queue\",\"state\":\"running\",\"pid\":21") !=
        std::string::npos);
}

TEST_CASE("status: a deploy tells what it is at, and how it ended") {
  World world;
  CHECK(status_json(world.status()).find("\"deploy\":null") != std::string::npos);
  process::DeployReport deploy;
  deploy.step = "asking GET /";
  const auto text = [&] {
    world.service.deploy = deploy;
    return status_text(world.status(), Colours::no);
  };
  CHECK(text().find("a deploy runs since 1970-01-01T00:00:00.000Z: asking GET / since 1970") !=
        std::string::npos);
  CHECK(status_json(world.status())
            .find("\"deploy\":{\"state\":\"running\",\"step\":\"asking GET /\"") !=
        std::string::npos);
  deploy.state = process::DeployReport::State::failed;
  deploy.reason = "GET / answers 500";
  CHECK(text().find("the last deploy failed 1970-01-01T00:00:00.000Z, asking GET /: GET / answers "
                    "500; the old code stays") != std::string::npos);
  CHECK(world.status().standing == Standing::well);
  deploy.state = process::DeployReport::State::done;
  CHECK(text().find("  deployed 1970-01-01T00:00:00.000Z") != std::string::npos);
}
