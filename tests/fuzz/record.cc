// Fuzzes read_record: whatever it accepts must lie within the datagram and survive writing and
// reading again.
#include "backend/record/record.h"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace portico::record;

void require(bool condition) {
  if (!condition) std::abort();
}

bool inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void write_again(const Record& record) {
  Buffer out;
  RecordWriter writer(out);
  writer.begin(record);
  FieldCursor cursor(record);
  RecordField field;
  std::size_t count = 0;
  while (cursor.next(field)) {
    writer.field(field.name, field.value);
    ++count;
  }
  require(count == record.field_count);
  if (!writer.finish(record.body)) return;
  Record again;
  require(read_record(out.view(), again));
  require(again.target == record.target && again.body == record.body);
  require(again.field_count == record.field_count);
  require(again.body_place == record.body_place && again.has_length == record.has_length);
  require(again.content_length == record.content_length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view datagram(reinterpret_cast<const char*>(data), size);
  Record record;
  if (!read_record(datagram, record)) return 0;
  for (std::string_view part : {record.method, record.target, record.script_name, record.path_info,
                                record.query, record.request_id, record.client_address,
                                record.server_name, record.body, record.raw_fields})
    require(inside(part, datagram));
  write_again(record);
  return 0;
}
