#include "proxy/http/chunked.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "proxy/core/text.h"
#include "proxy/http/chars.h"
#include "proxy/http/field_lines.h"
#include "proxy/http/h1_write.h"

namespace portico::http {
namespace {

using core::Fault;

constexpr std::uint8_t most_digits = 16;      // of 64 bits
constexpr std::uint64_t longest = INT64_MAX;  // the kernel's offsets are signed

constexpr std::uint64_t digit_value(char c) {
  return static_cast<std::uint64_t>(c <= '9' ? c - '0' : core::lower(c) - 'a' + 10);
}

}  // namespace

ChunkedDecoder::Step ChunkedDecoder::next(core::Slice& input, std::size_t room, core::Slice& data) {
  if (state_ == State::done) return Step::end;
  if (state_ == State::failed) return Step::fail;
  if (!read_syntax(input)) return fail(Fault::bad_chunk);
  if (state_ == State::trailers) return read_trailers(input);
  return input.empty() ? Step::more : read_data(input, room, data);
}

// All that is neither data nor trailers, a byte at a time.
bool ChunkedDecoder::read_syntax(core::Slice& input) {
  const char* at = input.data();
  const char* const end = at + input.size();
  bool good = true;
  while (good && at != end && state_ != State::data && state_ != State::trailers)
    good = take(*at++);
  input.drop_front(static_cast<std::size_t>(at - input.data()));
  return good;
}

bool ChunkedDecoder::take(char c) {
  switch (state_) {
    case State::size:
      return take_size(c);
    case State::extension:
      return take_extension(c);
    case State::line_end:
      return c == '\n' && begin_data();
    case State::data_cr:
      return expect(c, '\r', State::data_lf);
    case State::data_lf:
      return expect(c, '\n', State::size);
    default:
      return false;
  }
}

bool ChunkedDecoder::expect(char c, char wanted, State next) {
  if (c != wanted) return false;
  state_ = next;
  return true;
}

bool ChunkedDecoder::take_size(char c) {
  if (chars::is(c, chars::hex)) {
    left_ = left_ << 4 | digit_value(c);
    return ++digits_ <= most_digits;
  }
  if (digits_ == 0 || left_ > longest) return false;
  if (c != ';') return expect(c, '\r', State::line_end);
  extension_.begin();
  state_ = State::extension;
  return true;
}

bool ChunkedDecoder::take_extension(char c) {
  if (c != '\r') return extension_.take(c);
  state_ = State::line_end;
  return extension_.may_end();
}

bool ChunkedDecoder::begin_data() {
  digits_ = 0;
  extension_.earned(left_);
  state_ = left_ == 0 ? State::trailers : State::data;
  return true;
}

void ChunkedDecoder::passed(std::uint64_t bytes) {
  left_ -= bytes;
  if (left_ == 0) state_ = State::data_cr;
}

ChunkedDecoder::Step ChunkedDecoder::read_data(core::Slice& input, std::size_t room,
                                               core::Slice& data) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, room));
  data = input.take_front(size);
  passed(data.size());
  return Step::data;
}

ChunkedDecoder::Step ChunkedDecoder::read_trailers(core::Slice& input) {
  using Found = HeadGatherer::Found;
  core::Slice whole;
  const Found found = gatherer_.feed(input, limits_.header_bytes, whole);
  if (found == Found::more) return Step::more;
  if (found == Found::too_large) return fail(Fault::head_too_large);
  if (found == Found::bad_line) return fail(Fault::bad_chunk);
  const Fault fault =
      parse_field_lines(whole.mutable_data(), whole.size(), limits_.header_fields, trailers_);
  if (fault != Fault::none) return fail(fault == Fault::bad_field ? Fault::bad_chunk : fault);
  if (!trailers_.empty()) trailers_.keep(std::move(whole));
  state_ = State::done;
  return Step::end;
}

ChunkedDecoder::Step ChunkedDecoder::fail(Fault fault) {
  const bool large = fault == Fault::head_too_large;
  if (sender_ == Sender::client) {
    error_ = {fault, 0, "reading the request body"};
  } else {
    const Fault theirs = large ? Fault::response_too_large : Fault::bad_response;
    error_ = {theirs, 0, "reading the response body"};
  }
  state_ = State::failed;
  return Step::fail;
}

void append_chunk_head(core::Buffer& out, std::uint64_t size) {
  std::array<char, most_digits + 2> text;
  char* end = std::to_chars(text.data(), text.data() + most_digits, size, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append({text.data(), static_cast<std::size_t>(end - text.data())});
}

void append_last_chunk(core::Buffer& out, const Headers* trailers) {
  out.append("0\r\n");
  if (trailers != nullptr) {
    for (const Field& field : *trailers) {
      if (!valid_name(field.name) || !valid_value(field.value)) continue;
      out.append(field.name);
      out.append(": ");
      out.append(field.value);
      out.append("\r\n");
    }
  }
  out.append("\r\n");
}

}  // namespace portico::http
