// AnswerBody: the body of a worker's answer, taken at full speed and handed to the client at its
// own.
//
// Owned by the exchange; its thread. Memory first, then an unlinked file (sent by sendfile), up to
// limits.response_buffer; then it is full, and the link to the worker stops reading. Where the
// spool has no room, what had been read already is kept in memory beyond the budget: one read.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "backend/front/spool.h"
#include "proxy/core/loop.h"
#include "proxy/http/body.h"

namespace portico::backend {

class AnswerBody final : public http::BodySource {
 public:
  /// The side that fills it. Told of both; neither call may destroy the body.
  class Owner {
   public:
    virtual void body_drained() = 0;  ///< no longer full
    virtual void body_dropped() = 0;  ///< nobody wants it any more; it is gone after this call

   protected:
    ~Owner() = default;
  };

  /// limit  bytes held at most, in memory and file together
  AnswerBody(Owner& owner, Spool& spool, std::uint64_t limit);
  ~AnswerBody() override;

  void disown() { owner_ = nullptr; }
  void add(core::Slice bytes);
  void add(core::FileRange range);  ///< of a file of the application's: no memory of ours
  void finish() { settle(http::Flow::end, {}); }
  void fail(core::Error error) { settle(http::Flow::fail, error); }
  bool full() const { return full_; }

  http::Pull pull(std::size_t room, core::Active& reader) override;

 private:
  void settle(http::Flow ending, core::Error error);
  bool to_file(const core::Slice& bytes);
  void keep(core::Slice bytes);
  core::Piece take_front(std::size_t room);
  void forget_file();
  void note_level();
  bool has_room_again() const;

  Owner* owner_;
  Spool& spool_;
  std::uint64_t limit_;
  MemoryShare share_;
  std::deque<core::Piece> pieces_;
  std::uint64_t held_ = 0;       // bytes of ours in pieces_, memory and file
  std::uint64_t in_memory_ = 0;  // of these
  std::unique_ptr<SpoolFile> file_;
  bool full_ = false;
  http::Flow ending_ = http::Flow::wait;
  core::Error error_;
  core::Wakeup reader_;
};

}  // namespace portico::backend
