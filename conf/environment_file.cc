#include "conf/environment_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "conf/names.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view without_export(std::string_view line) {
  constexpr std::string_view word = "export ";
  return line.starts_with(word) ? trimmed(line.substr(word.size())) : line;
}

bool is_quote(char c) { return c == '"' || c == '\''; }

/// What is wrong with a value; "" when nothing is.
std::string_view value_problem(std::string_view value) {
  if (value.find('\0') != std::string_view::npos) return "a NUL in a value; take it out";
  const bool opens = !value.empty() && is_quote(value.front());
  if (opens && (value.size() < 2 || value.back() != value.front()))
    return "a quote that does not end at the end of its line; close it, or write none";
  return {};
}

std::string_view unquoted(std::string_view value) {
  const bool quoted = !value.empty() && is_quote(value.front());
  return quoted ? value.substr(1, value.size() - 2) : value;
}

/// Adds what a line says; returns what is wrong with it.
std::string_view read_line(std::string_view line, Variables& variables) {
  line = trimmed(line);
  if (line.empty() || line.front() == '#' || line.front() == ';') return {};
  line = without_export(line);
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return "no \"=\" in the line; write NAME=value";
  const auto name = parse_variable(trimmed(line.substr(0, equals)));
  if (!name)
    return "what stands before \"=\" is no variable's name; write letters, digits and \"_\"";
  const std::string_view value = trimmed(line.substr(equals + 1));
  const std::string_view problem = value_problem(value);
  if (problem.empty()) variables.emplace_back(*name.value, unquoted(value));
  return problem;
}

}  // namespace

Outcome<Variables> parse_environment(std::string_view text, const std::string& name) {
  Variables variables;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view problem = read_line(text.substr(0, end), variables);
    if (!problem.empty())
      return refused<Variables>(name + ":" + std::to_string(number) + ": " + std::string(problem));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found(std::move(variables));
}

Outcome<Variables> read_environment_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(longest_environment_file + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.gcount() == 0 && !in.eof()) {
    return refused<Variables>("the environment file " + quoted(path) + " cannot be read (" +
                              std::strerror(errno) + "); make it, or mend its rights");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > longest_environment_file)
    return refused<Variables>("the environment file " + quoted(path) +
                              " is longer than 256 KiB; write lines NAME=value");
  return parse_environment(text, path);
}

}  // namespace portico::conf
