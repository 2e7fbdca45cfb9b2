// The files that operators copy from: they load, and the annotated one has everything.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "conf/keys.h"
#include "conf/words.h"
#include "tests/unit/conf/texts.h"

using namespace portico::conf;
using namespace portico::conf::testing;

namespace {

std::string file_text(const std::string& name) {
  std::ifstream in(std::string(PORTICO_SOURCE_DIR) + "/" + name);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("samples: they load without a problem") {
  const std::string name =
      GENERATE("conf/portico.yaml", "conf/examples/minimal.yaml",
               "conf/examples/several-sites.yaml", "conf/examples/proxy-only.yaml");
  const Loaded loaded = load(read_sources(std::string(PORTICO_SOURCE_DIR) + "/" + name));
  CHECK(lines(loaded.problems) == std::vector<std::string>{});
  CHECK_FALSE(loaded.config.sites.empty());
}

TEST_CASE("samples: the annotated one writes every key that is known") {
  const std::string text = file_text("conf/portico.yaml");
  for (const Section* section : all_sections) {
    for (const std::string_view key : split_words(section->known)) {
      CAPTURE(section->place, key);
      const std::string written = std::string(key) + ":";
      CHECK(text.find(written) != std::string::npos);
    }
  }
}

TEST_CASE("samples: what the annotated one writes at the top are the defaults") {
  Config sample = load_text(file_text("conf/portico.yaml")).config;
  CHECK(sample.timeouts == Timeouts{});
  CHECK(sample.limits == Limits{});
  CHECK(sample.spool == Spool{});
  CHECK(sample.log == Log{});
  sample.sites.clear();
  sample.pools.clear();
  sample.applications.clear();
  sample.user.clear();
  sample.control.clear();
  CHECK(sample == load_text("").config);
}

TEST_CASE("samples: the manual page names every key that is known") {
  const std::string text = file_text("deploy/man/portico.yaml.5");
  for (const Section* section : all_sections) {
    for (const std::string_view key : split_words(section->known)) {
      CAPTURE(section->place, key);
      CHECK(text.find(".It Ic " + std::string(key)) != std::string::npos);
    }
  }
}

TEST_CASE("samples: the configuration of the benchmark's comparisons loads") {
  CHECK(lines(load_text(R"(listen: ["127.0.0.1:8000"]
front_threads: 1
log: {access: "off"}
sites:
  default: {to: origin}
  v1.bench.test: {to: origin}
pools:
  origin: {endpoints: ["127.0.0.1:9000"]}
)")
                  .problems)
            .empty());
  CHECK(lines(load_text(R"(listen: ["127.0.0.1:8000"]
front_threads: 1
log: {access: "off"}
sites:
  default: {wsgi: "wsgi_app:application", directory: /srv/apps, python: /usr/bin/python3, workers: 1}
)")
                  .problems)
            .empty());
}
