#include "proxy/run/control_routes.h"

#include <catch2/catch.hpp>

using portico::run::matches;
using portico::run::parameter;

TEST_CASE("control routes: a star stands for one segment, which is decoded") {
  std::string site;
  CHECK(matches("/v1/status", "/v1/status", site));
  CHECK(matches("/v1/sites/*/log", "/v1/sites/a.example/log", site));
  CHECK(site == "a.example");
  CHECK(matches("/v1/sites/*/log", "/v1/sites/%2a.x%2Fy/log", site));
  CHECK(site == "*.x/y");
  CHECK(matches("/v1/sites/*/log", "/v1/sites/%zz%4/log", site));
  CHECK(site == "%zz%4");
}

TEST_CASE("control routes: other paths are other paths") {
  std::string site;
  for (const char* path : {"", "/", "/v1", "/v1/status/", "/v1/statusx", "v1/status", "/v2/status"})
    CHECK_FALSE(matches("/v1/status", path, site));
  for (const char* path : {"/v1/sites//log", "/v1/sites/log", "/v1/sites/a/b/log"})
    CHECK_FALSE(matches("/v1/sites/*/log", path, site));
}

TEST_CASE("control routes: parameters of a query") {
  CHECK(parameter("lines=5&follow=yes", "lines") == "5");
  CHECK(parameter("lines=5&follow=yes", "follow") == "yes");
  CHECK(parameter("lines", "lines").empty());
  CHECK(parameter("", "lines").empty());
  CHECK(parameter("xlines=5", "lines").empty());
}
