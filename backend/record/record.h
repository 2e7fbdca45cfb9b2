// A record: one request on its way from the front to a worker, in a datagram of the application's
// queue. It is complete but for a body that is streamed (feed.h).
//
// The front thread writes it (RecordWriter), a worker thread reads it (read_record, FieldCursor).
// Layout and limits are in README.md beside this file. Integers are in the machine's order: both
// sides are one build on one machine. The reader checks every bound, although only the front can
// write into a queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/record/buffer.h"

namespace portico::record {

/// The largest record. Larger datagrams need large contiguous kernel memory, and the default send
/// buffer of an unprivileged process takes 208 KiB in all. A body that does not fit goes as a
/// descriptor.
inline constexpr std::size_t max_record_bytes = std::size_t{80} * 1024;
/// A body up to this size is best sent inline; the head has the rest of the record's room.
inline constexpr std::size_t max_inline_body_bytes = std::size_t{64} * 1024;
inline constexpr std::size_t max_record_fields = 1000;
/// What records share a datagram come to together, at most: kernel memory of a common size.
inline constexpr std::size_t max_shared_bytes = std::size_t{16} * 1024;

/// Where the request's body is.
enum class BodyPlace : std::uint8_t {
  none = 0,        ///< the request has no body
  in_record = 1,   ///< behind the fields
  descriptor = 2,  ///< one read-only descriptor beside the datagram, from offset 0
  feed = 3,        ///< it follows while the application reads: one descriptor, see feed.h
};

/// One request. As a value it only points: at the front's own memory when written, at the datagram
/// when read.
struct Record {
  std::uint32_t cell = 0;    ///< index into the claim cells
  std::uint32_t serial = 0;  ///< the serial under which the front sent that cell
  std::uint16_t front_thread =
      0;  ///< picks the answer socket: thread * front_threads + front_thread
  std::uint8_t http_version = 11;  ///< 10, 11 or 20
  bool https = false;              ///< from the front's own knowledge, never from a field
  /// CONTENT_LENGTH is to be given: a length, or a decoded chunked body that is whole.
  bool has_length = false;
  BodyPlace body_place = BodyPlace::none;
  std::uint16_t client_port = 0;
  std::uint16_t server_port = 0;
  std::uint32_t response_ms =
      0;  ///< from the claim until the front answers 504; 0: it has no such time
  /// The body's true size in bytes, decoded; of a feed only with has_length, else 0.
  std::uint64_t content_length = 0;
  std::string_view method;       ///< as sent, case kept
  std::string_view target;       ///< the raw request target
  std::string_view script_name;  ///< raw, cut on a segment boundary of the raw path
  std::string_view path_info;    ///< percent-decoded bytes, no NUL
  std::string_view query;        ///< raw, without '?'
  std::string_view request_id;
  std::string_view client_address;  ///< numeric, without port
  std::string_view server_name;     ///< never empty
  std::string_view tls_protocol;    ///< empty without TLS
  std::string_view tls_cipher;      ///< empty without TLS
  std::string_view body;            ///< when in_record
  std::string_view raw_fields;      ///< for FieldCursor; filled by the reader
  std::uint16_t field_count = 0;    ///< filled by the reader
};

/// Writes one record into a buffer: begin, field for each field, finish.
class RecordWriter {
 public:
  /// out  is cleared by begin(); must outlive the writer
  explicit RecordWriter(Buffer& out) : out_(out) {}

  /// Writes everything but the fields and the body; record.body, raw_fields and field_count are not
  /// looked at.
  void begin(const Record& record);
  /// Adds one field. `lower_case_name` is a lower-case token; the value is without outer blanks,
  /// CR, LF and NUL. Repeated names may come repeatedly: the engine joins them.
  void field(std::string_view lower_case_name, std::string_view value);
  /// Adds the inline body, which must be `content_length` bytes when the place is in_record, else
  /// empty. False: the record exceeds max_record_bytes, max_record_fields or a part's own limit; it
  /// must not be sent.
  bool finish(std::string_view inline_body = {});
  /// The same, but the body is not copied behind the rest: who sends the record sends it too.
  bool finish_before(std::string_view inline_body);

 private:
  Buffer& out_;
  std::size_t field_count_ = 0;
  bool fits_ = true;
};

/// A datagram holds one record, or several whole ones for a thread that is the only taker.
/// Takes the first off the front of `datagram`; the rest is another datagram. On failure as
/// read_record, and nothing is taken.
bool take_record(std::string_view& datagram, Record& record);

/// Reads a datagram of one record. On success every view points into it, and walking the fields
/// needs no further checks. False: it is not a whole, consistent record; `record` is then
/// unspecified.
bool read_record(std::string_view datagram, Record& record);

/// Reads a record whose inline body is not behind it (finish_before); `body` stays empty.
bool read_record_head(std::string_view bytes, Record& record);

/// One field of a record.
struct RecordField {
  std::uint16_t known_id = 0;  ///< known_fields.h; 0: see name
  std::string_view name;       ///< lower case; filled for known names too
  std::string_view value;
};

/// Walks the fields of a record that read_record has accepted.
class FieldCursor {
 public:
  explicit FieldCursor(const Record& record) : rest_(record.raw_fields) {}
  /// False at the end; `field` is then unchanged.
  bool next(RecordField& field);

 private:
  std::string_view rest_;
};

}  // namespace portico::record
