// Finds the end of a head (or of a trailer section) in bytes that come in slices.
//
// Owned by a reader; one thread. A head that lies in one slice is handed on as a view of it; of one
// that comes in parts a copy is gathered, of just the bytes that have arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/core/bytes.h"

namespace portico::http {

class HeadGatherer {
 public:
  enum class Found : std::uint8_t {
    more,       ///< the input is used up
    whole,      ///< the section is complete
    too_large,  ///< it does not end within the limit
    bad_line,   ///< a line ends with a bare LF (RFC 9112 §2.2)
  };

  /// Takes lines from `input` up to and including the first empty one.
  ///
  /// limit  bytes that the section may have, its last CRLF included
  /// whole  with Found::whole the section; the rest stays in `input`
  Found feed(core::Slice& input, std::size_t limit, core::Slice& whole);

  bool started() const { return !partial_.empty(); }
  /// What has been gathered so far; with too_large and bad_line it holds what was looked at.
  std::string_view partial() const { return partial_.view(); }
  /// Hands those bytes over; nothing is gathered any more.
  core::Slice take_partial();

 private:
  Found scan(std::string_view bytes);
  Found gather(core::Slice& input, std::size_t limit, core::Slice& whole);

  core::Buffer partial_;
  std::size_t line_ = 0;  ///< where the line begins that is not complete yet
  std::size_t seen_ = 0;  ///< bytes already searched for a line's end
};

}  // namespace portico::http
