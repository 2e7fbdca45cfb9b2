// The front's reader of frames: incremental, strict, bounded. Hostile input is expected.
//
// Owned by the front's link to one worker thread; runs on that front thread. Pure: it is given
// bytes and descriptors and does no I/O but closing a descriptor nobody took. Data is never
// buffered, it is handed on as views; a head that arrives in parts is gathered, up to
// max_head_payload_bytes. README.md beside this file rules the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/record/buffer.h"
#include "backend/record/frame.h"

namespace portico::record {

/// What FrameReader::next found.
enum class FrameEvent : std::uint8_t {
  more,     ///< all input used; nothing whole is left
  interim,  ///< head() is a 1xx
  head,     ///< head() is the answer's
  data,     ///< data() are the next bytes of the body
  file,     ///< file() is the next part of the body; take_descriptor()
  end,      ///< the answer is complete
  abort,    ///< abort_reason()
  bad,      ///< not the format; close the stream, the worker lies. Stays bad for ever
};

/// A status and fields whose syntax has been checked (text_rules.h). Views last until the next call
/// of next().
struct AnswerHead {
  std::uint16_t status = 0;
  bool length_known = false;
  bool no_body = false;
  std::uint64_t content_length = 0;
  std::string_view reason;
  std::uint16_t field_count = 0;
  std::string_view raw_fields;  ///< for AnswerFields
};

/// Walks the fields of an AnswerHead; no further checks are needed.
class AnswerFields {
 public:
  explicit AnswerFields(const AnswerHead& head) : rest_(head.raw_fields) {}
  /// False at the end. Names are as the application wrote them, values without outer blanks.
  bool next(std::string_view& name, std::string_view& value);

 private:
  std::string_view rest_;
};

class FrameReader {
 public:
  FrameReader() = default;
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;
  ~FrameReader();

  /// Takes from the beginning of `input` what belongs to the next event, and says what it was. Call
  /// until `more`. Views in the event point into `input` or into the reader, and last until the
  /// next call.
  FrameEvent next(std::string_view& input);

  /// Gives the reader a descriptor that came with the bytes about to be fed; it owns it from here
  /// on. At most one may be waiting for its frame. False: one more than that; it is closed, and the
  /// stream is bad.
  bool offer_descriptor(int descriptor);
  /// The descriptor of the `file` event; the caller owns it, and must see for itself that it is a
  /// regular file.
  int take_descriptor();

  /// Of the frame at hand, and between frames of the answer at hand.
  std::uint32_t cell() const { return header_.cell; }
  std::uint32_t serial() const { return header_.serial; }
  const AnswerHead& head() const { return head_; }
  std::string_view data() const { return data_; }
  const FilePayload& file() const { return file_; }
  AbortReason abort_reason() const { return static_cast<AbortReason>(header_.flags); }
  /// Whether an answer has begun and not ended: what a closing stream cuts short.
  bool within_answer() const { return answer_open_ || at_frame_ != 0; }

 private:
  enum class Stage : std::uint8_t { before_head, body, bad };

  FrameEvent fail();
  bool gather(std::string_view& input, std::size_t wanted, char* place, std::size_t& have);
  bool open_frame();
  bool header_is_sound() const;
  bool fits_stage() const;
  FrameEvent take_data(std::string_view& input);
  FrameEvent take_payload(std::string_view& input);
  FrameEvent close_frame(std::string_view payload);
  FrameEvent close_head(std::string_view payload);
  FrameEvent close_file(std::string_view payload);
  FrameEvent close_answer(FrameEvent event);
  bool read_head(std::string_view payload);
  bool count_body(std::uint64_t bytes);

  Stage stage_ = Stage::before_head;
  FrameHeader header_{};
  std::size_t at_frame_ = 0;  ///< bytes of the frame's header that have come
  std::size_t at_payload_ = 0;
  std::uint32_t answer_cell_ = 0;
  std::uint32_t answer_serial_ = 0;
  bool answer_open_ = false;
  std::uint64_t body_bytes_ = 0;
  Buffer partial_;
  AnswerHead head_;
  std::string_view data_;
  FilePayload file_{};
  int descriptor_ = -1;
};

}  // namespace portico::record
