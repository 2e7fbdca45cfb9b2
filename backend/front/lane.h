// Lane: one front thread's part of an application: its flights, its queue socket, its workers'
// links.
//
// Owned by the Application; used only in its thread. What the supervisor says of workers reaches it
// by Loop::post. Flights are kept for reuse, so that a request allocates none.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/front/flight.h"
#include "backend/front/generation.h"
#include "backend/front/loop_worker.h"
#include "backend/front/queue_socket.h"
#include "backend/front/worker_link.h"
#include "proxy/core/bytes.h"
#include "proxy/core/loop.h"

namespace portico::backend {

class Application;

class Lane {
 public:
  Lane(core::Loop& loop, Application& application);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane();

  core::Loop& loop() const { return loop_; }

  /// Takes a place for the sink's request: sent at once when there is a slot, else it waits. Null:
  /// the application's queue is full.
  Flight* submit(AnswerSink& sink);

  // What the supervisor says, by way of the application.
  void use(std::shared_ptr<Generation> generation);
  /// links  of the worker's threads from number `first` on
  void worker_up(std::uint16_t worker, unsigned first, std::vector<core::Fd> links,
                 const AnswerCount& answers);
  void worker_gone(std::uint16_t worker);
  /// This thread calls the application itself from now on.
  void serve_in_loop(const record::Direct& direct);
  void unavailable();  ///< nobody will take what no worker has begun

  // For flights, links and the queue socket.
  void board(Flight& flight);
  void release(Flight& flight);
  bool withdraw(Flight& flight);
  void abandon(Flight& flight);
  void report_hang(const Flight& flight);
  void refuse(Flight& flight);  ///< the queue will never take its record
  Flight* find(std::uint32_t cell, std::uint32_t serial);
  core::Buffer& read_buffer();  ///< shared by the links; always with room
  void report_liar(std::uint16_t worker);
  void report_answered(std::uint16_t worker);

 private:
  static bool in_the_air(const Flight& flight);
  static bool take_back(Flight& flight);
  Flight& take_flight();
  void resend(Flight& flight);
  void settle_after_death(Flight& flight);
  bool is_newer(std::uint16_t worker) const;
  bool has_living_claimer(const Flight& flight) const;
  void lost(Flight& flight);
  void close_links(std::uint16_t worker);
  std::vector<Flight*> aloft();

  core::Loop& loop_;
  Application& application_;
  std::vector<std::unique_ptr<Flight>> flights_;  // all there are
  std::vector<Flight*> free_;
  std::unique_ptr<QueueSocket> queue_;
  std::vector<std::unique_ptr<WorkerLink>> links_;
  std::uint16_t newest_ = 0;                 // of the workers that it was told of
  std::unique_ptr<LoopWorker> loop_worker_;  // in place of links, where threads is 0
  core::Buffer read_buffer_;
};

}  // namespace portico::backend
