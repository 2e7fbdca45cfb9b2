#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/unit/conf/scratch.h"
#include "tests/unit/conf/texts.h"

using namespace portico::conf;
using namespace portico::conf::testing;

namespace {

std::vector<std::string> names(const Sources& sources, const Scratch& scratch) {
  std::vector<std::string> out;
  for (const Source& source : sources.files) out.push_back(scratch.relative(source.name));
  return out;
}

}  // namespace

TEST_CASE("sources: included files come in sorted order, each once") {
  Scratch scratch;
  scratch.write("main.yaml", "include: [sites.d/*.yaml, sites.d/b.yaml, main.yaml]\n");
  scratch.write("sites.d/b.yaml", "sites: {b.example: {to: \"127.0.0.1:1\"}}\n");
  scratch.write("sites.d/a.yaml", "sites: {a.example: {to: \"127.0.0.1:1\"}}\n");
  scratch.write("sites.d/c.txt", "nonsense: [\n");
  const Sources sources = read_sources(scratch.path("main.yaml"));
  CHECK(names(sources, scratch) ==
        std::vector<std::string>{"main.yaml", "sites.d/a.yaml", "sites.d/b.yaml"});
  const Loaded loaded = load(sources);
  CHECK(lines(loaded.problems).empty());
  CHECK(loaded.config.sites.size() == 2);
}

TEST_CASE("sources: relative paths are relative to the file they stand in") {
  Scratch scratch;
  scratch.write("main.yaml", "include: sites.d/*.yaml\nlog: {access: access.log}\n");
  scratch.write("sites.d/a.yaml", "sites: {a.example: {wsgi: a, directory: ../a}}\n");
  const Config config = load(read_sources(scratch.path("main.yaml"))).config;
  CHECK(config.log.access == scratch.path("access.log"));
  CHECK(config.applications.at(0).directory == scratch.path("a"));
}

TEST_CASE("sources: a glob without matches is fine, a missing name is a problem of its line") {
  Scratch scratch;
  scratch.write("main.yaml", "user: bob\ninclude:\n  - none.d/*.yaml\n  - gone.yaml\n");
  const Loaded loaded = load(read_sources(scratch.path("main.yaml")));
  REQUIRE(loaded.problems.size() == 1);
  CHECK(loaded.problems[0].where.line == 4);
  CHECK(loaded.problems[0].what == "cannot read \"" + scratch.path("gone.yaml") +
                                       "\": No such file or directory; write a readable file");
}

TEST_CASE("sources: what is no regular file is not read") {
  Scratch scratch;
  const Sources missing = read_sources(scratch.path("main.yaml"));
  CHECK(missing.files.empty());
  REQUIRE(missing.problems.size() == 1);
  CHECK(load(missing).problems.size() == 1);
  CHECK(read_sources(scratch.path("")).problems.size() == 1);
  REQUIRE(mkfifo(scratch.path("fifo").c_str(), 0600) == 0);
  CHECK(read_sources(scratch.path("fifo")).problems.size() == 1);
  CHECK(read_sources("/dev/zero").problems.size() == 1);
}

TEST_CASE("sources: a file that is too large is told by load, not read on") {
  Scratch scratch;
  scratch.write("main.yaml", std::string(3 << 20, '#'));
  const Sources sources = read_sources(scratch.path("main.yaml"));
  CHECK(sources.files.at(0).text.size() < (2U << 20));
  CHECK(lines(load(sources).problems).at(0).find("larger than 1 MiB") != std::string::npos);
}

TEST_CASE("sources: the same texts load to the same configuration anywhere") {
  Scratch scratch;
  scratch.write("main.yaml", "sites: {a.example: {wsgi: a, directory: a, log: {access: log}}}\n");
  const Sources sources = read_sources(scratch.path("main.yaml"));
  const Config first = load(sources).config;
  std::filesystem::remove(scratch.path("main.yaml"));
  CHECK(load(sources).config == first);
}

TEST_CASE("serve: one default site without a file") {
  ServeOptions options;
  options.reference = "shop.wsgi";
  options.directory = "/home/ann/my \"shop\"";
  options.listen = "127.0.0.1:9000";
  options.workers = 3;
  const Loaded loaded = load(serve_sources(options));
  REQUIRE(lines(loaded.problems) == std::vector<std::string>{});
  CHECK(loaded.config.listeners.at(0).address.text() == "127.0.0.1:9000");
  CHECK(loaded.config.sites.at(0).is_default);
  CHECK(loaded.config.applications.at(0).directory == options.directory);
  CHECK(loaded.config.applications.at(0).workers == 3);
}

TEST_CASE("serve: the environment of whoever types the command goes along, as far as it can") {
  ServeOptions options;
  options.reference = "app";
  options.directory = "/a";
  options.environment = {
      {"A", "b: {c}"}, {"not-a-name", "x"}, {"B", "two\nlines"}, {"C", "\xff"}, {"NULL", ""}};
  const Loaded loaded = load(serve_sources(options));
  REQUIRE(lines(loaded.problems) == std::vector<std::string>{});
  using Variables = std::vector<std::pair<std::string, std::string>>;
  CHECK(loaded.config.applications.at(0).environment == Variables{{"A", "b: {c}"}, {"NULL", ""}});
}

TEST_CASE("serve: what is wrong on the command line is told like a line of a file") {
  ServeOptions options;
  options.reference = "shop..wsgi";
  options.directory = "/";
  options.listen = "x";
  const auto problems = lines(load(serve_sources(options)).problems);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].starts_with("command line:1:10: \"x\" has no port"));
  CHECK(problems[1].starts_with("command line:5:11: \"shop..wsgi\" is not a WSGI application"));
}
