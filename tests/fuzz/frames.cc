// Fuzzes FrameReader: any bytes, whole and in parts, give the same events; nothing is read beyond
// the input. The first byte of the input says how many bytes a part has, and whether a descriptor
// comes with the first part.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "backend/record/frame_reader.h"

namespace {

using namespace portico::record;

/// All events as text, neighbouring data joined.
class Transcript {
 public:
  void feed(FrameReader& reader, std::string_view part) {
    for (;;) {
      FrameEvent event = reader.next(part);
      if (event == FrameEvent::more || event == FrameEvent::bad) {
        if (event == FrameEvent::bad && !bad_) text_ += "|bad";
        bad_ = bad_ || event == FrameEvent::bad;
        return;
      }
      note(reader, event);
    }
  }
  const std::string& text() const { return text_; }

 private:
  void note(FrameReader& reader, FrameEvent event) {
    if (event != FrameEvent::data || last_ != event)
      text_ += '|' + std::to_string(int(event)) + ':';
    last_ = event;
    if (event == FrameEvent::data) text_ += reader.data();
    if (event == FrameEvent::head || event == FrameEvent::interim) note_head(reader.head());
    if (event == FrameEvent::file) ::close(reader.take_descriptor());
  }
  void note_head(const AnswerHead& head) {
    text_ += std::to_string(head.status) + std::string(head.reason);
    AnswerFields fields(head);
    std::string_view name;
    std::string_view value;
    while (fields.next(name, value)) (text_ += name) += value;
  }

  std::string text_;
  FrameEvent last_ = FrameEvent::more;
  bool bad_ = false;
};

std::string read_in_parts(std::string_view bytes, std::size_t part_bytes, bool with_descriptor) {
  FrameReader reader;
  if (with_descriptor) reader.offer_descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Transcript transcript;
  while (!bytes.empty()) {
    std::size_t count = std::min(part_bytes, bytes.size());
    transcript.feed(reader, bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
  return transcript.text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  bool with_descriptor = (data[0] & 0x80) != 0;
  std::size_t part_bytes = (data[0] & 0x7fU) + 1;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string whole = read_in_parts(bytes, bytes.size() + 1, with_descriptor);
  if (whole != read_in_parts(bytes, part_bytes, with_descriptor)) std::abort();
  return 0;
}
