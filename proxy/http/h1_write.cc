#include "proxy/http/h1_write.h"

#include <array>
#include <charconv>
#include <cstring>

#include "proxy/http/chars.h"
#include "proxy/http/name_set.h"

namespace portico::http {
namespace {

using core::Error;
using core::Fault;
using core::Result;
using Kind = Framing::Kind;

// Made here, or not to be said at all.
constexpr auto own_names =
    name_set("connection", "keep-alive", "proxy-connection", "transfer-encoding", "content-length");

constexpr std::size_t own_lines = 128;  // the longest framing and connection lines, and CRLF

constexpr NameBits left_out_names = own_names.bits() | name_bit("upgrade");

bool left_out(std::string_view name, Connection connection) {
  if (own_names.has(name)) return true;
  return connection != Connection::upgrade && core::equal_ignoring_case(name, "upgrade");
}

/// Writes behind one another into room that was reserved before.
class Pen {
 public:
  explicit Pen(core::Buffer& out) : out_(out), at_(out.room()) {}
  ~Pen() { out_.grew(static_cast<std::size_t>(at_ - out_.room())); }
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;

  void put(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void put(std::uint64_t number) { at_ = std::to_chars(at_, at_ + 20, number).ptr; }

 private:
  core::Buffer& out_;
  char* at_;
};

/// Bytes that these fields take at most; nothing where one is not fit to be written.
Result<std::size_t> measure(const Headers& fields, std::string_view doing) {
  std::size_t size = 0;
  for (const Field& field : fields) {
    if (!field.fit && (!valid_name(field.name) || !valid_value(field.value))) {
      return Error{Fault::internal, 0, doing};
    }
    size += field.name.size() + field.value.size() + 4;
  }
  return size;
}

void put_fields(Pen& pen, const Headers& fields, Connection connection) {
  const bool all = !fields.may_have(left_out_names);
  for (const Field& field : fields) {
    if (!all && left_out(field.name, connection)) continue;
    pen.put(field.name);
    pen.put(": ");
    pen.put(field.value);
    pen.put("\r\n");
  }
}

void put_length(Pen& pen, std::uint64_t length) {
  pen.put("content-length: ");
  pen.put(length);
  pen.put("\r\n");
}

void put_framing(Pen& pen, const Framing& framing) {
  if (framing.kind == Kind::length) put_length(pen, framing.length);
  if (framing.kind == Kind::chunked) pen.put("transfer-encoding: chunked\r\n");
}

void put_connection(Pen& pen, Connection connection, Version version) {
  if (connection == Connection::close) pen.put("connection: close\r\n");
  if (connection == Connection::upgrade) pen.put("connection: upgrade\r\n");
  if (connection == Connection::keep && version == Version::http10) {
    pen.put("connection: keep-alive\r\n");
  }
}

bool expects_body(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

bool valid_target(std::string_view target) {
  return !target.empty() && chars::all(target, chars::query);
}

std::string_view reason_of(const ResponseHead& head) {
  const bool usable = !head.reason.empty() && valid_value(head.reason);
  return usable ? std::string_view(head.reason) : reason_phrase(head.status);
}

// RFC 9110 §8.6: 1xx and 204 have no length, 304 and answers to HEAD tell that of GET.
void put_response_framing(Pen& pen, const ResponseHead& head, const Framing& framing) {
  const bool may_tell = head.status >= 200 && head.status != 204;
  if (framing.kind != Kind::none) {
    put_framing(pen, framing);
  } else if (head.length && may_tell) {
    put_length(pen, *head.length);
  }
}

}  // namespace

bool valid_name(std::string_view name) { return !name.empty() && chars::all(name, chars::token); }

bool valid_value(std::string_view value) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  if (!value.empty() && (blank(value.front()) || blank(value.back()))) return false;
  return chars::all_value(value);
}

Result<void> write_request_head(core::Buffer& out, std::string_view method, std::string_view target,
                                const Headers& fields, const Framing& framing,
                                Connection connection) {
  constexpr std::string_view doing = "writing the request head";
  const auto size = measure(fields, doing);
  if (!size) return size.error();
  if (!valid_name(method) || !valid_target(target)) return Error{Fault::internal, 0, doing};
  out.reserve(*size + method.size() + target.size() + own_lines);
  Pen pen(out);
  pen.put(method);
  pen.put(" ");
  pen.put(target);
  pen.put(" HTTP/1.1\r\n");
  put_fields(pen, fields, connection);
  put_framing(pen, framing);
  if (framing.kind == Kind::none && expects_body(method)) put_length(pen, 0);
  put_connection(pen, connection, Version::http11);
  pen.put("\r\n");
  return {};
}

Result<void> write_response_head(core::Buffer& out, const ResponseHead& head,
                                 const Framing& framing, Connection connection, Version version) {
  constexpr std::string_view doing = "writing the response head";
  const auto size = measure(head.fields, doing);
  if (!size) return size.error();
  if (head.status < 100 || head.status > 999) return Error{Fault::internal, 0, doing};
  const std::string_view reason = reason_of(head);
  out.reserve(*size + reason.size() + own_lines);
  Pen pen(out);
  pen.put("HTTP/1.1 ");
  pen.put(static_cast<std::uint64_t>(head.status));
  pen.put(" ");
  pen.put(reason);
  pen.put("\r\n");
  put_fields(pen, head.fields, connection);
  put_response_framing(pen, head, framing);
  put_connection(pen, connection, version);
  pen.put("\r\n");
  return {};
}

}  // namespace portico::http
