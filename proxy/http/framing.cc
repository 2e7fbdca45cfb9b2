#include "proxy/http/framing.h"

#include "proxy/core/text.h"
#include "proxy/http/chars.h"
#include "proxy/http/field_list.h"

namespace portico::http {
namespace {

using core::Error;
using core::Fault;
using core::Result;
using Kind = Framing::Kind;

constexpr std::string_view doing = "framing the request";
constexpr std::string_view doing_response = "framing the response";
constexpr std::uint64_t longest = INT64_MAX;  // the kernel's offsets are signed

// A proper list that ends with chunked, once, is a wish for more than we do; all else is nonsense
// or an attempt to be misunderstood.
Fault coding_fault(std::string_view value) {
  std::size_t codings = 0;
  std::size_t chunked = 0;
  bool last_chunked = false;
  bool tokens = true;
  for_each_item(value, [&](std::string_view item) {
    ++codings;
    tokens = tokens && chars::all(item, chars::token);
    last_chunked = core::equal_ignoring_case(item, "chunked");
    chunked += last_chunked ? 1 : 0;
  });
  const bool proper = tokens && codings > 1 && chunked == 1 && last_chunked;
  return proper ? Fault::unsupported_coding : Fault::bad_framing;
}

// Transfer-Encoding is there: Fault::none when it is exactly one "chunked" in HTTP/1.1.
Fault judge_coding(const Headers& fields, std::string_view value, Version version) {
  if (version != Version::http11 || fields.has("content-length")) return Fault::bad_framing;
  if (fields.count("transfer-encoding") != 1) return Fault::bad_framing;
  return core::equal_ignoring_case(value, "chunked") ? Fault::none : coding_fault(value);
}

}  // namespace

Result<std::optional<std::uint64_t>> told_length(const Headers& fields) {
  const std::string_view* value = fields.find("content-length");
  if (value == nullptr) return std::optional<std::uint64_t>();
  const auto length = core::decimal(*value);
  if (!length || *length > longest || fields.count("content-length") != 1) {
    return Error{Fault::bad_framing, 0, doing};
  }
  return length;
}

Result<Framing> request_framing(const Headers& fields, Version version) {
  if (const std::string_view* coding = fields.find("transfer-encoding")) {
    const Fault fault = judge_coding(fields, *coding, version);
    if (fault != Fault::none) return Error{fault, 0, doing};
    return Framing{Kind::chunked, 0};
  }
  const auto length = told_length(fields);
  if (!length) return length.error();
  return *length ? Framing{Kind::length, **length} : Framing{};
}

Result<Framing> response_framing(std::string_view method, int status, const Headers& fields,
                                 Version version) {
  const auto framing = request_framing(fields, version);
  if (!framing) return Error{Fault::bad_response, 0, doing_response};
  if (bodiless(method, status)) return Framing{};
  return framing->kind == Kind::none ? Framing{Kind::until_close, 0} : *framing;
}

bool keeps_alive(const Headers& fields, Version version) {
  if (lists(fields, "connection", "close")) return false;
  return version != Version::http10 || lists(fields, "connection", "keep-alive");
}

}  // namespace portico::http
