// The feed: how the body of a streamed request follows its record, piece by piece.
//
// One SOCK_SEQPACKET pair a request, made by the front thread, which keeps one end; the worker's
// end comes with the record. The front sends nothing before the worker's first note, which is the
// application's first read. README.md beside this file is the page of rules. Both sides are one
// build on one machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace portico::record {

/// The most body bytes of one message. Three fit the default send buffer (208 KiB), so that one is
/// on its way while another is read.
inline constexpr std::size_t max_feed_piece_bytes = std::size_t{64} * 1024;

/// What a message of the front is.
enum class FeedType : std::uint32_t {
  piece = 1,  ///< at least one byte of the body follows the header
  end = 2,    ///< the body is complete; nothing follows
  fail = 3,   ///< it will never be complete; nothing follows
};

/// Why a body will not be complete. An end of file in place of `end` counts as client_gone.
enum class FeedFailure : std::uint32_t {
  none = 0,
  client_gone = 1,
  too_large = 2,  ///< above limits.body
  too_slow = 3,   ///< below limits.client_rate for timeouts.body
  malformed = 4,  ///< bad chunks
  refused = 5,    ///< the front cannot go on
};

/// Opens each message of the front.
struct FeedHeader {
  FeedType type;
  FeedFailure failure;
};
static_assert(sizeof(FeedHeader) == 8);

/// A message of the worker, each time the application comes back for more than has been taken.
struct FeedNote {
  std::uint64_t taken;  ///< bytes of the body so far
  std::uint64_t waits;  ///< 1: there was nothing more to take, and it waits
};
static_assert(sizeof(FeedNote) == 16);

}  // namespace portico::record
