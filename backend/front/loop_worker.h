// LoopWorker: calls an embedded application in the front thread itself (threads: 0).
//
// Owned by the thread's Lane. A record goes to the engine by a function call and its frames come
// back in memory (record/direct.h), so that nothing but the call stands between request and answer.
// While the application works, the loop waits: for small applications that never wait. An answer
// that is given in parts has a part a turn, and stops while its sink is full.
#pragma once

#include <memory>
#include <vector>

#include "backend/front/flight.h"
#include "backend/record/direct.h"
#include "backend/record/frame_reader.h"
#include "proxy/core/loop.h"

namespace portico::backend {

class Lane;

class LoopWorker final : public core::Active {
 public:
  LoopWorker(Lane& lane, core::Loop& loop, const record::Direct& direct);
  /// Ends the answers that go on, close() included.
  ~LoopWorker() override;

  /// Has the flight's record answered: wholly, or its first part. Its cell is the queue's.
  void run(Flight& flight);
  void advance() override;  ///< goes on with answers given in parts

 private:
  /// One call of the application.
  struct Call {
    Flight* flight = nullptr;  // null: its answer has ended
    void* rest = nullptr;      // the engine's
    record::FrameReader reader;
  };

  void take(Call& call, const record::DirectAnswer& answer);
  void deliver(Call& call, std::string_view frames);
  void deliver(Call& call, record::FrameEvent event);
  void deliver_end(Call& call, record::FrameEvent event);
  bool must_wait(const Call& call);
  core::Slice keep(std::string_view bytes);

  Lane& lane_;
  const record::Direct& direct_;
  std::vector<std::unique_ptr<Call>> calls_;  // that have a rest
};

}  // namespace portico::backend
