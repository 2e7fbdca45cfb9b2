#include "backend/record/record.h"

#include <array>
#include <cstring>

#include "backend/record/known_fields.h"

namespace portico::record {
namespace {

constexpr std::uint32_t magic = 0x50315250;  // "PR1P"
constexpr std::uint16_t flag_https = 1;
constexpr std::uint16_t flag_has_length = 2;
constexpr std::size_t part_count = 10;

/// Opens every record; lengths of the parts follow it, then the parts, the fields and the body.
struct RecordHeader {
  std::uint32_t magic;
  std::uint32_t size;  ///< of the whole record
  std::uint32_t cell;
  std::uint32_t serial;
  std::uint64_t content_length;
  std::uint32_t fields_bytes;
  std::uint32_t body_bytes;  ///< inline
  std::uint16_t field_count;
  std::uint16_t front_thread;
  std::uint16_t flags;
  std::uint16_t client_port;
  std::uint16_t server_port;
  std::uint8_t http_version;
  std::uint8_t body_place;
  std::uint32_t response_ms;
  std::uint32_t reserved[4];
};
static_assert(sizeof(RecordHeader) == 64);

struct FieldHeader {
  std::uint16_t known_id;
  std::uint16_t name_bytes;  ///< 0 with a known id
  std::uint32_t value_bytes;
};
static_assert(sizeof(FieldHeader) == 8);

using PartLengths = std::array<std::uint32_t, part_count>;

/// The parts in their order on the wire, for the writer and the reader alike.
constexpr std::array<std::string_view Record::*, part_count> parts = {
    &Record::method,       &Record::target,     &Record::script_name,    &Record::path_info,
    &Record::query,        &Record::request_id, &Record::client_address, &Record::server_name,
    &Record::tls_protocol, &Record::tls_cipher,
};

/// Takes `count` bytes off the front of `rest`; false when there are fewer.
bool take(std::string_view& rest, std::size_t count, std::string_view& taken) {
  if (count > rest.size()) return false;
  taken = {rest.data(), count};
  rest.remove_prefix(count);
  return true;
}

template <class Value>
bool take_value(std::string_view& rest, Value& value) {
  std::string_view bytes;
  if (!take(rest, sizeof value, bytes)) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

bool take_field(std::string_view& rest, RecordField& field) {
  FieldHeader header{};
  std::string_view name;
  if (!take_value(rest, header) || !take(rest, header.name_bytes, name)) return false;
  if (!take(rest, header.value_bytes, field.value)) return false;
  field.known_id = header.known_id;
  field.name = header.known_id != 0 ? known_field_name(header.known_id) : name;
  return !field.name.empty() && (header.known_id == 0 || header.name_bytes == 0);
}

bool fields_are_sound(std::string_view raw, std::size_t count) {
  RecordField field;
  for (std::size_t i = 0; i < count; ++i) {
    if (!take_field(raw, field)) return false;
  }
  return raw.empty();
}

bool body_is_sound(const RecordHeader& header) {
  switch (static_cast<BodyPlace>(header.body_place)) {
    case BodyPlace::none:
      return header.content_length == 0 && header.body_bytes == 0;
    case BodyPlace::in_record:
      return header.content_length == header.body_bytes;
    case BodyPlace::descriptor:
      return header.body_bytes == 0;
    case BodyPlace::feed:
      return header.body_bytes == 0 &&
             (header.content_length == 0 || (header.flags & flag_has_length) != 0);
  }
  return false;
}

bool header_is_sound(const RecordHeader& header) {
  return header.magic == magic && header.size <= max_record_bytes &&
         header.size >= sizeof header + sizeof(PartLengths) + std::size_t{header.body_bytes} &&
         header.field_count <= max_record_fields && body_is_sound(header);
}

void copy_header(const RecordHeader& header, Record& record) {
  record.cell = header.cell;
  record.serial = header.serial;
  record.front_thread = header.front_thread;
  record.http_version = header.http_version;
  record.https = (header.flags & flag_https) != 0;
  record.has_length = (header.flags & flag_has_length) != 0;
  record.body_place = static_cast<BodyPlace>(header.body_place);
  record.client_port = header.client_port;
  record.server_port = header.server_port;
  record.response_ms = header.response_ms;
  record.content_length = header.content_length;
  record.field_count = header.field_count;
}

/// Everything between the header and the inline body.
bool take_parts(std::string_view& rest, const RecordHeader& header, Record& record) {
  PartLengths lengths{};
  if (!take_value(rest, lengths)) return false;
  copy_header(header, record);
  for (std::size_t i = 0; i < part_count; ++i) {
    if (!take(rest, lengths[i], record.*parts[i])) return false;
  }
  return take(rest, header.fields_bytes, record.raw_fields) &&
         fields_are_sound(record.raw_fields, header.field_count);
}

RecordHeader header_of(const Record& record) {
  RecordHeader header{};
  header.magic = magic;
  header.cell = record.cell;
  header.serial = record.serial;
  header.content_length = record.content_length;
  header.front_thread = record.front_thread;
  header.flags = static_cast<std::uint16_t>((record.https ? flag_https : 0) |
                                            (record.has_length ? flag_has_length : 0));
  header.client_port = record.client_port;
  header.server_port = record.server_port;
  header.http_version = record.http_version;
  header.body_place = static_cast<std::uint8_t>(record.body_place);
  header.response_ms = record.response_ms;
  return header;
}

/// The header of the record that `out` holds so far: RecordWriter completes it in place.
RecordHeader stored_header(const Buffer& out) {
  RecordHeader header;
  std::memcpy(&header, out.data(), sizeof header);
  return header;
}

std::size_t parts_bytes(const Buffer& out) {
  PartLengths lengths;
  std::memcpy(&lengths, out.data() + sizeof(RecordHeader), sizeof lengths);
  std::size_t sum = sizeof(RecordHeader) + sizeof lengths;
  for (std::uint32_t length : lengths) sum += length;
  return sum;
}

}  // namespace

void RecordWriter::begin(const Record& record) {
  out_.clear();
  field_count_ = 0;
  fits_ = true;
  out_.append_value(header_of(record));
  PartLengths lengths{};
  for (std::size_t i = 0; i < part_count; ++i) {
    std::size_t size = (record.*parts[i]).size();
    if (size > max_record_bytes) fits_ = false;
    lengths[i] = fits_ ? static_cast<std::uint32_t>(size) : 0;
  }
  out_.append_value(lengths);
  if (!fits_) return;
  for (auto part : parts) out_.append(record.*part);
}

void RecordWriter::field(std::string_view lower_case_name, std::string_view value) {
  if (lower_case_name.empty() || lower_case_name.size() > 0xffff || value.size() > max_record_bytes)
    fits_ = false;
  if (++field_count_ > max_record_fields || out_.size() > max_record_bytes) fits_ = false;
  if (!fits_) return;
  FieldHeader header{};
  header.known_id = known_field_id(lower_case_name);
  if (header.known_id != 0) lower_case_name = {};
  header.name_bytes = static_cast<std::uint16_t>(lower_case_name.size());
  header.value_bytes = static_cast<std::uint32_t>(value.size());
  out_.append_value(header);
  out_.append(lower_case_name);
  out_.append(value);
}

bool RecordWriter::finish(std::string_view inline_body) {
  const bool sound = finish_before(inline_body);
  if (sound) out_.append(inline_body);
  return sound;
}

bool RecordWriter::finish_before(std::string_view inline_body) {
  if (!fits_ || out_.size() + inline_body.size() > max_record_bytes) return false;
  RecordHeader header = stored_header(out_);
  header.fields_bytes = static_cast<std::uint32_t>(out_.size() - parts_bytes(out_));
  header.field_count = static_cast<std::uint16_t>(field_count_);
  header.body_bytes = static_cast<std::uint32_t>(inline_body.size());
  header.size = static_cast<std::uint32_t>(out_.size() + inline_body.size());
  std::memcpy(out_.data(), &header, sizeof header);
  return body_is_sound(header);
}

bool take_record(std::string_view& datagram, Record& record) {
  std::string_view after = datagram;
  RecordHeader header{};
  if (!take_value(after, header) || !header_is_sound(header)) return false;
  std::string_view rest;
  if (!take(after, header.size - sizeof header, rest) || !take_parts(rest, header, record))
    return false;
  if (!take(rest, header.body_bytes, record.body) || !rest.empty()) return false;
  datagram = after;
  return true;
}

bool read_record_head(std::string_view bytes, Record& record) {
  RecordHeader header{};
  const std::size_t size = bytes.size();
  if (!take_value(bytes, header) || !header_is_sound(header)) return false;
  record.body = {};
  return header.size - header.body_bytes == size && take_parts(bytes, header, record) &&
         bytes.empty();
}

bool read_record(std::string_view datagram, Record& record) {
  return take_record(datagram, record) && datagram.empty();
}

bool FieldCursor::next(RecordField& field) { return !rest_.empty() && take_field(rest_, field); }

}  // namespace portico::record
