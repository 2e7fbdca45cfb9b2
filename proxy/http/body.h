// Bodies are pulled: a source hands out one piece at a time, to a reader that has room for it.
//
// A relay is a request source in and a response source out; nothing between buffers on its own
// account, and pulling only what can be placed is the whole of back-pressure. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "proxy/core/loop.h"
#include "proxy/core/piece.h"
#include "proxy/core/result.h"

namespace portico::http {

class Headers;
using core::Flow;
using core::Piece;

/// What a pull came to. `trailers` may stand with Flow::end, `error` stands with Flow::fail.
struct Pull {
  Flow flow = Flow::wait;
  Piece piece;
  const Headers* trailers = nullptr;
  core::Error error;
};

class BodySource {
 public:
  virtual ~BodySource() = default;  ///< destroying it = not wanted any more

  /// The next piece, of at most `room` bytes (room > 0). On wait, `reader` is woken once when there
  /// is more to say. After end or fail the same answer is given again.
  virtual Pull pull(std::size_t room, core::Active& reader) = 0;
};

/// A body that is there already: one slice, or none.
class ReadyBody final : public BodySource {
 public:
  explicit ReadyBody(core::Slice bytes) : bytes_(std::move(bytes)) {}
  Pull pull(std::size_t room, core::Active& reader) override;

 private:
  core::Slice bytes_;
};

}  // namespace portico::http
