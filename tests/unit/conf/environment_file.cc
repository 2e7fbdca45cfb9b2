// The file of an application's secrets: what its lines mean, and that no problem tells a secret.
#include "conf/environment_file.h"

#include <catch2/catch.hpp>

#include "tests/unit/conf/scratch.h"

using namespace portico::conf;
using namespace portico::conf::testing;

namespace {

Variables parsed(const std::string& text) {
  const auto outcome = parse_environment(text, "secrets");
  REQUIRE(outcome.problem.empty());
  return *outcome.value;
}

std::string problem(const std::string& text) { return parse_environment(text, "secrets").problem; }

}  // namespace

TEST_CASE("environment file: names and values, comments and empty lines") {
  CHECK(parsed("A=1\n\n# B=2\n; C=3\n  D = four words \r\nexport E=5") ==
        Variables{{"A", "1"}, {"D", "four words"}, {"E", "5"}});
  CHECK(parsed("").empty());
  CHECK(parsed("URL=postgres://u:p@h/d?a=b#c\nEMPTY=\n") ==
        Variables{{"URL", "postgres://u:p@h/d?a=b#c"}, {"EMPTY", ""}});
}

TEST_CASE("environment file: quotes are taken off, and nothing is interpreted") {
  CHECK(parsed("A=\" a $B \\n \"\nB='it''s \"quoted\"'\nC=a\"b\n") ==
        Variables{{"A", " a $B \\n "}, {"B", "it''s \"quoted\""}, {"C", "a\"b"}});
}

TEST_CASE("environment file: the first mistake is told with its line, and without its text") {
  CHECK(problem("A=1\nhunter2\n") == "secrets:2: no \"=\" in the line; write NAME=value");
  CHECK(problem("hunter-2=1\n") ==
        "secrets:1: what stands before \"=\" is no variable's name; write letters, digits and "
        "\"_\"");
  CHECK(problem("A=\"hunter2\n") ==
        "secrets:1: a quote that does not end at the end of its line; close it, or write none");
  CHECK(problem("A='\n").starts_with("secrets:1: a quote"));
  CHECK(problem(std::string("A=hunter\0002\n", 11)).starts_with("secrets:1: a NUL in a value"));
}

TEST_CASE("environment file: read whole, or said why not") {
  Scratch scratch;
  scratch.write("secrets", "A=1\n");
  CHECK(*read_environment_file(scratch.path("secrets")).value == Variables{{"A", "1"}});
  scratch.write("empty", "");
  CHECK(read_environment_file(scratch.path("empty")).value->empty());
  CHECK(read_environment_file(scratch.path("gone")).problem ==
        "the environment file \"" + scratch.path("gone") +
            "\" cannot be read (No such file or directory); make it, or mend its rights");
  CHECK(read_environment_file(scratch.path("")).problem.find("cannot be read") !=
        std::string::npos);
  scratch.write("long", "A=" + std::string(longest_environment_file, 'x'));
  CHECK(read_environment_file(scratch.path("long")).problem.find("longer than 256 KiB") !=
        std::string::npos);
}
