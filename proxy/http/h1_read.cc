#include "proxy/http/h1_read.h"

#include "proxy/core/text.h"
#include "proxy/http/field_lines.h"
#include "proxy/http/framing.h"
#include "proxy/http/start_line.h"
#include "proxy/http/target.h"

namespace portico::http {
namespace {

using core::Fault;
using Found = HeadGatherer::Found;

// The first line of bytes that hold at least one, with its LF but without "\r\n" in the view.
std::string_view first_line(std::string_view bytes) {
  return bytes.substr(0, bytes.find('\n') - 1);
}

Fault parse_fields(const core::Slice& bytes, std::size_t start_line, std::uint32_t most,
                   Headers& fields) {
  core::Slice section = bytes.sub(start_line + 2);
  return parse_field_lines(section.mutable_data(), section.size(), most, fields);
}

// RFC 9110 §10.1.1: HTTP/1.0 clients are not answered 100; other expectations get 417.
Fault judge_expectation(RequestHead& head) {
  const std::size_t count = head.fields.count("expect");
  if (count == 0 || head.version == Version::http10) return Fault::none;
  if (count != 1 || !core::equal_ignoring_case(*head.fields.find("expect"), "100-continue")) {
    return Fault::bad_expectation;
  }
  head.wants_continue = head.framing.kind == Framing::Kind::chunked || head.framing.length != 0;
  return Fault::none;
}

// Neither is a list (RFC 9110 §5.3), so of two the one might be believed here and the other there.
bool contradicts_itself(const Headers& fields) {
  return fields.count("content-type") > 1 || fields.count("authorization") > 1;
}

// What the fields mean, once they are all there.
Fault understand(RequestHead& head) {
  if (contradicts_itself(head.fields)) return Fault::bad_field;
  head.keep_alive = keeps_alive(head.fields, head.version);
  if (const auto located = locate(head); !located) return located.error().fault;
  const auto framing = request_framing(head.fields, head.version);
  if (!framing) return framing.error().fault;
  head.framing = *framing;
  return judge_expectation(head);
}

void reset(RequestHead& head) {
  head.method = head.target = {};
  head.version = Version::http11;
  head.fields.clear();
  head.where = {};
  head.framing = {};
  head.wants_continue = false;
  head.keep_alive = true;
}

// What is wrong with a head that is not complete: its start line is judged first, so that the
// answer does not depend on how the bytes were cut.
Fault judge_partial_request(std::string_view partial, Found found, const ReadLimits& limits,
                            RequestHead& head) {
  const auto line_feed = partial.find('\n');
  if (line_feed == std::string_view::npos || line_feed == 0 || partial[line_feed - 1] != '\r') {
    const Fault fault = judge_request_line(partial);
    if (fault != Fault::none) return fault;
    if (found == Found::too_large) return Fault::target_too_long;
    return found == Found::bad_line ? Fault::bad_request_line : Fault::none;
  }
  const Fault fault = parse_request_line(first_line(partial), limits, head);
  if (fault != Fault::none) return fault;
  if (found == Found::too_large) return Fault::head_too_large;
  return found == Found::bad_line ? Fault::bad_field : Fault::none;
}

Fault judge_partial_response(std::string_view partial, Found found, ReceivedHead& received) {
  const auto line_feed = partial.find('\n');
  const bool line = line_feed != std::string_view::npos && line_feed > 0;
  const Fault fault = line && partial[line_feed - 1] == '\r'
                          ? parse_status_line(first_line(partial), received)
                          : judge_status_line(partial);
  if (fault != Fault::none) return fault;
  if (found == Found::too_large) return Fault::response_too_large;
  return found == Found::bad_line ? Fault::bad_response : Fault::none;
}

Fault in_response(Fault fault) {
  if (fault == Fault::none) return fault;
  return fault == Fault::head_too_large ? Fault::response_too_large : Fault::bad_response;
}

}  // namespace

Progress RequestReader::feed(core::Slice& input, RequestHead& head) {
  if (!started()) reset(head);
  if (!skip_lead(input)) return fail(Fault::bad_request_line);
  core::Slice bytes;
  const Found found = gatherer_.feed(input, limits_.header_bytes, bytes);
  if (found == Found::whole) return complete(bytes, head);
  const std::string_view partial = gatherer_.partial();
  if (found == Found::more && line_judged_) return Progress::more;
  line_judged_ = partial.find('\n') != std::string_view::npos;
  const Fault fault = judge_partial_request(partial, found, limits_, head);
  if (fault == Fault::none) {
    reset(head);  // no views of bytes that will move
    return Progress::more;
  }
  head.fields.keep(gatherer_.take_partial());
  return fail(fault);
}

// RFC 9112 §2.2: one empty line, which old clients send behind a body, costs nothing.
bool RequestReader::skip_lead(core::Slice& input) {
  while (!input.empty() && lead_ != Lead::over) {
    const char c = *input.data();
    if (lead_ == Lead::carriage_return) {
      if (c != '\n') return false;
      lead_ = Lead::over;
    } else if (c == '\r') {
      lead_ = Lead::carriage_return;
    } else {
      lead_ = Lead::over;
      return true;
    }
    input.drop_front(1);
  }
  return true;
}

Progress RequestReader::complete(const core::Slice& bytes, RequestHead& head) {
  const std::string_view line = first_line(bytes.view());
  head.fields.keep(bytes);
  Fault fault = parse_request_line(line, limits_, head);
  if (fault == Fault::none) {
    fault = parse_fields(bytes, line.size(), limits_.header_fields, head.fields);
  }
  if (fault == Fault::none) fault = understand(head);
  if (fault != Fault::none) return fail(fault);
  lead_ = Lead::may_come;
  line_judged_ = false;
  return Progress::head;
}

Progress RequestReader::fail(Fault fault) {
  error_ = {fault, 0, "reading the request head"};
  return Progress::fail;
}

Progress ResponseReader::feed(core::Slice& input, std::string_view method, ReceivedHead& received) {
  core::Slice bytes;
  const Found found = gatherer_.feed(input, limits_.header_bytes, bytes);
  if (found == Found::whole) return complete(bytes, method, received);
  const std::string_view partial = gatherer_.partial();
  if (found == Found::more && line_judged_) return Progress::more;
  line_judged_ = partial.find('\n') != std::string_view::npos;
  const Fault fault = judge_partial_response(partial, found, received);
  return fault == Fault::none ? Progress::more : fail(fault);
}

Progress ResponseReader::complete(const core::Slice& bytes, std::string_view method,
                                  ReceivedHead& received) {
  received = {};
  Headers& fields = received.head.fields;
  const std::string_view line = first_line(bytes.view());
  fields.keep(bytes);
  Fault fault = parse_status_line(line, received);
  if (fault == Fault::none) {
    fault = in_response(parse_fields(bytes, line.size(), limits_.header_fields, fields));
  }
  if (fault != Fault::none) return fail(fault);
  const auto framing = response_framing(method, received.head.status, fields, received.version);
  if (!framing) return fail(framing.error().fault);
  received.framing = *framing;
  received.head.length = *told_length(fields);
  received.keep_alive =
      framing->kind != Framing::Kind::until_close && keeps_alive(fields, received.version);
  line_judged_ = false;
  return Progress::head;
}

Progress ResponseReader::fail(Fault fault) {
  error_ = {fault, 0, "reading the response head"};
  return Progress::fail;
}

}  // namespace portico::http
