#include "proxy/run/lines_body.h"

#include <string>

namespace portico::run {

http::Pull LinesBody::pull(std::size_t room, core::Active& reader) {
  if (position_ < lines_.begin()) return tell_missed();
  if (position_ < lines_.end()) {
    const std::string_view text = lines_.from(position_, room);
    position_ += text.size();
    return {http::Flow::data, core::Slice::copy(text), nullptr, {}};
  }
  if (follow_ == Follow::no) return {http::Flow::end, {}, nullptr, {}};
  lines_.next_line().await(hearer_, reader);
  return {http::Flow::wait, {}, nullptr, {}};
}

http::Pull LinesBody::tell_missed() {
  const std::uint64_t missed = lines_.begin() - position_;
  position_ = lines_.begin();
  const std::string text = "\nportico: " + std::to_string(missed) + " bytes missed: too slow\n";
  return {http::Flow::data, core::Slice::copy(text), nullptr, {}};
}

}  // namespace portico::run
