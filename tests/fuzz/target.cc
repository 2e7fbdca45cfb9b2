// A method, a target and a Host field, one a line: what is accepted is canonical and stays so.
#include "proxy/http/target.h"

#include <cstdint>
#include <string>

#include "proxy/http/chars.h"
#include "tests/fuzz/must.h"

namespace {

using namespace portico;
using fuzz::must;

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

void check_host(const http::Target& where) {
  const std::string text = http::host_text(where.host, where.port);
  const auto again = http::canonical_host(text);
  must(again && again->host == where.host && again->port == where.port);
  for (char c : where.host) must(c > ' ' && c < 0x7F && !(c >= 'A' && c <= 'Z') && c != '@');
}

void check_path(const http::Target& where, const http::PathRules& rules) {
  const std::string& path = where.path;
  must(path.front() == '/');
  must(path.find("/../") == path.npos && path.find("/./") == path.npos);
  must(!rules.merge_slashes || path.find("//") == path.npos);
  must(rules.allow_encoded_slashes || path.find("%2F") == path.npos);
  must(path.find("%00") == path.npos && path.find("%2f") == path.npos);
  const auto again = http::canonical_path(path, rules);
  must(again && *again == path);
  const auto decoded = http::percent_decode(path);
  must(decoded && decoded->find('\0') == decoded->npos);
}

void check(std::string_view method, std::string_view target, const std::string_view* host,
           const http::PathRules& rules) {
  const auto where = http::parse_target(method, target, host, rules);
  if (!where) return;
  must(method != "CONNECT");
  if (host != nullptr || !where->scheme.empty()) check_host(*where);
  must(http::chars::all(where->query, http::chars::query));
  if (where->form == http::Target::Form::asterisk) {
    must(where->path == "*" && method == "OPTIONS");
  } else {
    check_path(*where, rules);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view method = take_line(text);
  const std::string_view target = take_line(text);
  check(method, target, &text, {true, false});
  check(method, target, &text, {false, true});
  check(method, target, nullptr, {true, true});
  return 0;
}
