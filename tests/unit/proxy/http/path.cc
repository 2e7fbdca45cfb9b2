// canonical_path: one path for every way to write it, and what is refused.
#include "proxy/http/path.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace portico::http {
namespace {

std::string canonical(std::string_view raw, const PathRules& rules = {}) {
  const auto path = canonical_path(raw, rules);
  return path ? *path : "bad";
}

TEST_CASE("path: what is canonical stays as it is") {
  for (const char* path :
       {"/", "/a", "/a/", "/a/b.c", "/a/.b/..c/...", "/~a/-._!$&'()*+,;=:@", "/a;b=c/d", "/%20"}) {
    CHECK(canonical(path) == path);
  }
}

TEST_CASE("path: unreserved is decoded, other escapes keep to upper-case digits, once") {
  CHECK(canonical("/%61%2d%2E%5f%7e%41%30") == "/a-._~A0");
  CHECK(canonical("/%c3%a4%3f%23%3b") == "/%C3%A4%3F%23%3B");
  CHECK(canonical("/%2561") == "/%2561");
  CHECK(canonical("/%25%36%31") == "/%2561");
  CHECK(canonical("/%252e%252e/a") == "/%252e%252e/a");
  CHECK(canonical("/%0d%0a") == "/%0D%0A");
}

TEST_CASE("path: dots are resolved, never above the root (RFC 3986 §5.2.4)") {
  CHECK(canonical("/a/./b") == "/a/b");
  CHECK(canonical("/a/../b") == "/b");
  CHECK(canonical("/a/b/..") == "/a/");
  CHECK(canonical("/a/b/.") == "/a/b/");
  CHECK(canonical("/..") == "/");
  CHECK(canonical("/../../a") == "/a");
  CHECK(canonical("/a/b/c/./../../g") == "/a/g");
  CHECK(canonical("/public/%2e%2e/admin") == "/admin");
  CHECK(canonical("/public/.%2E/admin") == "/admin");
  CHECK(canonical("/.") == "/");
}

TEST_CASE("path: doubled slashes are one, unless the site keeps them") {
  PathRules keep;
  keep.merge_slashes = false;
  CHECK(canonical("//a///b//") == "/a/b/");
  CHECK(canonical("//") == "/");
  CHECK(canonical("/a//../b") == "/b");
  CHECK(canonical("//a///b//", keep) == "//a///b//");
  CHECK(canonical("/a//../b", keep) == "/a/b");
  CHECK(canonical("/a//.", keep) == "/a//");
}

TEST_CASE("path: encoded slashes are refused, unless the site lets them through undecoded") {
  PathRules allow;
  allow.allow_encoded_slashes = true;
  CHECK(canonical("/a%2fb") == "bad");
  CHECK(canonical("/a%2Fb") == "bad");
  CHECK(canonical("/a%5cb") == "bad");
  CHECK(canonical("/a%2fb%5c/..%2f", allow) == "/a%2Fb%5C/..%2F");
  CHECK(canonical("/a%00", allow) == "bad");
}

TEST_CASE("path: NUL, invalid escapes and non-URI bytes are refused") {
  for (const char* path :
       {"",    "a",         "*",     "/%00",  "/%",  "/%a",  "/%g1",   "/%1g", "/a%",
        "/\\", "/a\\..\\b", "/#",    "/a b",  "/\"", "/<",   "/|",     "/[",   "/{",
        "/^",  "/`",        "/\x7f", "/\x80", "/\t", "/a?b", "/%u0041"}) {
    INFO(path);
    CHECK(canonical(path) == "bad");
  }
  CHECK(canonical(std::string_view("/a\0", 3)) == "bad");
}

TEST_CASE("path: a dot segment with parameters means two things and is refused") {
  for (const char* path : {"/a/..;/b", "/a/..;x=y", "/.;/a", "/%2e%2e;/a", "/..%3b/a", "/.%3B"}) {
    INFO(path);
    CHECK(canonical(path) == "bad");
  }
  CHECK(canonical("/...;/a;..") == "/...;/a;..");
}

TEST_CASE("percent_decode: everything, once; nothing where an escape is invalid") {
  CHECK(percent_decode("/a%2Fb%20%00") == std::string("/a/b \0", 6));
  CHECK(percent_decode("%2541") == std::string("%41"));
  CHECK(percent_decode("") == std::string());
  for (const char* text : {"%", "%4", "%4g", "%g4", "a%"}) CHECK_FALSE(percent_decode(text));
}

// The reference: all segments in a list.
std::string slow_path(const std::vector<std::string>& pieces, const PathRules& rules) {
  std::vector<std::string> segments;
  for (const std::string& piece : pieces) {
    if (piece == "/") {
      segments.emplace_back();
    } else if (segments.empty() || (piece == "%2F" && !rules.allow_encoded_slashes)) {
      return "bad";
    } else {
      segments.back() += piece == "%2e" ? "." : piece;
    }
  }
  if (segments.empty()) return "bad";
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string& segment = segments[i];
    const bool last = i + 1 == segments.size();
    if (segment.substr(0, 2) == ".;" || segment.substr(0, 3) == "..;") return "bad";
    const bool dots = segment == "." || segment == "..";
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (dots || (segment.empty() && rules.merge_slashes)) {
      if (last) kept.emplace_back();
    } else {
      kept.push_back(segment);
    }
  }
  std::string path;
  for (const std::string& segment : kept) path += "/" + segment;
  return path;
}

template <typename Visit>
void each_list(const std::vector<std::string>& alphabet, int longest,
               std::vector<std::string>& pieces, Visit& visit) {
  visit(pieces);
  if (longest == 0) return;
  for (const std::string& piece : alphabet) {
    pieces.push_back(piece);
    each_list(alphabet, longest - 1, pieces, visit);
    pieces.pop_back();
  }
}

TEST_CASE("path: every short path agrees with a slow reference; what is canonical stays so") {
  std::string wrong;
  for (const PathRules rules : {PathRules{true, false}, PathRules{false, true}}) {
    auto visit = [&](const std::vector<std::string>& pieces) {
      std::string raw;
      for (const std::string& piece : pieces) raw += piece;
      const std::string found = canonical(raw, rules);
      if (found != slow_path(pieces, rules)) wrong = raw;
      if (found != "bad" && canonical(found, rules) != found) wrong = raw;
    };
    std::vector<std::string> pieces;
    each_list({"/", ".", "a", "%2e", "%2F", ";"}, 7, pieces, visit);
  }
  CHECK(wrong == "");
}

}  // namespace
}  // namespace portico::http
