#include "conf/check.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "conf/rights.h"
#include "tests/unit/conf/scratch.h"
#include "tests/unit/conf/texts.h"

using namespace portico::conf;
using namespace portico::conf::testing;

namespace {

/// One application in `directory`, spool there too.
Config config_of(const Scratch& scratch, const std::string& more = {}) {
  const Loaded loaded =
      load_text("log: {access: \"off\"}\nspool: {directory: " + scratch.path("") +
                "}\nsites:\n  a.example:\n    wsgi: app.py\n    directory: " + scratch.path("app") +
                "\n" + more);
  REQUIRE(lines(loaded.problems) == std::vector<std::string>{});
  return loaded.config;
}

void open_up(Scratch& scratch) { scratch.mode("", 0777); }

Application application(const std::string& directory, const std::string& python = {}) {
  Application out;
  out.directory = directory;
  out.python = python;
  return out;
}

void make_executable(Scratch& scratch, const std::string& name) {
  scratch.write(name, "#!/bin/sh\n");
  scratch.mode(name, 0755);
}

}  // namespace

TEST_CASE("python: .venv before venv before PATH") {
  Scratch scratch;
  scratch.directory("app");
  const Application app = application(scratch.path("app"));
  const std::string system = resolve_python(app);
  CHECK(system.starts_with("/"));
  CHECK(system.ends_with("/python3"));
  make_executable(scratch, "app/venv/bin/python");
  CHECK(resolve_python(app) == scratch.path("app/venv/bin/python"));
  make_executable(scratch, "app/.venv/bin/python");
  CHECK(resolve_python(app) == scratch.path("app/.venv/bin/python"));
}

TEST_CASE("python: as written, a virtual environment, an interpreter or a command") {
  Scratch scratch;
  make_executable(scratch, "venv/bin/python");
  CHECK(resolve_python(application("/", scratch.path("venv"))) == scratch.path("venv/bin/python"));
  CHECK(resolve_python(application("/", scratch.path("venv/bin/python"))) ==
        scratch.path("venv/bin/python"));
  CHECK(resolve_python(application("/", scratch.path("gone"))) == scratch.path("gone"));
  CHECK(resolve_python(application("/", "python9.99")) == "/usr/bin/python9.99");
}

TEST_CASE("machine: a site with everything there has no problems") {
  Scratch scratch;
  open_up(scratch);
  scratch.write("app/app.py", "");
  CHECK(lines(check_machine(config_of(scratch))) == std::vector<std::string>{});
}

TEST_CASE("machine: what is missing is told at its place, as a warning") {
  Scratch scratch;
  open_up(scratch);
  const auto problems = lines(check_machine(
      config_of(scratch, "    python: /nowhere/python\n    log: {access: /nowhere/access.log}\n")));
  REQUIRE(problems.size() == 3);
  CHECK(problems[0] ==
        "main.yaml:8:19: warning: there is no directory \"/nowhere\" for the access log; make it, "
        "or write another path");
  CHECK(problems[1] == "main.yaml:6:16: warning: there is no directory \"" + scratch.path("app") +
                           "\"; make it, or write where the application lives");
  CHECK(problems[2] ==
        "main.yaml:7:13: warning: there is no interpreter \"/nowhere/python\"; install it, or "
        "write a virtual environment or interpreter after \"python\"");
}

TEST_CASE("machine: a missing file is told only where its directory is there") {
  Scratch scratch;
  open_up(scratch);
  scratch.directory("app");
  const auto problems = lines(check_machine(config_of(scratch)));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("there is no file") != std::string::npos);
}

TEST_CASE("machine: a missing spool directory, and no site at all") {
  const auto problems = lines(
      check_machine(load_text("spool: {directory: /nowhere}\nlog: {access: \"-\"}\n").config));
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].starts_with("main.yaml: warning: no site is written"));
  CHECK(problems[1].starts_with("main.yaml:1:20: warning: there is no directory \"/nowhere\""));
}

TEST_CASE("machine: a Unix socket needs its directory") {
  const auto problems = lines(check_machine(
      load_text("listen: [\":0\", \"unix:/nowhere/x\"]\nsites: {a.example: {to: \"a:1\"}}\n")
          .config));
  CHECK(problems == std::vector<std::string>{
                        "main.yaml:1:16: warning: no socket can be made in \"/nowhere\" (No such "
                        "file or directory); make it, or write another path"});
}

TEST_CASE("machine: what only root may reach is told for the front's user") {
  if (geteuid() != 0) return;  // whoever is not root has no second user to ask about
  Scratch scratch;
  open_up(scratch);
  scratch.write("app/app.py", "");
  scratch.mode("app/app.py", 0600);
  REQUIRE(lines(check_machine(config_of(scratch))).size() == 1);
  CHECK(lines(check_machine(config_of(scratch)))[0].find("may not read") != std::string::npos);
  scratch.mode("app", 0700);
  CHECK(lines(check_machine(config_of(scratch)))[0].find("may not enter") != std::string::npos);
  scratch.mode("", 0700);
  CHECK(lines(check_machine(config_of(scratch)))[0].find("may not write in") != std::string::npos);
}

TEST_CASE("machine: the rights are looked at for the site's own user") {
  if (geteuid() != 0) return;
  Scratch scratch;
  open_up(scratch);
  scratch.write("app/app.py", "");
  scratch.mode("app/app.py", 0600);
  CHECK(lines(check_machine(config_of(scratch, "    user: root\n"))).empty());
  const auto others = lines(check_machine(config_of(scratch, "    user: daemon\n")));
  REQUIRE(others.size() == 1);
  CHECK(others[0].find("the user \"daemon\" may not read") != std::string::npos);
  const auto nobodys = lines(check_machine(config_of(scratch, "    user: no-such-user-here\n")));
  CHECK(nobodys == std::vector<std::string>{"main.yaml:7:11: warning: there is no user "
                                            "\"no-such-user-here\"; make it with useradd(8), or "
                                            "write another"});
}

TEST_CASE("machine: the environment file is read, and should be nobody else's to read") {
  Scratch scratch;
  open_up(scratch);
  scratch.write("app/app.py", "");
  const std::string more = "    environment_file: " + scratch.path("secrets") + "\n";
  CHECK(lines(check_machine(config_of(scratch, more)))[0].starts_with(
      "main.yaml:7:23: warning: the environment file \"" + scratch.path("secrets") +
      "\" cannot be read"));
  scratch.write("secrets", "A=1\nhunter2\n");
  scratch.mode("secrets", 0600);
  CHECK(lines(check_machine(config_of(scratch, more))) ==
        std::vector<std::string>{"main.yaml:7:23: warning: " + scratch.path("secrets") +
                                 ":2: no \"=\" in the line; write NAME=value"});
  scratch.write("secrets", "A=1\n");
  CHECK(lines(check_machine(config_of(scratch, more))).empty());
  scratch.mode("secrets", 0644);
  CHECK(lines(check_machine(config_of(scratch, more))) ==
        std::vector<std::string>{"main.yaml:7:23: warning: everybody may read \"" +
                                 scratch.path("secrets") + "\", which holds secrets; chmod 600"});
}

TEST_CASE("machine: the access log is one problem however many sites share it") {
  const auto problems = lines(check_machine(
      load_text("log: {access: /nowhere/log}\nsites:\n  a.example: {to: \"127.0.0.1:1\"}\n"
                "  b.example: {to: \"127.0.0.1:1\"}\n")
          .config));
  CHECK(problems.size() == 1);
}

TEST_CASE("rights: owner, group and others as the kernel picks them, on the whole way") {
  Scratch scratch;
  scratch.mode("", 0755);
  scratch.write("d/f", "");
  const Identity owner{"owner", getuid(), {getgid()}, true};
  const Identity member{"member", 54321, {getgid()}, true};
  const Identity other{"other", 54321, {54321}, true};
  scratch.mode("d", 0755);
  scratch.mode("d/f", 0640);
  CHECK(may(owner, scratch.path("d/f"), Right::read));
  CHECK(may(member, scratch.path("d/f"), Right::read));
  CHECK_FALSE(may(member, scratch.path("d/f"), Right::write));
  CHECK_FALSE(may(other, scratch.path("d/f"), Right::read));
  scratch.mode("d/f", 0604);
  CHECK(may(other, scratch.path("d/f"), Right::read));
  CHECK_FALSE(may(member, scratch.path("d/f"), Right::read));
  scratch.mode("d", 0700);
  CHECK_FALSE(may(other, scratch.path("d/f"), Right::read));
  CHECK_FALSE(may(owner, scratch.path("gone"), Right::read));
  scratch.mode("d", 0755);
}

TEST_CASE("rights: a front user that does not exist is told, when started as root") {
  if (geteuid() != 0) return;
  const auto problems =
      lines(check_machine(load_text("user: no-such-user-here\nlog: {access: /nowhere/log}\n"
                                    "sites: {a.example: {to: \"127.0.0.1:1\"}}\n")
                              .config));
  REQUIRE(problems.size() == 2);  // and hides nothing else
  CHECK(problems[0].starts_with("main.yaml:1:7: warning: there is no user \"no-such-user-here\""));
}

TEST_CASE("machine: an endpoint's socket that is not there is told, an address is not asked") {
  Scratch scratch;
  scratch.write("there", "");
  scratch.mode("", 0755);
  scratch.mode("there", 0666);
  const auto text = [](const std::string& path) {
    return "sites: {a.example: {to: [\"unix:" + path + "\", \"127.0.0.1:1\"]}}\n";
  };
  CHECK(lines(check_machine(load_text(text(scratch.path("there"))).config)).empty());
  const auto problems = lines(check_machine(load_text(text(scratch.path("gone"))).config));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("there is no socket") != std::string::npos);
}
