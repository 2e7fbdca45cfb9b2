#include "conf/programs.h"

#include <catch2/catch.hpp>

#include "conf/check.h"
#include "tests/unit/conf/scratch.h"

using namespace portico::conf;
using namespace portico::conf::testing;

namespace {

struct Shop {
  Shop() {
    scratch.mode("", 0755);
    scratch.directory("app");
    program("venv/bin/python");
    application.directory = scratch.path("app");
    application.python = scratch.path("venv");
    application.environment = {{"PATH", scratch.path("bin") + ":relative::/usr/bin"}};
  }

  void program(const std::string& name, mode_t mode = 0755) {
    scratch.write(name, "#!/bin/sh\n");
    scratch.mode(name, mode);
  }
  std::string path() const {
    return command_path(application, application.environment.front().second);
  }
  std::string find(const std::string& word) const {
    return find_program(application, word, path());
  }

  Scratch scratch;
  Application application;
};

Identity somebody() { return {"somebody", 12345, {12345}, true}; }

}  // namespace

TEST_CASE("programs: python is the site's own, and its folder comes before PATH") {
  Shop site;
  CHECK(site.find("python") == site.scratch.path("venv/bin/python"));
  CHECK(site.find("python3") == site.scratch.path("venv/bin/python"));
  site.program("bin/tool");
  CHECK(site.find("tool") == site.scratch.path("bin/tool"));
  site.program("venv/bin/tool");
  CHECK(site.find("tool") == site.scratch.path("venv/bin/tool"));
  CHECK(site.path().starts_with(site.scratch.path("venv/bin") + ":"));
}

TEST_CASE("programs: a folder of the interpreter that stands in PATH keeps its place there") {
  Shop site;
  CHECK(command_path(site.application, "/a:" + site.scratch.path("venv/bin")) ==
        "/a:" + site.scratch.path("venv/bin"));
  site.scratch.write("venv/pyvenv.cfg", "");
  CHECK(command_path(site.application, "/a:" + site.scratch.path("venv/bin"))
            .starts_with(site.scratch.path("venv/bin") + ":/a:"));
}

TEST_CASE("programs: what is no file, not executable or in a relative folder is passed over") {
  Shop site;
  site.scratch.directory("venv/bin/tool");
  site.program("bin/tool", 0644);
  site.program("app/relative/tool");
  CHECK(site.find("tool").empty());
  CHECK(site.find("sh") == "/usr/bin/sh");
}

TEST_CASE("programs: a word with a slash is a path, from the application's directory on") {
  Shop site;
  CHECK(site.find("./run") == site.scratch.path("app/./run"));
  CHECK(site.find("/opt/run") == "/opt/run");
}

TEST_CASE("programs: those of before_deploy and processes that cannot be run are named") {
  Shop site;
  site.application.before_deploy_where = {"file", 1, 1};
  site.application.before_deploy = {{"python", "x"}, {"sh"}, {"not-here"}};
  site.application.companions = {{"a", {"./none"}, {"file", 2, 1}}, {"b", {"sh"}, {}}};
  const std::vector<Problem> found = missing_programs(site.application, somebody());
  REQUIRE(found.size() == 2);
  CHECK(found[0].where.line == 1);
  CHECK(found[0].what.starts_with("there is no program \"not-here\" in " + site.path() + ";"));
  CHECK(found[1].where.line == 2);
  CHECK(found[1].what == "there is no program \"" + site.scratch.path("app/./none") +
                             "\"; install it, or write another");
}

TEST_CASE("programs: one that the site's user may not run is named with the user") {
  Shop site;
  site.program("app/mine", 0700);
  site.application.companions = {{"a", {"./mine"}, {}}};
  const std::vector<Problem> found = missing_programs(site.application, somebody());
  REQUIRE(found.size() == 1);
  CHECK(found[0].what == "the user \"somebody\" may not run \"" + site.scratch.path("app/./mine") +
                             "\"; mend its rights, or write another");
}
