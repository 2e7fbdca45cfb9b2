// ChunkedDecoder: cases by name, every cut, and every short string against a slow reference.
#include "proxy/http/chunked.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/proxy/http/feeding.h"

namespace portico::http {
namespace {

using testing::disagreement;
using testing::Parts;
using Step = ChunkedDecoder::Step;

/// "end <data>|<trailers>|<rest>", "more <data>" or "fail <fault>".
std::string decode(const Parts& parts, const ReadLimits& limits = {},
                   Sender sender = Sender::client) {
  ChunkedDecoder decoder(sender, limits);
  std::string body;
  std::string rest;
  bool ended = false;
  for (std::string_view part : parts) {
    core::Slice input = core::Slice::copy(part);
    Step step = Step::data;
    while (step == Step::data && !ended) {
      core::Slice data;
      step = decoder.next(input, 1000, data);
      body += data.view();
    }
    if (step == Step::fail) return "fail " + testing::fault_name(decoder.error().fault);
    ended = ended || step == Step::end;
    if (ended) rest += input.view();
  }
  return ended ? "end " + body + "|" + testing::text_of(decoder.trailers()) + "|" + rest
               : "more " + body;
}

void check(const std::string& text, const std::string& outcome) {
  INFO(text);
  CHECK(decode({text}) == outcome);
  CHECK(disagreement(text, [](const Parts& parts) { return decode(parts); }) == "");
}

void check_bad(const std::string& text) { check(text, "fail bad_chunk"); }

TEST_CASE("chunked: data comes out, what follows stays, in every cut") {
  check("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\nGET /", "end abc0123456789||GET /");
  check("0\r\n\r\n", "end ||");
  check("000000000000003\r\nabc\r\n000\r\n\r\n", "end abc||");
}

TEST_CASE("chunked: data are views of the input, at most as large as wanted") {
  ChunkedDecoder decoder(Sender::client, {});
  core::Slice input = core::Slice::copy("5\r\nhello\r\n0\r\n\r\n");
  const char* bytes = input.data();
  core::Slice data;
  REQUIRE(decoder.next(input, 3, data) == Step::data);
  CHECK(data.view() == "hel");
  CHECK(data.data() == bytes + 3);
  CHECK(decoder.due() == 2);
  REQUIRE(decoder.next(input, 3, data) == Step::data);
  CHECK(data.view() == "lo");
  CHECK(decoder.due() == 0);
  CHECK(decoder.next(input, 3, data) == Step::end);
  CHECK(decoder.next(input, 3, data) == Step::end);
}

TEST_CASE("chunked: data may go another way (splice) once its size is known") {
  ChunkedDecoder decoder(Sender::endpoint, {});
  core::Slice input = core::Slice::copy("100\r\n");
  core::Slice data;
  REQUIRE(decoder.next(input, 10, data) == Step::more);
  REQUIRE(decoder.due() == 256);
  decoder.passed(200);
  CHECK(decoder.due() == 56);
  decoder.passed(56);
  CHECK(decoder.due() == 0);
  core::Slice rest = core::Slice::copy("\r\n0\r\n\r\n");
  CHECK(decoder.next(rest, 10, data) == Step::end);
}

TEST_CASE("chunked: a size is 1*HEXDIG and nothing else (RFC 9112 §7.1)") {
  for (const char* size :
       {"0x3", "+3", "-3", "3_", " 3", "3 ", "\t3", "3\t", "g", "", "3,", "3\v"}) {
    check_bad(std::string(size) + "\r\nabc\r\n0\r\n\r\n");
  }
}

TEST_CASE("chunked: a size of more than 16 digits or 63 bits is refused") {
  check("0000000000000003\r\nabc\r\n0\r\n\r\n", "end abc||");
  check_bad("00000000000000003\r\nabc\r\n0\r\n\r\n");
  check_bad("8000000000000000\r\n");
  check_bad("FFFFFFFFFFFFFFFF\r\n");
  check_bad("10000000000000000\r\n");
  CHECK(decode({"7fffffffffffffff\r\nab"}) == "more ab");
}

TEST_CASE("chunked: bare LF and bare CR are never a line's end (§2.2)") {
  check_bad("3\nabc\r\n0\r\n\r\n");
  check_bad("3\r\nabc\n0\r\n\r\n");
  check_bad("3\rabc\r\n0\r\n\r\n");
  check_bad("3\r\r\nabc\r\n0\r\n\r\n");
  check_bad("3;a\nb\r\nabc\r\n0\r\n\r\n");
  check_bad("3;a=\"\n\"\r\nabc\r\n0\r\n\r\n");
  check_bad("3;a=\"\r\"\r\nabc\r\n0\r\n\r\n");
  check_bad("3\r\nabc\r\n0\r\n\n");
  check_bad("3\r\nabc\r\n0\r\nA: b\n\r\n");
}

TEST_CASE("chunked: junk behind data and a missing CRLF are refused") {
  check_bad("3\r\nabcd\r\n0\r\n\r\n");
  check_bad("3\r\nabc0\r\n\r\n");
  check_bad("3\r\nab\r\n0\r\n\r\n");
  check_bad("3\r\nabc\r\n\r\n0\r\n\r\n");
  CHECK(decode({"3\r\nabc\r\n0\r\n"}) == "more abc");
  CHECK(decode({"3\r\nabc\r\n0\r\n\r"}) == "more abc");
}

TEST_CASE("chunked: extensions are checked by grammar and dropped (§7.1.1)") {
  for (const char* extension : {";a", ";a=b", ";a=\"b c\\\"d\"", ";a;b", "; a = b ; c", ";a=\"\"",
                                ";a=\"b\" ;c", ";a=\"\x80\"", ";a=\"b\" "}) {
    INFO(extension);
    check("3" + std::string(extension) + "\r\nabc\r\n0;z\r\n\r\n", "end abc||");
  }
  for (const char* extension :
       {";", ";=", ";a=", ";;", ";a=\"b", ";a=\"b\"c", ";a b", ";a=b c", ";\"a\"", ";a==b",
        ";a=b=c", ";a\x01", ";a=\"\x01\"", ";a=\"\\\x01\"", " ;a", ";a ", ";a,b"}) {
    INFO(extension);
    check_bad("3" + std::string(extension) + "\r\nabc\r\n0\r\n\r\n");
  }
}

TEST_CASE("chunked: extensions are limited in each line and against the data they come with") {
  CHECK(decode({"3;" + std::string(255, 'a') + "\r\nabc\r\n0\r\n\r\n"}) == "end abc||");
  CHECK(decode({"3;" + std::string(256, 'a') + "\r\nabc\r\n0\r\n\r\n"}) == "fail bad_chunk");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "1;" + std::string(99, 'a') + "\r\nx\r\n";
  CHECK(decode({many}) == "fail bad_chunk");
  std::string worthy;
  for (int i = 0; i < 100; ++i) {
    worthy += "2000;" + std::string(99, 'a') + "\r\n" + std::string(0x2000, 'x') + "\r\n";
  }
  CHECK(decode({worthy}).substr(0, 6) == "more x");
}

TEST_CASE("chunked: trailers are read apart, by the rules of fields (§7.1.2)") {
  check("0\r\nA: b\r\nC-d:  e \r\n\r\nrest", "end |\na=b\nc-d=e|rest");
  for (const char* trailers : {"A : b", " A: b", ": b", "A", "A: b\r\n c", "A: \x01", "A: b\rc"}) {
    check_bad("0\r\n" + std::string(trailers) + "\r\n\r\n");
  }
}

TEST_CASE("chunked: trailers are limited in bytes and number") {
  ReadLimits limits;
  limits.header_bytes = 10;
  CHECK(decode({"0\r\nA: 1234\r\n\r\n"}, limits) == "fail head_too_large");
  CHECK(decode({"0\r\nA: 1\r\n\r\n"}, limits) == "end |\na=1|");
  limits = {};
  limits.header_fields = 1;
  CHECK(decode({"0\r\nA: b\r\nC: d\r\n\r\n"}, limits) == "fail head_too_large");
  CHECK(decode({"0\r\nA: b\r\nC: d\r\n\r\n"}, limits, Sender::endpoint) ==
        "fail response_too_large");
}

TEST_CASE("chunked: an endpoint's fault has its own name, and stays") {
  ChunkedDecoder decoder(Sender::endpoint, {});
  core::Slice input = core::Slice::copy("x");
  core::Slice data;
  CHECK(decoder.next(input, 10, data) == Step::fail);
  CHECK(decoder.error().fault == core::Fault::bad_response);
  core::Slice good = core::Slice::copy("0\r\n\r\n");
  CHECK(decoder.next(good, 10, data) == Step::fail);
}

TEST_CASE("chunked: what is written is read back") {
  core::Buffer out;
  append_chunk_head(out, 0x1a2b);
  CHECK(out.view() == "1a2b\r\n");
  out.take();
  append_chunk_head(out, 3);
  out.append("abc");
  out.append(chunk_end);
  append_last_chunk(out, nullptr);
  CHECK(decode({out.view()}) == "end abc||");
}

TEST_CASE("chunked: trailers are written too, but for those that would split the message") {
  Headers trailers;
  trailers.add("grpc-status", "0");
  trailers.add("bad", "a\r\nHost: b");
  trailers.add("bad name", "a");
  core::Buffer out;
  append_last_chunk(out, &trailers);
  CHECK(out.view() == "0\r\ngrpc-status: 0\r\n\r\n");
}

// The reference: the whole text at once, by the grammar, no trailers. Nothing where it is not
// exactly one complete body with something behind it.
std::optional<std::string> slow_decode(const std::string& text) {
  std::string body;
  std::size_t at = 0;
  const std::string hex = "0123456789abcdef";
  while (true) {
    std::size_t size = 0;
    const std::size_t digits = at;
    while (at < text.size() && hex.find(text[at]) != std::string::npos) {
      size = size * 16 + hex.find(text[at++]);
    }
    if (at == digits || at - digits > 16) return std::nullopt;
    if (text.compare(at, 3, ";a\r") == 0) at += 2;
    if (text.compare(at, 2, "\r\n") != 0) return std::nullopt;
    at += 2;
    if (size == 0) break;
    if (text.size() - at < size) return std::nullopt;
    body += text.substr(at, size);
    at += size;
    if (text.compare(at, 2, "\r\n") != 0) return std::nullopt;
    at += 2;
  }
  if (text.compare(at, 2, "\r\n") != 0) return std::nullopt;
  return "end " + body + "||" + text.substr(at + 2);
}

// Each string of up to `longest` pieces of the alphabet.
template <typename Visit>
void each_string(const std::vector<std::string>& alphabet, int longest, const std::string& text,
                 Visit& visit) {
  visit(text);
  if (longest == 0) return;
  for (const std::string& piece : alphabet) each_string(alphabet, longest - 1, text + piece, visit);
}

TEST_CASE("chunked: every short body agrees with a slow reference") {
  std::string wrong;
  std::size_t complete = 0;
  auto visit = [&](const std::string& text) {
    const auto expected = slow_decode(text);
    const std::string outcome = decode({text});
    complete += expected ? 1 : 0;
    const bool agrees = expected ? outcome == *expected : outcome.substr(0, 3) != "end";
    if (!agrees) wrong = text;
  };
  each_string({"0", "1", "2", "\r\n", "\r", "\n", ";a\r", "0\r\n\r\n", "1\r\nx", " "}, 5, "",
              visit);
  CHECK(wrong == "");
  CHECK(complete > 1000);
}

// What a body that is not complete may go on with.
const std::vector<std::string> endings = {"\r\n0\r\n\r\n",
                                          "0\r\n\r\n",
                                          "\n0\r\n\r\n",
                                          "\r\n\r\n",
                                          "\n\r\n",
                                          "\r\n",
                                          "\n",
                                          "xx\r\n0\r\n\r\n",
                                          "x\r\n0\r\n\r\n",
                                          "\r\nx\r\n0\r\n\r\n",
                                          "\nx\r\n0\r\n\r\n",
                                          "\r\nxx\r\n0\r\n\r\n",
                                          "\nxx\r\n0\r\n\r\n",
                                          ""};

// Whether something other than the last CRLF stands behind the last chunk. The reference knows no
// trailers, and those are judged as a whole.
bool has_trailers(const std::string& text) {
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::string rest = text.substr(cut);
    const bool last_chunk = slow_decode(text.substr(0, cut) + "\r\n").has_value();
    if (last_chunk && rest.substr(0, 2) != std::string("\r\n").substr(0, rest.size())) return true;
  }
  return false;
}

bool can_end(const std::string& text) {
  for (const std::string& ending : endings) {
    if (slow_decode(text + ending)) return true;
  }
  return false;
}

TEST_CASE("chunked: a fault is told at the first byte that cannot be mended, and not before") {
  std::string wrong;
  auto visit = [&](const std::string& text) {
    if (text.find("20") != text.npos || text.find("22") != text.npos) return;  // > endings
    if (has_trailers(text)) return;
    const bool failed = decode({text}).substr(0, 4) == "fail";
    if (failed == can_end(text)) wrong = text;
  };
  each_string({"0", "2", "\r\n", "\r", "\n", ";a\r", "x", "0\r\n\r\n"}, 5, "", visit);
  CHECK(wrong == "");
}

}  // namespace
}  // namespace portico::http
