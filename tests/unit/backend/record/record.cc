// Records: what is written is read, and nothing else is.
#include "backend/record/record.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "backend/record/known_fields.h"

using namespace portico::record;

namespace {

Record sample() {
  Record record;
  record.cell = 17;
  record.serial = 99;
  record.front_thread = 3;
  record.http_version = 20;
  record.https = true;
  record.has_length = true;
  record.body_place = BodyPlace::in_record;
  record.client_port = 4711;
  record.server_port = 443;
  record.content_length = 4;
  record.response_ms = 30000;
  record.method = "POST";
  record.target = "/shop/caf%C3%A9?a=1";
  record.script_name = "/shop";
  record.path_info = "/caf\xC3\xA9";
  record.query = "a=1";
  record.request_id = "r-1";
  record.client_address = "2001:db8::1";
  record.server_name = "shop.example";
  record.tls_protocol = "TLSv1.3";
  record.tls_cipher = "TLS_AES_128_GCM_SHA256";
  return record;
}

std::string write_sample() {
  Buffer out;
  RecordWriter writer(out);
  writer.begin(sample());
  writer.field("host", "shop.example");
  writer.field("x-unheard-of", "");
  writer.field("cookie", "a=\xFF");
  REQUIRE(writer.finish("body"));
  return std::string(out.view());
}

std::vector<std::pair<std::string, std::string>> fields_of(const Record& record) {
  std::vector<std::pair<std::string, std::string>> fields;
  FieldCursor cursor(record);
  RecordField field;
  while (cursor.next(field)) fields.emplace_back(field.name, field.value);
  return fields;
}

}  // namespace

TEST_CASE("record: writing and reading is the identity") {
  std::string datagram = write_sample();
  Record read;
  REQUIRE(read_record(datagram, read));
  Record wanted = sample();
  CHECK(read.cell == wanted.cell);
  CHECK(read.serial == wanted.serial);
  CHECK(read.front_thread == wanted.front_thread);
  CHECK(read.http_version == 20);
  CHECK(read.https);
  CHECK(read.has_length);
  CHECK(read.body_place == BodyPlace::in_record);
  CHECK(read.client_port == 4711);
  CHECK(read.server_port == 443);
  CHECK(read.content_length == 4);
  CHECK(read.response_ms == 30000);
  for (auto part : {&Record::method, &Record::target, &Record::script_name, &Record::path_info,
                    &Record::query, &Record::request_id, &Record::client_address,
                    &Record::server_name, &Record::tls_protocol, &Record::tls_cipher}) {
    CHECK(read.*part == wanted.*part);
  }
  CHECK(read.body == "body");
  CHECK(fields_of(read) ==
        std::vector<std::pair<std::string, std::string>>{
            {"host", "shop.example"}, {"x-unheard-of", ""}, {"cookie", "a=\xFF"}});
}

TEST_CASE("record: every shortened or lengthened datagram is refused") {
  std::string datagram = write_sample();
  Record record;
  for (std::size_t size = 0; size < datagram.size(); ++size)
    CHECK_FALSE(read_record(std::string_view(datagram).substr(0, size), record));
  CHECK_FALSE(read_record(datagram + "x", record));
}

TEST_CASE("record: several in a datagram are taken one by one, and a broken one takes nothing") {
  const std::string both = write_sample() + write_sample();
  std::string_view rest = both;
  Record record;
  REQUIRE(take_record(rest, record));
  CHECK(record.body == "body");
  CHECK(rest.size() == both.size() / 2);
  REQUIRE(take_record(rest, record));
  CHECK(rest.empty());
  CHECK_FALSE(read_record(both, record));
  for (std::size_t size = 1; size < both.size() / 2; ++size) {
    std::string_view cut = std::string_view(both).substr(0, size);
    CHECK_FALSE(take_record(cut, record));
    CHECK(cut.size() == size);
  }
}

TEST_CASE("record: no changed byte leads the reader out of the datagram") {
  std::string datagram = write_sample();
  for (std::size_t at = 0; at < datagram.size(); ++at) {
    for (int value : {0, 1, 0x7f, 0xff}) {
      std::string changed = datagram;
      changed[at] = static_cast<char>(value);
      Record record;
      if (!read_record(changed, record)) continue;
      std::size_t sum = record.body.size();
      for (const auto& [name, text] : fields_of(record)) sum += name.size() + text.size();
      CHECK(sum <= changed.size() + 3 * 64);
    }
  }
}

TEST_CASE("record: more than 80 KiB is not written") {
  Buffer out;
  RecordWriter writer(out);
  Record record = sample();
  record.content_length = max_record_bytes;
  std::string body(max_record_bytes, 'x');
  writer.begin(record);
  CHECK_FALSE(writer.finish(body));
  std::string long_value(max_record_bytes + 1, 'v');
  writer.begin(sample());
  writer.field("host", long_value);
  CHECK_FALSE(writer.finish("body"));
  record.target = long_value;
  writer.begin(record);
  CHECK_FALSE(writer.finish("body"));
}

TEST_CASE("record: exactly 80 KiB is written and read") {
  Buffer out;
  RecordWriter writer(out);
  Record record = sample();
  writer.begin(record);
  std::string body(max_record_bytes - out.size(), 'x');
  record.content_length = body.size();
  writer.begin(record);
  REQUIRE(writer.finish(body));
  Record read;
  REQUIRE(read_record(out.view(), read));
  CHECK(read.body == body);
}

TEST_CASE("record: more than 1000 fields are not written") {
  Buffer out;
  RecordWriter writer(out);
  writer.begin(sample());
  for (std::size_t i = 0; i < max_record_fields; ++i) writer.field("te", "");
  CHECK(writer.finish("body"));
  writer.begin(sample());
  for (std::size_t i = 0; i <= max_record_fields; ++i) writer.field("te", "");
  CHECK_FALSE(writer.finish("body"));
}

TEST_CASE("record: the body must be as long as said") {
  Buffer out;
  RecordWriter writer(out);
  writer.begin(sample());
  CHECK_FALSE(writer.finish("bodies"));
  Record none = sample();
  none.body_place = BodyPlace::none;
  writer.begin(none);
  CHECK_FALSE(writer.finish(""));
  none.content_length = 0;
  writer.begin(none);
  CHECK(writer.finish(""));
}

TEST_CASE("record: a body in a descriptor is not in the datagram") {
  Buffer out;
  RecordWriter writer(out);
  Record record = sample();
  record.body_place = BodyPlace::descriptor;
  record.content_length = std::uint64_t{5} << 32;
  writer.begin(record);
  REQUIRE(writer.finish());
  Record read;
  REQUIRE(read_record(out.view(), read));
  CHECK(read.content_length == std::uint64_t{5} << 32);
  CHECK(read.body.empty());
  writer.begin(record);
  CHECK_FALSE(writer.finish("body"));
}

TEST_CASE("record: a body that follows has a length only where it was told") {
  Buffer out;
  RecordWriter writer(out);
  Record record = sample();
  record.body_place = BodyPlace::feed;
  writer.begin(record);
  REQUIRE(writer.finish());
  Record read;
  REQUIRE(read_record(out.view(), read));
  CHECK(read.body_place == BodyPlace::feed);
  CHECK(read.content_length == 4);
  record.has_length = false;
  writer.begin(record);
  CHECK_FALSE(writer.finish());
  record.content_length = 0;
  writer.begin(record);
  CHECK_FALSE(writer.finish("body"));
  writer.begin(record);
  CHECK(writer.finish());
}

TEST_CASE("known fields: each number leads to its name and back") {
  for (std::uint16_t id = 1; id <= known_field_count; ++id) {
    CHECK_FALSE(known_field_name(id).empty());
    CHECK(known_field_id(known_field_name(id)) == id);
  }
  CHECK(known_field_name(0).empty());
  CHECK(known_field_name(known_field_count + 1).empty());
  CHECK(known_field_id("x-unheard-of") == 0);
  CHECK(known_field_id("") == 0);
  CHECK(known_field_id("content-type") == field_content_type);
  CHECK(known_field_id("content-length") == field_content_length);
  CHECK(known_field_id("cookie") == field_cookie);
  CHECK(known_field_id("proxy") == field_proxy);
}
