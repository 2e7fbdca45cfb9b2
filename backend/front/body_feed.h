// BodyFeed: hands a streamed request's body to its worker, piece by piece as it comes.
//
// Owned by its WsgiCall; the front thread. The client is read only after the worker has asked for
// the first time (so 100 Continue goes out with the application's first read), and then as far
// ahead as the socket to the worker takes: what is held here is one message. record/feed.h has the
// messages, record/README.md the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/record/feed.h"
#include "proxy/core/bytes.h"
#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/core/watch.h"
#include "proxy/http/body.h"

namespace portico::backend {

class BodyFeed final : public core::Active, public core::ReadyListener {
 public:
  enum class State : std::uint8_t {
    quiet,    ///< the worker has not asked yet: the client is not read
    flowing,  ///< from its first note until the last message has gone
    over,     ///< the body is complete there
  };
  class Owner {
   public:
    /// Whether a worker has claimed the record: nobody else is given a byte.
    virtual bool may_feed() const = 0;
    /// The body will not be complete, and the worker has been told. May retire the feed.
    virtual void feed_failed(const core::Error& error) = 0;

   protected:
    ~Owner() = default;
  };

  /// The source and the owner outlive the feed.
  BodyFeed(core::Loop& loop, http::BodySource& source, Owner& owner);

  /// A new pair, in place of an earlier one, whose worker then finds its end closed. Gives the
  /// worker's end. Only while untouched(). Errors: no_descriptors
  core::Result<core::Fd> open();
  /// No byte of the body has gone to a worker: it may be handed to another.
  bool untouched() const { return given_ == 0; }
  /// The worker has used up all that it was given, and it is the client who keeps it waiting.
  bool awaits_client() const;
  /// When the worker last took something, or began or ceased to wait.
  core::Time last_moved() const { return last_moved_; }

  void advance() override;

 private:
  void on_ready(int readiness) noexcept override;
  bool hear();
  bool heed(const record::FeedNote& note);
  void pump();
  bool gather();
  bool give();
  bool send(record::FeedHeader header);
  void break_off();
  void close();

  http::BodySource& source_;
  Owner& owner_;
  core::Fd fd_;
  core::Watch watch_;
  // The next message: slices of the body, or how it ends where there are none.
  std::vector<core::Slice> slices_;
  std::size_t gathered_ = 0;  // bytes of the slices
  std::optional<record::FeedHeader> ending_;
  core::Error error_;  // where it ends by `fail`
  State state_ = State::quiet;
  std::uint64_t given_ = 0;  // bytes that were sent
  bool spoken_ = false;      // there are notes to read
  bool starving_ = false;    // the worker waits, and had used up all when it said so
  bool full_ = false;        // the socket takes no more
  core::Time last_moved_{};
};

}  // namespace portico::backend
