#include "backend/front/lane.h"

#include <algorithm>

#include "backend/front/application.h"

namespace portico::backend {
namespace {

// Workers that may be at work before this thread is told of them: more than ever start at once.
constexpr int most_untold = 256;
constexpr std::size_t read_block_bytes = 64 * 1024;  // carved: several small answers share one
constexpr std::size_t least_read_bytes = 16 * 1024;
constexpr std::size_t kept_record_bytes = 4 * 1024;  // of a free flight

}  // namespace

record::CellStatus Flight::claim() const { return generation_->cells().look(cell_); }

bool Flight::claimed() const {
  if (state_ != State::sent) return false;
  const record::CellStatus status = claim();
  return status.serial == serial_ &&
         (record::Cells::running(status.state) || status.state == record::CellState::done);
}

bool Flight::withdraw() { return lane_.withdraw(*this); }

void Flight::abandon() { lane_.abandon(*this); }

void Flight::report_hang() { lane_.report_hang(*this); }

void Flight::resume() {
  if (stopped_link_ != nullptr) std::exchange(stopped_link_, nullptr)->resume();
  room_.fire();
}

void Flight::advance() {
  if (state_ == State::waiting && ticket_.admitted()) return lane_.board(*this);
  if (state_ != State::orphaned || !patience_.due()) return;
  patience_.clear();
  report_hang();
}

Lane::Lane(core::Loop& loop, Application& application) : loop_(loop), application_(application) {}

Lane::~Lane() = default;

Flight& Lane::take_flight() {
  if (free_.empty()) {
    flights_.push_back(std::make_unique<Flight>(loop_, *this));
    return *flights_.back();
  }
  Flight* flight = free_.back();
  free_.pop_back();
  return *flight;
}

Flight* Lane::submit(AnswerSink& sink, Asker asker) {
  Flight& flight = take_flight();
  if (!flight.ticket_.enter(application_.admission())) {
    free_.push_back(&flight);
    return nullptr;
  }
  flight.asker_ = asker;
  application_.note_arrival(asker);
  flight.sink_ = &sink;
  flight.deaths_ = 0;
  flight.state_ = Flight::State::waiting;
  if (flight.ticket_.admitted()) flight.wake();
  return &flight;
}

Flight* Lane::submit_ahead(AnswerSink& sink) {
  if (next_ == nullptr) return nullptr;
  Flight& flight = take_flight();
  flight.sink_ = &sink;
  flight.deaths_ = 0;
  flight.state_ = Flight::State::waiting;
  board(flight, *next_);
  return flight.sink_ == nullptr ? nullptr : &flight;
}

// A slot may be had before this thread has been told of the queue: use() goes on from here.
void Lane::board(Flight& flight) {
  const bool loop_is_missing = application_.options().threads == 0 && loop_worker_ == nullptr;
  if (queue_ != nullptr && !loop_is_missing) board(flight, *queue_);
}

void Lane::board(Flight& flight, QueueSocket& queue) {
  if (!queue.board(flight)) {
    AnswerSink* sink = flight.sink_;
    release(flight);
    return sink->on_unavailable();
  }
  flight.state_ = Flight::State::boarding;
  if (!flight.sink_->write_record(flight)) return release(flight);
  loop_worker_ != nullptr ? loop_worker_->run(flight) : queue.put(flight);
}

void Lane::release(Flight& flight) {
  if (flight.state_ == Flight::State::free) return;
  const QueueSocket* queue = flight.queue_;
  if (flight.queue_ != nullptr) flight.queue_->leave(flight);
  flight.resume();
  flight.ticket_.leave();
  application_.note_end(std::exchange(flight.asker_, Asker::client));
  flight.patience_.clear();
  flight.generation_.reset();
  flight.sink_ = nullptr;
  flight.body_.reset();
  flight.inline_body_ = {};
  flight.record_.clear();
  flight.record_.trim(kept_record_bytes);
  flight.state_ = Flight::State::free;
  flight.unlink();
  free_.push_back(&flight);
  bury(queue);
}

// The socket of an earlier generation goes with its last flight.
void Lane::bury(const QueueSocket* queue) {
  const auto found = std::find_if(past_.begin(), past_.end(),
                                  [queue](const auto& one) { return one.get() == queue; });
  if (found == past_.end() || (*found)->count() != 0) return;
  loop_.retire(std::move(*found));
  past_.erase(found);
}

// True: no worker has begun it, nor ever will. What has not left the outbox nobody can have begun,
// whatever the cell says.
bool Lane::take_back(Flight& flight) {
  if (flight.state_ == Flight::State::waiting) return true;
  const bool revoked = flight.generation_->cells().revoke(flight.cell_, flight.serial_);
  return revoked || flight.state_ == Flight::State::boarding;
}

bool Lane::withdraw(Flight& flight) {
  if (!take_back(flight)) return false;
  release(flight);
  return true;
}

// A record that runs is cancelled, and its flight goes on as an orphan.
void Lane::abandon(Flight& flight) {
  if (withdraw(flight)) return;
  flight.generation_->cells().cancel(flight.cell_, flight.serial_);
  flight.sink_ = nullptr;
  flight.state_ = Flight::State::orphaned;
  flight.patience_.set_after(application_.options().timeouts.response);
  flight.resume();
}

void Lane::report_hang(const Flight& flight) {
  const record::CellStatus claim = flight.claim();
  record::Record record;
  const bool runs = record::Cells::running(claim.state) && has_living_claimer(flight);
  if (runs && record::read_record_head(flight.record_.view(), record))
    application_.report_hang(claim, record, loop_.now());
}

// So that the log of the site tells what its worker was doing when it died.
void Lane::report_lost(const Flight& flight) {
  record::Record record;
  if (record::read_record_head(flight.record_.view(), record))
    application_.report_lost(flight.claim().worker, record);
}

void Lane::refuse(Flight& flight) {
  AnswerSink* sink = flight.sink_;
  take_back(flight);
  release(flight);
  sink->on_unavailable();
}

Flight* Lane::find(std::uint64_t generation, std::uint32_t cell, std::uint32_t serial) {
  QueueSocket* queue = queue_of(generation);
  return queue == nullptr ? nullptr : queue->find(cell, serial);
}

QueueSocket* Lane::queue_of(std::uint64_t generation) {
  const auto is_it = [generation](const auto& queue) {
    return queue != nullptr && queue->generation()->number() == generation;
  };
  if (is_it(queue_)) return queue_.get();
  if (is_it(next_)) return next_.get();
  const auto found = std::find_if(past_.begin(), past_.end(), is_it);
  return found == past_.end() ? nullptr : found->get();
}

core::Buffer& Lane::read_buffer() {
  if (read_buffer_.room_bytes() < least_read_bytes) read_buffer_ = core::Buffer(read_block_bytes);
  return read_buffer_;
}

void Lane::report_liar(std::uint16_t worker) { application_.report_liar(worker); }

void Lane::report_answered(std::uint16_t worker) { application_.report_answered(worker); }

void Lane::report_due(std::uint16_t worker, std::uint64_t answers) {
  application_.report_due(worker, answers);
}

void Lane::report_worked(std::uint16_t worker) { application_.report_worked(worker); }

void Lane::report_warmed(unsigned status, std::string_view why) {
  if (next_ != nullptr) application_.report_warmed(next_->generation()->number(), status, why);
}

void Lane::use(std::shared_ptr<Generation> generation) {
  take_over(std::make_unique<QueueSocket>(loop_, std::move(generation)));
}

void Lane::stand_by(std::shared_ptr<Generation> generation) {
  drop();
  next_ = std::make_unique<QueueSocket>(loop_, std::move(generation));
}

void Lane::switch_over() {
  warm_up_.reset();
  if (next_ != nullptr) take_over(std::move(next_));
}

void Lane::drop() {
  warm_up_.reset();
  if (next_ != nullptr) leave_behind(std::move(next_));
}

void Lane::warm_up(const std::string& target) {
  warm_up_ = std::make_unique<WarmUp>(*this, application_.options().site, target);
  warm_up_->ask();
}

void Lane::take_over(std::unique_ptr<QueueSocket> queue) {
  std::unique_ptr<QueueSocket> earlier = std::exchange(queue_, std::move(queue));
  queue_->share_datagrams(takers_ == 1);
  if (earlier != nullptr) leave_behind(std::move(earlier));
  for (const auto& flight : flights_) flight->wake();  // some had a slot and no queue
}

// What its workers have begun they finish; the rest is theirs no more.
void Lane::leave_behind(std::unique_ptr<QueueSocket> queue) {
  for (Flight* flight : aloft(queue.get())) {
    if (take_back(*flight)) flight->sink_ != nullptr ? resend(*flight) : release(*flight);
  }
  const std::shared_ptr<Generation> generation = queue->generation();
  past_.push_back(std::move(queue));
  bury(past_.back().get());
  if (generation->finish()) application_.report_finished(generation->number());
}

// What the only taker has in hand and has not begun is for whoever takes from now on: that one may
// be at a long call.
void Lane::takers(std::size_t threads) {
  takers_ = threads;
  if (queue_ == nullptr) return;
  queue_->share_datagrams(threads == 1);
  if (threads == 0 || !queue_->has_shared()) return;
  for (Flight* flight : aloft(queue_.get())) {
    if (flight->state_ != Flight::State::sent || !take_back(*flight)) continue;
    flight->sink_ != nullptr ? resend(*flight) : release(*flight);
  }
}

bool Lane::in_the_air(const Flight& flight) {
  return flight.state_ == Flight::State::boarding || flight.state_ == Flight::State::sent ||
         flight.state_ == Flight::State::orphaned;
}

void Lane::worker_up(WorkerLink::Origin first, std::vector<core::Fd> links) {
  if (is_newer(first.worker)) newest_ = first.worker;
  std::erase_if(links_, [&](const auto& link) {  // of an earlier bearer of its number
    return link->worker() == first.worker && link->generation() != first.generation;
  });
  for (core::Fd& link : links) {
    links_.push_back(std::make_unique<WorkerLink>(*this, loop_, first, std::move(link)));
    ++first.thread;
  }
}

std::vector<Flight*> Lane::aloft(QueueSocket* queue) {
  std::vector<Flight*> flights;
  if (queue != nullptr) queue->for_each([&](Flight& flight) { flights.push_back(&flight); });
  return flights;
}

std::uint64_t Lane::generation_of(std::uint16_t worker) const {
  const auto found = std::find_if(links_.begin(), links_.end(),
                                  [worker](const auto& link) { return link->worker() == worker; });
  return found == links_.end() ? 0 : (*found)->generation();
}

// A worker may die between taking a record and claiming it, and nobody can know which: every
// record that is not claimed is taken back and sent anew.
void Lane::worker_gone(std::uint16_t worker) {
  const std::uint64_t generation = generation_of(worker);
  for (auto& link : links_) {
    if (link->worker() == worker) link->read_to_end();
  }
  close_links(worker);
  for (Flight* flight : aloft(queue_of(generation))) {
    if (flight->state_ != Flight::State::boarding) settle_after_death(*flight);
  }
}

void Lane::close_links(std::uint16_t worker) {
  for (const auto& flight : flights_) {
    const WorkerLink* stopped = flight->stopped_link_;
    if (stopped != nullptr && stopped->worker() == worker) flight->stopped_link_ = nullptr;
  }
  std::erase_if(links_, [worker](const auto& link) { return link->worker() == worker; });
}

// Where the cell says nonsense, a worker has lied, and it is as if the one that ran it had died.
void Lane::settle_after_death(Flight& flight) {
  if (!in_the_air(flight)) return;
  const bool unbegun = take_back(flight);
  if (unbegun && flight.sink_ != nullptr) return resend(flight);
  if (unbegun || !has_living_claimer(flight)) lost(flight);
}

// Numbers go up, and begin anew after the last. One far ahead is a lie.
bool Lane::is_newer(std::uint16_t worker) const {
  const int ahead = static_cast<std::int16_t>(worker - newest_);
  return ahead > 0 && ahead <= most_untold;
}

// A worker that this thread has not been told of yet may have begun its first record.
bool Lane::has_living_claimer(const Flight& flight) const {
  const record::CellStatus claim = flight.claim();
  const bool begun = record::Cells::running(claim.state) || claim.state == record::CellState::done;
  return begun && claim.serial == flight.serial_ &&
         (is_newer(claim.worker) || generation_of(claim.worker) != 0);
}

void Lane::lost(Flight& flight) {
  ++flight.deaths_;
  report_lost(flight);
  AnswerSink* sink = flight.sink_;
  if (sink != nullptr && sink->on_worker_lost(flight.deaths_)) return resend(flight);
  release(flight);
}

// To the generation in use; what tries the one that stands by stays there.
void Lane::resend(Flight& flight) {
  QueueSocket* queue = flight.queue_;
  flight.stopped_link_ = nullptr;
  queue->leave(flight);
  board(flight, queue == next_.get() ? *queue : *queue_);
  bury(queue);
}

void Lane::serve_in_loop(const record::Direct& direct) {
  loop_worker_ = std::make_unique<LoopWorker>(*this, loop_, direct);
  for (const auto& flight : flights_) flight->wake();
}

void Lane::unavailable() {
  std::vector<Flight*> flights;
  for (auto& flight : flights_) flights.push_back(flight.get());
  for (Flight* flight : flights) {
    AnswerSink* sink = flight->sink_;
    const bool is_ahead = flight->queue_ != nullptr && flight->queue_ == next_.get();
    if (sink != nullptr && !is_ahead && withdraw(*flight)) sink->on_unavailable();
  }
}

}  // namespace portico::backend
