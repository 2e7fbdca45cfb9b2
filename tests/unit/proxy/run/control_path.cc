#include "proxy/run/control_path.h"

#include <unistd.h>

#include <catch2/catch.hpp>

using namespace portico;

TEST_CASE("control path: as written, or nowhere") {
  conf::Config config;
  config.control = "/a/b.sock";
  CHECK(run::control_path(config) == "/a/b.sock");
  config.control = "off";
  CHECK(run::control_path(config).empty());
}

TEST_CASE("control path: in the run directory that is written, whoever runs it") {
  conf::Config config;
  config.run_directory = "/somewhere";
  CHECK(run::control_path(config) == "/somewhere/control.sock");
}

TEST_CASE("control path: the usual place is root's, or the user's own") {
  const std::string path = run::control_path(conf::Config());
  if (::geteuid() == 0) {
    CHECK(path == "/run/portico/control.sock");
  } else {
    CHECK(path.starts_with('/'));
    CHECK(path.find("portico") != std::string::npos);
  }
}
