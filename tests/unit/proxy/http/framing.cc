// Framing: cases by name, then every short string against a slow and obvious reference.
#include "proxy/http/framing.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "proxy/core/text.h"
#include "tests/unit/proxy/http/feeding.h"

namespace portico::http {
namespace {

using core::Fault;
using testing::text_of;

std::string outcome(const core::Result<Framing>& framing) {
  return framing ? text_of(*framing) : testing::fault_name(framing.error().fault);
}

std::string with_length(std::string_view value) {
  Headers fields;
  fields.add("content-length", value);
  return outcome(request_framing(fields, Version::http11));
}

std::string with_coding(std::string_view value, Version version = Version::http11) {
  Headers fields;
  fields.add("transfer-encoding", value);
  return outcome(request_framing(fields, version));
}

TEST_CASE("framing: no field, no body; length 0 is a length") {
  CHECK(outcome(request_framing(Headers(), Version::http11)) == "none");
  CHECK(with_length("0") == "length 0");
}

TEST_CASE("framing: a length is 1*DIGIT within 63 bits (RFC 9110 §8.6)") {
  CHECK(with_length("00012") == "length 12");
  CHECK(with_length("9223372036854775807") == "length 9223372036854775807");
  for (const char* value :
       {"", "+5", "-5", "5_0", "0x5", "5 5", "5,5", "5, 5", "5;", "5.0", "five",
        "9223372036854775808", "18446744073709551616", "99999999999999999999999"}) {
    INFO(value);
    CHECK(with_length(value) == "bad_framing");
  }
}

TEST_CASE("framing: a length given twice is refused, equal or not") {
  Headers fields;
  fields.add("content-length", "5");
  fields.add("content-length", "5");
  CHECK(outcome(request_framing(fields, Version::http11)) == "bad_framing");
}

TEST_CASE("framing: exactly one final chunked, in any case (RFC 9112 §6.1, §7)") {
  CHECK(with_coding("chunked") == "chunked");
  CHECK(with_coding("cHUNKED") == "chunked");
  for (const char* value :
       {"xchunked", "chunked,", ",chunked", "chunked, chunked", "chunked, gzip", "gzip", "identity",
        "", "chunked;a=b", "chunked\x0b", "\"chunked\"", "chunked chunked", "identity;, chunked"}) {
    INFO(value);
    CHECK(with_coding(value) == "bad_framing");
  }
}

TEST_CASE("framing: a proper list before chunked is 501, in HTTP/1.0 any coding is 400") {
  CHECK(with_coding("gzip, chunked") == "unsupported_coding");
  CHECK(with_coding("identity,deflate , Chunked") == "unsupported_coding");
  CHECK(with_coding("chunked", Version::http10) == "bad_framing");
  CHECK(with_coding("gzip, chunked", Version::http10) == "bad_framing");
}

TEST_CASE("framing: two Transfer-Encoding fields are refused") {
  Headers fields;
  fields.add("transfer-encoding", "chunked");
  fields.add("transfer-encoding", "chunked");
  CHECK(outcome(request_framing(fields, Version::http11)) == "bad_framing");
}

TEST_CASE("framing: a response to CONNECT of 2xx has no body, others do") {
  Headers fields;
  fields.add("content-length", "3");
  CHECK(outcome(response_framing("CONNECT", 200, fields, Version::http11)) == "none");
  CHECK(outcome(response_framing("CONNECT", 403, fields, Version::http11)) == "length 3");
  CHECK(outcome(response_framing("GET", 200, fields, Version::http10)) == "length 3");
}

// Each string of up to `longest` pieces of the alphabet.
template <typename Visit>
void each_string(const std::vector<std::string>& alphabet, int longest, std::string text,
                 Visit& visit) {
  visit(text);
  if (longest == 0) return;
  for (const std::string& piece : alphabet) each_string(alphabet, longest - 1, text + piece, visit);
}

std::string slow_length(const std::string& value) {
  if (value.empty()) return "bad_framing";
  std::uint64_t number = 0;
  for (char c : value) {
    if (std::string("0123456789").find(c) == std::string::npos) return "bad_framing";
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return "length " + std::to_string(number);
}

TEST_CASE("framing: every short Content-Length agrees with a slow reference") {
  std::size_t seen = 0;
  std::string wrong;
  auto visit = [&](const std::string& value) {
    ++seen;
    if (with_length(value) != slow_length(value)) wrong = value;
  };
  each_string({"0", "1", "9", "+", "-", "_", "x", ",", " ", "\t", "."}, 4, "", visit);
  CHECK(wrong == "");
  CHECK(seen == 16105);
}

std::string slow_coding(const std::string& value) {
  if (core::equal_ignoring_case(value, "chunked")) return "chunked";
  std::vector<std::string> items;
  std::string item;
  for (char c : value + ",") {
    if (c != ',') {
      item += c;
      continue;
    }
    const std::string trimmed(core::trim(item));
    if (!trimmed.empty()) items.push_back(core::lower_copy(trimmed));
    item.clear();
  }
  if (items.size() < 2) return "bad_framing";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].find_first_of(" \t;\"") != std::string::npos) return "bad_framing";
    if ((items[i] == "chunked") != (i + 1 == items.size())) return "bad_framing";
  }
  return "unsupported_coding";
}

TEST_CASE("framing: every short Transfer-Encoding agrees with a slow reference") {
  std::string wrong;
  auto visit = [&](const std::string& value) {
    if (with_coding(value) != slow_coding(value)) wrong = value;
  };
  each_string({"chunked", "CHUNKED", "gzip", ",", " ", "\t", ";", "\""}, 5, "", visit);
  CHECK(wrong == "");
}

}  // namespace
}  // namespace portico::http
