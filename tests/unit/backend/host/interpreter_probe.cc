// What an interpreter's answer about its library means.
#include "backend/host/interpreter_probe.h"

#include <catch2/catch.hpp>

using portico::backend::finding_of;

namespace {

std::string answer(const std::string& more) { return "portico-library major=3 minor=11 " + more; }

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("probe: a library that is there is the finding") {
  const auto found = finding_of(answer("free=0 path=/usr/lib/libpython3.11.so.1.0"), "/p");
  CHECK(found.library == "/usr/lib/libpython3.11.so.1.0");
  CHECK(found.problem.empty());
}

TEST_CASE("probe: a library that is not there is named with the remedy of its kind") {
  const std::string missing = "free=0 name=libpython3.11 folder=/lib path=";
  const auto package = finding_of(answer("package=1 " + missing), "/usr/bin/python3");
  CHECK(package.library.empty());
  CHECK(says(package.problem, "/usr/bin/python3 cannot be embedded"));
  CHECK(
      says(package.problem, "libpython3.11.so is not in /lib; install the package libpython3.11"));
  const auto built = finding_of(answer("package=0 " + missing), "/opt/python");
  CHECK(says(built.problem, "--enable-shared"));
  CHECK(says(built.problem, "or leave \"embedded\" out"));
}

TEST_CASE("probe: interpreters for which there is no engine are refused") {
  CHECK(says(finding_of("portico-library major=3 minor=7 path=/x", "/p").problem, "older than"));
  CHECK(says(finding_of("portico-library major=2 minor=9 path=/x", "/p").problem, "older than"));
  CHECK(says(finding_of(answer("free=1 path=/x"), "/p").problem, "free-threaded"));
}

TEST_CASE("probe: an answer that is none is told as such") {
  CHECK(says(finding_of("", "/p").problem, "/p did not say"));
}
