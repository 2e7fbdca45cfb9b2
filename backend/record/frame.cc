#include "backend/record/frame.h"

#include <algorithm>
#include <cstring>

namespace portico::record {

void FrameWriter::header(FrameType type, std::uint8_t flags, std::size_t length) {
  FrameHeader header{};
  header.length = static_cast<std::uint32_t>(length);
  header.type = static_cast<std::uint8_t>(type);
  header.flags = flags;
  header.cell = cell_;
  header.serial = serial_;
  out_.append_value(header);
}

void FrameWriter::begin(FrameType type, std::uint16_t status, std::string_view reason) {
  head_at_ = out_.size();
  head_fields_ = 0;
  head_fits_ = reason.size() <= 0xffff;
  if (!head_fits_) reason = {};
  header(type, 0, 0);
  HeadPayload payload{};
  payload.status = status;
  payload.reason_bytes = static_cast<std::uint16_t>(reason.size());
  out_.append_value(payload);
  out_.append(reason);
}

void FrameWriter::head_field(std::string_view name, std::string_view value) {
  if (name.size() > 0xffff || value.size() > max_head_payload_bytes ||
      ++head_fields_ > max_head_fields || out_.size() - head_at_ > max_head_payload_bytes) {
    head_fits_ = false;
  }
  if (!head_fits_) return;
  HeadField field{};
  field.name_bytes = static_cast<std::uint16_t>(name.size());
  field.value_bytes = static_cast<std::uint32_t>(value.size());
  char* place = out_.extend(sizeof field + name.size() + value.size());
  std::memcpy(place, &field, sizeof field);
  std::memcpy(place + sizeof field, name.data(), name.size());
  if (!value.empty()) std::memcpy(place + sizeof field + name.size(), value.data(), value.size());
}

bool FrameWriter::finish_head(std::uint8_t flags, std::uint64_t content_length) {
  std::size_t length = out_.size() - head_at_ - sizeof(FrameHeader);
  if (!head_fits_ || length > max_head_payload_bytes) {
    out_.shorten(head_at_);
    return false;
  }
  FrameHeader header;
  HeadPayload payload;
  char* at = out_.data() + head_at_;
  std::memcpy(&header, at, sizeof header);
  std::memcpy(&payload, at + sizeof header, sizeof payload);
  header.length = static_cast<std::uint32_t>(length);
  header.flags = flags;
  payload.field_count = static_cast<std::uint16_t>(head_fields_);
  payload.content_length = (flags & head_length_known) != 0 ? content_length : 0;
  std::memcpy(at, &header, sizeof header);
  std::memcpy(at + sizeof header, &payload, sizeof payload);
  return true;
}

void FrameWriter::data_header(std::size_t size) { header(FrameType::data, 0, size); }

void FrameWriter::data(std::string_view bytes) {
  while (!bytes.empty()) {
    std::string_view part(bytes.data(), std::min(bytes.size(), max_data_payload_bytes));
    data_header(part.size());
    out_.append(part);
    bytes.remove_prefix(part.size());
  }
}

void FrameWriter::file(std::uint64_t offset, std::uint64_t length) {
  header(FrameType::file, 0, sizeof(FilePayload));
  out_.append_value(FilePayload{offset, length});
}

void FrameWriter::end() { header(FrameType::end, 0, 0); }

void FrameWriter::abort(AbortReason reason) {
  header(FrameType::abort, static_cast<std::uint8_t>(reason), 0);
}

}  // namespace portico::record
