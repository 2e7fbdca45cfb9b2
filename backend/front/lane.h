// Lane: one front thread's part of an application: its flights, its queue sockets, its workers'
// links.
//
// Owned by the Application; used only in its thread. What the supervisor says of workers reaches it
// by Loop::post. Flights are kept for reuse, so that a request allocates none. One generation is in
// use; another may stand by with new code, and earlier ones stay until what their workers run has
// ended.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/front/flight.h"
#include "backend/front/generation.h"
#include "backend/front/loop_worker.h"
#include "backend/front/queue_socket.h"
#include "backend/front/warm_up.h"
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
  Flight* submit(AnswerSink& sink, Asker asker = Asker::client);
  /// The same, without a slot, for the generation that stands by. Null: there is none.
  Flight* submit_ahead(AnswerSink& sink);

  // What the supervisor says, by way of the application.
  /// Records go there from now on. What no worker of an earlier one has begun is sent there anew.
  void use(std::shared_ptr<Generation> generation);
  void stand_by(std::shared_ptr<Generation> generation);
  void switch_over();                       ///< uses the one that stands by
  void drop();                              ///< the one that stands by will not be used
  void warm_up(const std::string& target);  ///< asks the one that stands by; warm_up.h
  /// first  whose stream the first of `links` is; they are of this thread and those that follow
  void worker_up(WorkerLink::Origin first, std::vector<core::Fd> links);
  void worker_gone(std::uint16_t worker);
  /// How many threads take records of the generation in use.
  void takers(std::size_t threads);
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
  Flight* find(std::uint64_t generation, std::uint32_t cell, std::uint32_t serial);
  core::Buffer& read_buffer();  ///< shared by the links; always with room
  void report_liar(std::uint16_t worker);
  void report_answered(std::uint16_t worker);
  void report_due(std::uint16_t worker, std::uint64_t answers);
  void report_worked(std::uint16_t worker);
  void report_warmed(unsigned status, std::string_view why);

 private:
  static bool in_the_air(const Flight& flight);
  static bool take_back(Flight& flight);
  static std::vector<Flight*> aloft(QueueSocket* queue);
  Flight& take_flight();
  void board(Flight& flight, QueueSocket& queue);
  void take_over(std::unique_ptr<QueueSocket> queue);
  void leave_behind(std::unique_ptr<QueueSocket> queue);
  void bury(const QueueSocket* queue);
  QueueSocket* queue_of(std::uint64_t generation);
  std::uint64_t generation_of(std::uint16_t worker) const;
  void resend(Flight& flight);
  void settle_after_death(Flight& flight);
  bool is_newer(std::uint16_t worker) const;
  bool has_living_claimer(const Flight& flight) const;
  void lost(Flight& flight);
  void report_lost(const Flight& flight);
  void close_links(std::uint16_t worker);

  core::Loop& loop_;
  Application& application_;
  std::vector<std::unique_ptr<Flight>> flights_;  // all there are
  std::vector<Flight*> free_;
  std::unique_ptr<QueueSocket> queue_;              // in use
  std::unique_ptr<QueueSocket> next_;               // stands by
  std::vector<std::unique_ptr<QueueSocket>> past_;  // with flights that their workers run
  std::vector<std::unique_ptr<WorkerLink>> links_;
  std::size_t takers_ = 0;                   // threads of the one in use
  std::uint16_t newest_ = 0;                 // of the workers that it was told of
  std::unique_ptr<LoopWorker> loop_worker_;  // in place of links, where threads is 0
  core::Buffer read_buffer_;
  std::unique_ptr<WarmUp> warm_up_;
};

}  // namespace portico::backend
