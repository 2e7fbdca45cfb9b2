#include "conf/yaml.h"

#include <catch2/catch.hpp>

#include "conf/quote.h"

using namespace portico::conf;

namespace {

/// "line:column what" of every problem, one a line.
std::string problems(const std::string& text) {
  std::string out;
  for (const YamlProblem& problem : parse_yaml(text).problems) {
    out += std::to_string(problem.mark.line) + ":" + std::to_string(problem.mark.column) + " " +
           problem.what + "\n";
  }
  return out;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("yaml: the tree keeps order, quotes and places") {
  const Yaml yaml = parse_yaml("a: 1\nb:\n  - \"true\"\n  - true\nc:\nd: {e: [x]}\n");
  REQUIRE(yaml.problems.empty());
  const auto& entries = yaml.root.entries;
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].key.text == "a");
  CHECK(entries[0].value.text == "1");
  CHECK(entries[0].value.mark.line == 1);
  CHECK(entries[0].value.mark.column == 4);
  CHECK(entries[1].value.items[0].is_quoted);
  CHECK_FALSE(entries[1].value.items[1].is_quoted);
  CHECK(entries[2].value.kind == Node::Kind::null);
  CHECK(entries[3].value.entries[0].value.items[0].mark.column == 9);
}

TEST_CASE("yaml: an empty text and a text of comments are empty, and no problem") {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF# x\n"}) {
    CAPTURE(text);
    CHECK(problems(text).empty());
    CHECK(parse_yaml(text).root.kind == Node::Kind::null);
  }
}

TEST_CASE("yaml: every unquoted wildcard is told, and the rest is read all the same") {
  const std::string text = "*.a.example: {to: [*.b, \"*.c\"]}\nx: *\ny: 1\ny: 2\n";
  CHECK(problems(text) ==
        "4:1 the key \"y\" stands in line 3 already; write it once\n"
        "1:1 an unquoted \"*\" starts an alias in YAML; write \"*.a.example\"\n"
        "1:20 an unquoted \"*\" starts an alias in YAML; write \"*.b\"\n"
        "2:4 an unquoted \"*\" starts an alias in YAML; write \"*\"\n");
  const Yaml yaml = parse_yaml(text);
  CHECK(yaml.root.entries[0].key.text == "*.a.example");
  CHECK(yaml.root.entries[0].value.entries[0].value.items[0].text == "*.b");
  CHECK(yaml.root.entries[1].value.text == "*");
}

TEST_CASE("yaml: a hundred unquoted wildcards end the reading, not the program") {
  const Yaml yaml = parse_yaml(repeated("- *.x\n", 100));
  CHECK(yaml.problems.size() == 21);
}

TEST_CASE("yaml: aliases and anchors are refused, hence alias bombs") {
  CHECK(problems("a: &x [1]\nb: [*x, *x]\n") ==
        "1:4 an anchor is not supported; write the value where it is needed\n");
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + "," + last + "]\n";
  }
  CHECK(problems(bomb).find("anchor") != std::string::npos);
}

TEST_CASE("yaml: tags are refused") {
  CHECK(problems("a: !!python/object x\n").find("is not supported") != std::string::npos);
  CHECK(problems("a: !x y\n").find("is not supported") != std::string::npos);
}

TEST_CASE("yaml: nesting ends at 32 levels, however it is written") {
  CHECK(problems(repeated("[", 31) + repeated("]", 31)).empty());
  for (const char* part : {"[", "- ", "? ", "{a: ", "{"}) {
    CAPTURE(part);
    CHECK(problems(repeated(part, 100'000)).find("nested deeper than 32") != std::string::npos);
  }
}

TEST_CASE("yaml: a text of more than 1 MiB is refused, one of 1 MiB is read") {
  CHECK(problems(std::string(longest_text, '#')).empty());
  CHECK(problems(std::string(longest_text + 1, '#')) ==
        "1:1 larger than 1 MiB; spread the sites over files under \"include\"\n");
}

TEST_CASE("yaml: what is no text is told with its place") {
  CHECK(problems(std::string("a: b\nc: \0\n", 10)) == "2:4 a control character; take it out\n");
  CHECK(problems("a: \x1a\n") == "1:4 a control character; take it out\n");
  CHECK(problems("a: \x7f\n") == "1:4 a control character; take it out\n");
}

TEST_CASE("yaml: only UTF-8 is read (RFC 3629)") {
  for (const char* text : {"a: \xFC", "a: \xC0\xAF", "a: \xED\xA0\x80", "a: \xF4\x90\x80\x80",
                           "a: \xE2\x82", "a: \x80", "a: \xF8\x88\x80\x80\x80", "\xFF\xFE"}) {
    CAPTURE(text);
    CHECK(problems(text).find("not UTF-8") != std::string::npos);
  }
  for (const char* text : {"a: \xC3\xBC", "a: \xE2\x82\xAC", "a: \xF0\x9F\x90\x8D"}) {
    CAPTURE(text);
    CHECK(problems(text).empty());
  }
}

TEST_CASE("yaml: what a text decodes to is UTF-8, too") {
  for (const char* text : {R"(a: "\N")", R"(a: "b\_c")"}) {
    CAPTURE(text);
    CHECK(problems(text) ==
          "1:4 the escapes \"\\N\" and \"\\_\" are not supported; write \"\\x85\" or \"\\xa0\"\n");
  }
  CHECK(problems(R"("\N": b)").starts_with("1:1 the escapes"));
  CHECK(parse_yaml(R"("\x85\xa0\u20ac\L")").root.text ==
        "\xC2\x85\xC2\xA0\xE2\x82\xAC\xE2\x80\xA8");
}

TEST_CASE("yaml: tabs, second documents, reserved characters, other keys have their messages") {
  const auto [text, problem] = GENERATE(table<std::string, std::string>({
      {"a:\n\tb: 1\n", "2:1 a tab in the indentation; indent with spaces\n"},
      {"a: 1\n---\nb: 2\n", "3:1 a second document; write one document in a file\n"},
      {"a: @b\n", "1:4 a value cannot start with \"@\"; quote it\n"},
      {"? [a]\n: 1\n", "1:3 this key is not a word; write a name (\"null\" and \"~\" in quotes)\n"},
      {"a: b: c\n", "1:5 not valid YAML (illegal map value); mend the line or the one before it\n"},
  }));
  CAPTURE(text);
  CHECK(problems(text) == problem);
}

TEST_CASE("yaml: a quoted text comes back as it was") {
  for (const std::string& value :
       {std::string("plain"), std::string("a \"b\" \\c"), std::string("\n\t\x1b\x7f"),
        std::string("m\xC3\xBCnchen"), std::string("*x"), std::string()}) {
    const Yaml yaml = parse_yaml("a: " + yaml_quote(value));
    REQUIRE(yaml.problems.empty());
    CHECK(yaml.root.entries[0].value.text == value);
  }
}
