#include "proxy/run/options.h"

#include <catch2/catch.hpp>
#include <vector>

#include "proxy/run/help.h"

using namespace portico::run;

namespace {

ParsedOptions parse(std::vector<std::string_view> words) { return parse_options(words); }

Options good(std::vector<std::string_view> words) {
  const auto parsed = parse(std::move(words));
  INFO(parsed.problem);
  REQUIRE(parsed.options);
  return *parsed.options;
}

std::string bad(std::vector<std::string_view> words) {
  const auto parsed = parse(std::move(words));
  REQUIRE_FALSE(parsed.options);
  return parsed.problem;
}

bool says(const std::string& problem, std::string_view part) {
  return problem.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("options: no words ask for help") { CHECK(good({}).verb == Verb::help); }

TEST_CASE("options: run takes the file named, or the usual one") {
  CHECK(good({"run"}).verb == Verb::run);
  CHECK(good({"run"}).file == "/etc/portico/portico.yaml");
  CHECK(good({"run", "my.yaml"}).file == "my.yaml");
  CHECK(good({"run", "--", "--odd-name"}).file == "--odd-name");
}

TEST_CASE("options: check --effective, before or after the file") {
  CHECK_FALSE(good({"check", "a"}).effective);
  CHECK(good({"check", "a", "--effective"}).effective);
  CHECK(good({"check", "--effective", "a"}).file == "a");
}

TEST_CASE("options: serve takes values with a blank or with =") {
  const Options options =
      good({"serve", "shop.wsgi", "--listen", ":81", "--workers=3", "--threads", "4"});
  CHECK(options.verb == Verb::serve);
  CHECK(options.serve.reference == "shop.wsgi");
  CHECK(options.serve.listen == ":81");
  CHECK(options.serve.workers == 3);
  CHECK(options.serve.threads == 4);
}

TEST_CASE("options: deploy names a site or all of them") {
  const Options options = good({"deploy", "a.example", "--config=my.yaml"});
  CHECK(options.verb == Verb::deploy);
  CHECK(options.site == "a.example");
  CHECK(options.file == "my.yaml");
  CHECK(good({"deploy", "--all"}).all);
  CHECK(says(bad({"deploy"}), "needs the name of a site, such as shop.example, or --all"));
  CHECK(says(bad({"deploy", "a", "--all"}), "needs the name of a site"));
  CHECK(good({"serve", "a", "--reload"}).serve.reload);
  CHECK(says(bad({"serve", "a", "--reload", "--embedded"}), "--reload needs processes"));
}

TEST_CASE("options: status, logs and stop") {
  CHECK(good({"status"}).verb == Verb::status);
  CHECK_FALSE(good({"status", "my.yaml"}).json);
  CHECK(good({"status", "--json", "my.yaml"}).json);
  CHECK(good({"stop", "my.yaml"}).file == "my.yaml");
  const Options options = good({"logs", "a.example", "-f", "-n", "0", "--config=my.yaml"});
  CHECK(options.site == "a.example");
  CHECK(options.follow);
  CHECK(options.lines == 0);
  CHECK(options.file == "my.yaml");
  CHECK(good({"logs", "a.example"}).lines == 20);
  CHECK(says(bad({"logs"}), "needs the name of a site"));
  CHECK(says(bad({"logs", "a", "-n", "many"}), "a number of lines"));
  CHECK(says(bad({"logs", "a", "b"}), "one word too many"));
}

TEST_CASE("options: serve without an application leaves it to be found") {
  CHECK(good({"serve"}).serve.reference.empty());
}

TEST_CASE("options: exec takes the command behind -- as it stands") {
  const Options options =
      good({"exec", "a.example/blog", "--config", "my.yaml", "--", "ls", "-f", "--", "a b"});
  CHECK(options.site == "a.example/blog");
  CHECK(options.file == "my.yaml");
  CHECK(options.command == std::vector<std::string>{"ls", "-f", "--", "a b"});
  CHECK(says(bad({"exec", "a.example"}), "-- python manage.py migrate"));
  CHECK(says(bad({"exec", "a.example", "--"}), "needs the name of a site and a command"));
  CHECK(says(bad({"exec", "--", "ls"}), "needs the name of a site and a command"));
  CHECK(says(bad({"exec", "a.example", "ls"}), "one word too many"));
}

TEST_CASE("options: serve --embedded has threads, and no workers") {
  CHECK(good({"serve", "a", "--embedded", "--threads", "3"}).serve.embedded);
  CHECK_FALSE(good({"serve", "a"}).serve.embedded);
  CHECK(says(bad({"serve", "a", "--embedded", "--workers", "3"}), "leave it out, or --embedded"));
  CHECK(good({"serve", "a", "--embedded", "--threads", "0"}).serve.threads == 0);
  CHECK(says(bad({"serve", "a", "--threads", "0"}), "write a number from 1, or --embedded"));
}

TEST_CASE("options: numbers are numbers, from 1") {
  for (const auto* value : {"0", "-1", "x", "", "1001", "2x"})
    CHECK(says(bad({"serve", "a", "--workers", value}), "number from 1"));
  CHECK(says(bad({"serve", "a", "--workers"}), "needs a value"));
}

TEST_CASE("options: an unknown option or command names the nearest") {
  CHECK(says(bad({"check", "--efective"}), "did you mean \"--effective\"?"));
  CHECK(says(bad({"serve", "a", "--worker", "2"}), "did you mean \"--workers\"?"));
  CHECK(says(bad({"chek"}), "did you mean \"check\"?"));
  CHECK_FALSE(says(bad({"bananas"}), "did you mean"));
}

TEST_CASE("options: an option of another command is unknown") {
  CHECK(says(bad({"run", "--effective"}), "\"portico run\" has no option \"--effective\""));
}

TEST_CASE("options: a flag without a value refuses one, and a second file is one too many") {
  CHECK(says(bad({"check", "--effective=yes"}), "takes no value"));
  CHECK(says(bad({"run", "a", "b"}), "one word too many"));
  CHECK(says(bad({"version", "b"}), "one word too many"));
}

TEST_CASE("options: help in all its spellings") {
  CHECK(good({"--help"}).verb == Verb::help);
  CHECK(good({"-h"}).verb == Verb::help);
  CHECK(good({"help", "run"}).topic == Verb::run);
  CHECK(good({"serve", "--help"}).topic == Verb::serve);
  CHECK(good({"serve", "--help"}).verb == Verb::help);
  CHECK(says(bad({"help", "me"}), "no help about"));
}

TEST_CASE("options: version in all its spellings") {
  for (const auto* word : {"version", "--version", "-V"}) CHECK(good({word}).verb == Verb::version);
}

TEST_CASE("help: every verb has a text, and the overview names them all") {
  for (const Verb verb : {Verb::run, Verb::check, Verb::serve, Verb::version})
    CHECK(help_text(verb).starts_with("portico "));
  for (const auto* name : {"portico run", "portico check", "portico serve", "portico version"})
    CHECK(help_text(Verb::help).find(name) != std::string_view::npos);
}
