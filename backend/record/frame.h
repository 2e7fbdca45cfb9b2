// Frames: an answer on its way from a worker thread to a front thread, on the stream socket of that
// pair.
//
// An answer is `interim* head (data | file)* end`; `abort` may take the place of whatever would
// come next, also of the head. One answer at a time on a stream, each frame naming its cell and
// serial. README.md beside this file has the layout and limits; frame_reader.h is the front's side,
// FrameWriter here the worker's. Integers are in the machine's order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/record/buffer.h"

namespace portico::record {

enum class FrameType : std::uint8_t {
  head = 1,     ///< status line and fields
  data = 2,     ///< bytes of the body
  file = 3,     ///< a range of the descriptor that comes with the frame's first byte
  end = 4,      ///< the answer is complete
  abort = 5,    ///< the answer will not be completed
  interim = 6,  ///< a 1xx answer before the head
};

/// Why an answer ends without being complete.
enum class AbortReason : std::uint8_t {
  application_error = 1,  ///< the application raised; the traceback is on stderr
  bad_response = 2,       ///< the application broke WSGI or HTTP; the reason is on stderr
  short_body = 3,         ///< fewer bytes than the announced length
  cancelled = 4,          ///< the front had cancelled it
  engine_error = 5,  ///< the record could not be served (its descriptor is missing, memory ran out)
  input_error = 6,   ///< the request body could not be read
};

/// Flags of a head frame.
inline constexpr std::uint8_t head_length_known = 1;  ///< content_length is the answer's length
inline constexpr std::uint8_t head_no_body = 2;       ///< HEAD, 204, 304: no data will follow

/// Opens every frame.
struct FrameHeader {
  std::uint32_t length;    ///< bytes that follow this header
  std::uint8_t type;       ///< FrameType
  std::uint8_t flags;      ///< head: head_...; abort: AbortReason; else 0
  std::uint16_t reserved;  ///< 0
  std::uint32_t cell;
  std::uint32_t serial;
};
static_assert(sizeof(FrameHeader) == 16);

/// Opens the payload of head and interim; the reason phrase and the fields follow.
struct HeadPayload {
  std::uint64_t content_length;  ///< with head_length_known, else 0
  std::uint16_t status;
  std::uint16_t reason_bytes;
  std::uint16_t field_count;
  std::uint16_t reserved;  ///< 0
};
static_assert(sizeof(HeadPayload) == 16);

/// Opens each field in a head; the name's and the value's bytes follow.
struct HeadField {
  std::uint16_t name_bytes;
  std::uint16_t reserved;  ///< 0
  std::uint32_t value_bytes;
};
static_assert(sizeof(HeadField) == 8);

/// The payload of file.
struct FilePayload {
  std::uint64_t offset;
  std::uint64_t length;  ///< at least 1
};
static_assert(sizeof(FilePayload) == 16);

inline constexpr std::size_t max_head_payload_bytes = std::size_t{64} * 1024;
inline constexpr std::size_t max_data_payload_bytes = std::size_t{64} * 1024;
inline constexpr std::size_t max_head_fields = 256;

/// Writes frames of one answer into a buffer. Heads are written in place: begin_head,
/// head_field..., finish_head. The worker checks statuses, names and values (text_rules.h) before;
/// the front checks them again.
class FrameWriter {
 public:
  explicit FrameWriter(Buffer& out) : out_(out) {}

  /// All frames up to the next start() carry this cell and serial.
  void start(std::uint32_t cell, std::uint32_t serial) {
    cell_ = cell;
    serial_ = serial;
  }
  void begin_head(std::uint16_t status, std::string_view reason) {
    begin(FrameType::head, status, reason);
  }
  /// The same for an interim; its finish_head has no flags and no length.
  void begin_interim(std::uint16_t status, std::string_view reason) {
    begin(FrameType::interim, status, reason);
  }
  void head_field(std::string_view name, std::string_view value);
  /// Completes the head. False: too large; it has been taken out of the buffer again.
  bool finish_head(std::uint8_t flags, std::uint64_t content_length);
  /// The header alone of a data frame whose `size` bytes (1 to max_data_payload_bytes) the caller
  /// sends itself.
  void data_header(std::size_t size);
  /// Data frames with the bytes; more than one when there are many.
  void data(std::string_view bytes);
  /// The frame for a file range; the descriptor must go in the same sendmsg, whose first byte is
  /// this frame's.
  void file(std::uint64_t offset, std::uint64_t length);
  void end();
  void abort(AbortReason reason);

 private:
  void begin(FrameType type, std::uint16_t status, std::string_view reason);
  void header(FrameType type, std::uint8_t flags, std::size_t length);

  Buffer& out_;
  std::uint32_t cell_ = 0;
  std::uint32_t serial_ = 0;
  std::size_t head_at_ = 0;
  std::size_t head_fields_ = 0;
  bool head_fits_ = true;
};

}  // namespace portico::record
