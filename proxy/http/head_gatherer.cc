#include "proxy/http/head_gatherer.h"

#include <algorithm>
#include <cstring>

namespace portico::http {

HeadGatherer::Found HeadGatherer::feed(core::Slice& input, std::size_t limit, core::Slice& whole) {
  if (started()) return gather(input, limit, whole);
  const std::string_view window = input.view().substr(0, limit);
  line_ = seen_ = 0;
  const Found found = scan(window);
  if (found == Found::whole) {
    whole = input.take_front(line_);
    return found;
  }
  partial_.append(window);
  input.drop_front(window.size());
  return found == Found::more && window.size() == limit ? Found::too_large : found;
}

HeadGatherer::Found HeadGatherer::gather(core::Slice& input, std::size_t limit,
                                         core::Slice& whole) {
  const std::size_t before = partial_.size();
  const std::size_t added = std::min(input.size(), limit - std::min(limit, before));
  partial_.append(input.view().substr(0, added));
  const Found found = scan(partial_.view());
  if (found == Found::whole) {
    input.drop_front(line_ - before);
    whole = take_partial().sub(0, line_);
    return found;
  }
  input.drop_front(added);
  return found == Found::more && partial_.size() >= limit ? Found::too_large : found;
}

core::Slice HeadGatherer::take_partial() {
  core::Slice bytes = partial_.take();
  partial_ = core::Buffer();
  return bytes;
}

// Goes from line to line. Leaves line_ where the line begins that is not complete yet; behind the
// section when it is whole.
HeadGatherer::Found HeadGatherer::scan(std::string_view bytes) {
  while (seen_ < bytes.size()) {
    const void* at = std::memchr(bytes.data() + seen_, '\n', bytes.size() - seen_);
    if (at == nullptr) break;
    const auto line_feed = static_cast<std::size_t>(static_cast<const char*>(at) - bytes.data());
    if (line_feed == line_ || bytes[line_feed - 1] != '\r') return Found::bad_line;
    const bool empty = line_feed == line_ + 1;
    line_ = seen_ = line_feed + 1;
    if (empty) return Found::whole;
  }
  seen_ = bytes.size();
  return Found::more;
}

}  // namespace portico::http
