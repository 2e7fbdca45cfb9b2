#include "proxy/run/find_application.h"

#include <catch2/catch.hpp>

#include "conf/load.h"
#include "proxy/run/exec_command.h"

using namespace portico;
using namespace portico::run;

TEST_CASE("find application: the settings that a manage.py names") {
  CHECK(settings_module("os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')") ==
        "shop.settings");
  CHECK(settings_module("os.environ.setdefault(\"DJANGO_SETTINGS_MODULE\",\n   \"a.b.c\")") ==
        "a.b.c");
  CHECK(settings_module("os.environ['DJANGO_SETTINGS_MODULE'] = \"shop.settings\"") ==
        "shop.settings");
}

TEST_CASE("find application: what names none names none") {
  for (const char* text :
       {"", "import os", "DJANGO_SETTINGS_MODULE", "DJANGO_SETTINGS_MODULE', settings)",
        "'DJANGO_SETTINGS_MODULE', 'unclosed", "'DJANGO_SETTINGS_MODULE', '../../x'",
        "'DJANGO_SETTINGS_MODULE', ''"})
    CHECK(settings_module(text).empty());
}

TEST_CASE("exec: an application is meant by its name, or by a site that has only one") {
  const conf::Loaded loaded = conf::load({{{"test", "/", R"(
sites:
  one.example: {to: "127.0.0.1:1", routes: {/app/: {wsgi: a, directory: /a}}}
  two.example:
    wsgi: b
    directory: /b
    routes: {/blog/: {wsgi: c, directory: /c}}
)"}},
                                          {}});
  REQUIRE(loaded.problems.empty());
  const auto directory = [&](const char* name) {
    const conf::Application* meant = application_meant(loaded.config, name);
    return meant == nullptr ? "" : meant->directory;
  };
  CHECK(directory("one.example") == "/a");
  CHECK(directory("one.example/app") == "/a");
  CHECK(directory("two.example") == "/b");
  CHECK(directory("two.example/blog/") == "/c");
  CHECK(directory("two.example/bl").empty());
  CHECK(directory("three.example").empty());
}
