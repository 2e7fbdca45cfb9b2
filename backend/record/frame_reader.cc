#include "backend/record/frame_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "backend/record/text_rules.h"

namespace portico::record {
namespace {

bool take(std::string_view& rest, std::size_t count, std::string_view& taken) {
  if (count > rest.size()) return false;
  taken = rest.substr(0, count);
  rest.remove_prefix(count);
  return true;
}

/// Takes one field off `rest`, bounds only.
bool take_field(std::string_view& rest, std::string_view& name, std::string_view& value) {
  HeadField field{};
  std::string_view bytes;
  if (!take(rest, sizeof field, bytes)) return false;
  std::memcpy(&field, bytes.data(), sizeof field);
  return take(rest, field.name_bytes, name) && take(rest, field.value_bytes, value);
}

/// Whether a field may stand in an answer's head: its syntax, and that it does not frame the
/// message.
bool field_is_sound(std::string_view name, std::string_view value) {
  return is_field_name(name) && is_field_value(value) && !is_hop_by_hop(name) &&
         !equals_lower(name, "content-length");
}

bool fields_are_sound(std::string_view raw, std::size_t count) {
  std::string_view name;
  std::string_view value;
  for (std::size_t i = 0; i < count; ++i) {
    if (!take_field(raw, name, value) || !field_is_sound(name, value)) return false;
  }
  return raw.empty();
}

bool forbids_body(std::uint16_t status) { return status == 204 || status == 304; }

}  // namespace

bool AnswerFields::next(std::string_view& name, std::string_view& value) {
  return !rest_.empty() && take_field(rest_, name, value);
}

FrameReader::~FrameReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool FrameReader::offer_descriptor(int descriptor) {
  if (descriptor_ < 0 && stage_ != Stage::bad) {
    descriptor_ = descriptor;
    return true;
  }
  ::close(descriptor);
  stage_ = Stage::bad;
  return false;
}

int FrameReader::take_descriptor() {
  int taken = descriptor_;
  descriptor_ = -1;
  return taken;
}

FrameEvent FrameReader::fail() {
  stage_ = Stage::bad;
  return FrameEvent::bad;
}

FrameEvent FrameReader::next(std::string_view& input) {
  if (stage_ == Stage::bad) return FrameEvent::bad;
  if (at_frame_ < sizeof header_) {
    if (!gather(input, sizeof header_, reinterpret_cast<char*>(&header_), at_frame_))
      return FrameEvent::more;
    if (!open_frame()) return fail();
  }
  if (header_.type == static_cast<std::uint8_t>(FrameType::data)) return take_data(input);
  return take_payload(input);
}

bool FrameReader::gather(std::string_view& input, std::size_t wanted, char* place,
                         std::size_t& have) {
  std::size_t part = std::min(wanted - have, input.size());
  if (part != 0) std::memcpy(place + have, input.data(), part);
  input.remove_prefix(part);
  have += part;
  return have == wanted;
}

bool FrameReader::open_frame() {
  if (!header_is_sound() || !fits_stage()) return false;
  bool is_data = header_.type == static_cast<std::uint8_t>(FrameType::data);
  if (is_data && !count_body(header_.length)) return false;
  answer_open_ = true;
  answer_cell_ = header_.cell;
  answer_serial_ = header_.serial;
  at_payload_ = 0;
  partial_.clear();
  return true;
}

bool FrameReader::header_is_sound() const {
  if (header_.reserved != 0) return false;
  switch (static_cast<FrameType>(header_.type)) {
    case FrameType::head:
      return header_.length >= sizeof(HeadPayload) && header_.length <= max_head_payload_bytes &&
             (header_.flags & ~(head_length_known | head_no_body)) == 0;
    case FrameType::interim:
      return header_.length >= sizeof(HeadPayload) && header_.length <= max_head_payload_bytes &&
             header_.flags == 0;
    case FrameType::data:
      return header_.length >= 1 && header_.length <= max_data_payload_bytes && header_.flags == 0;
    case FrameType::file:
      return header_.length == sizeof(FilePayload) && header_.flags == 0;
    case FrameType::end:
      return header_.length == 0 && header_.flags == 0;
    case FrameType::abort:
      return header_.length == 0 && header_.flags >= 1 &&
             header_.flags <= static_cast<std::uint8_t>(AbortReason::input_error);
  }
  return false;
}

/// Whether a frame of this type may come now, and is of the answer that has begun.
bool FrameReader::fits_stage() const {
  if (answer_open_ && (header_.cell != answer_cell_ || header_.serial != answer_serial_))
    return false;
  switch (static_cast<FrameType>(header_.type)) {
    case FrameType::head:
    case FrameType::interim:
      return stage_ == Stage::before_head;
    case FrameType::data:
    case FrameType::file:
    case FrameType::end:
      return stage_ == Stage::body;
    case FrameType::abort:
      return true;
  }
  return false;
}

FrameEvent FrameReader::take_data(std::string_view& input) {
  if (input.empty()) return FrameEvent::more;
  std::size_t part = std::min(input.size(), header_.length - at_payload_);
  data_ = input.substr(0, part);
  input.remove_prefix(part);
  at_payload_ += part;
  if (at_payload_ == header_.length) at_frame_ = 0;
  return FrameEvent::data;
}

FrameEvent FrameReader::take_payload(std::string_view& input) {
  std::string_view payload;
  if (partial_.empty() && take(input, header_.length, payload)) return close_frame(payload);
  std::size_t part = std::min(input.size(), header_.length - partial_.size());
  partial_.append(input.substr(0, part));
  input.remove_prefix(part);
  if (partial_.size() < header_.length) return FrameEvent::more;
  return close_frame(partial_.view());
}

FrameEvent FrameReader::close_frame(std::string_view payload) {
  at_frame_ = 0;
  switch (static_cast<FrameType>(header_.type)) {
    case FrameType::head:
    case FrameType::interim:
      return close_head(payload);
    case FrameType::file:
      return close_file(payload);
    case FrameType::end:
      if (head_.length_known && !head_.no_body && body_bytes_ != head_.content_length)
        return fail();
      return close_answer(FrameEvent::end);
    case FrameType::abort:
      return close_answer(FrameEvent::abort);
    case FrameType::data:
      break;  // take_data
  }
  return fail();
}

FrameEvent FrameReader::close_head(std::string_view payload) {
  if (!read_head(payload)) return fail();
  if (header_.type == static_cast<std::uint8_t>(FrameType::interim)) {
    return head_.status >= 100 && head_.status <= 199 && head_.status != 101 ? FrameEvent::interim
                                                                             : fail();
  }
  if (head_.status < 200 || head_.status > 599) return fail();
  if (forbids_body(head_.status) && !head_.no_body) return fail();
  body_bytes_ = 0;
  stage_ = Stage::body;
  return FrameEvent::head;
}

bool FrameReader::read_head(std::string_view payload) {
  HeadPayload fixed;
  std::memcpy(&fixed, payload.data(), sizeof fixed);
  payload.remove_prefix(sizeof fixed);
  head_.status = fixed.status;
  head_.length_known = (header_.flags & head_length_known) != 0;
  head_.no_body = (header_.flags & head_no_body) != 0;
  head_.content_length = fixed.content_length;
  head_.field_count = fixed.field_count;
  if (!take(payload, fixed.reason_bytes, head_.reason)) return false;
  head_.raw_fields = payload;
  return fixed.reserved == 0 && (head_.length_known || fixed.content_length == 0) &&
         is_reason(head_.reason) && fixed.field_count <= max_head_fields &&
         fields_are_sound(payload, fixed.field_count);
}

FrameEvent FrameReader::close_file(std::string_view payload) {
  std::memcpy(&file_, payload.data(), sizeof file_);
  bool sound = descriptor_ >= 0 && file_.length >= 1 && file_.offset <= INT64_MAX &&
               file_.length <= INT64_MAX - file_.offset;
  return sound && count_body(file_.length) ? FrameEvent::file : fail();
}

/// Counts bytes of the body; false when there may be none, or more than announced.
bool FrameReader::count_body(std::uint64_t bytes) {
  if (head_.no_body || bytes > UINT64_MAX - body_bytes_) return false;
  body_bytes_ += bytes;
  return !head_.length_known || body_bytes_ <= head_.content_length;
}

FrameEvent FrameReader::close_answer(FrameEvent event) {
  stage_ = Stage::before_head;
  answer_open_ = false;
  return event;
}

}  // namespace portico::record
