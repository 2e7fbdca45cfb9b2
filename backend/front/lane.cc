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

Flight* Lane::submit(AnswerSink& sink) {
  Flight& flight = take_flight();
  if (!flight.ticket_.enter(application_.admission())) {
    free_.push_back(&flight);
    return nullptr;
  }
  flight.sink_ = &sink;
  flight.deaths_ = 0;
  flight.state_ = Flight::State::waiting;
  if (flight.ticket_.admitted()) flight.wake();
  return &flight;
}

// A slot may be had before this thread has been told of the queue: use() goes on from here.
void Lane::board(Flight& flight) {
  if (queue_ == nullptr || (application_.options().threads == 0 && loop_worker_ == nullptr)) return;
  if (!queue_->board(flight)) {
    AnswerSink* sink = flight.sink_;
    release(flight);
    return sink->on_unavailable();
  }
  flight.state_ = Flight::State::boarding;
  if (!flight.sink_->write_record(flight)) return release(flight);
  loop_worker_ != nullptr ? loop_worker_->run(flight) : queue_->put(flight);
}

void Lane::release(Flight& flight) {
  if (flight.state_ == Flight::State::free) return;
  if (flight.generation_ != nullptr && queue_ != nullptr) queue_->leave(flight);
  flight.resume();
  flight.ticket_.leave();
  flight.patience_.clear();
  flight.generation_.reset();
  flight.sink_ = nullptr;
  flight.body_.reset();
  flight.record_.clear();
  flight.record_.trim(kept_record_bytes);
  flight.state_ = Flight::State::free;
  flight.unlink();
  free_.push_back(&flight);
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
  if (runs && record::read_record(flight.record_.view(), record))
    application_.report_hang(claim, record, loop_.now());
}

void Lane::refuse(Flight& flight) {
  AnswerSink* sink = flight.sink_;
  take_back(flight);
  release(flight);
  sink->on_unavailable();
}

Flight* Lane::find(std::uint32_t cell, std::uint32_t serial) {
  return queue_ == nullptr ? nullptr : queue_->find(cell, serial);
}

core::Buffer& Lane::read_buffer() {
  if (read_buffer_.room_bytes() < least_read_bytes) read_buffer_ = core::Buffer(read_block_bytes);
  return read_buffer_;
}

void Lane::report_liar(std::uint16_t worker) { application_.report_liar(worker); }

void Lane::report_answered(std::uint16_t worker) { application_.report_answered(worker); }

// The supervisor replaces a channel only after the workers of the old one have ended: what they had
// begun is lost, the rest goes into the new queue.
void Lane::use(std::shared_ptr<Generation> generation) {
  const std::vector<std::unique_ptr<WorkerLink>> old = std::exchange(links_, {});
  for (const auto& link : old) link->read_to_end();
  const std::vector<Flight*> flights = aloft();
  queue_ = std::make_unique<QueueSocket>(loop_, std::move(generation));
  for (Flight* flight : flights) settle_after_death(*flight);
  for (const auto& flight : flights_) flight->wake();
}

bool Lane::in_the_air(const Flight& flight) {
  return flight.state_ == Flight::State::boarding || flight.state_ == Flight::State::sent ||
         flight.state_ == Flight::State::orphaned;
}

void Lane::worker_up(std::uint16_t worker, unsigned first, std::vector<core::Fd> links,
                     const AnswerCount& answers) {
  auto thread = static_cast<std::uint8_t>(first);
  if (is_newer(worker)) newest_ = worker;
  for (core::Fd& link : links) {
    links_.push_back(
        std::make_unique<WorkerLink>(*this, loop_, worker, thread++, std::move(link), answers));
  }
}

std::vector<Flight*> Lane::aloft() {
  std::vector<Flight*> flights;
  if (queue_ != nullptr) queue_->for_each([&](Flight& flight) { flights.push_back(&flight); });
  return flights;
}

// A worker may die between taking a record and claiming it, and nobody can know which: every
// record that is not claimed is taken back and sent anew.
void Lane::worker_gone(std::uint16_t worker) {
  for (auto& link : links_) {
    if (link->worker() == worker) link->read_to_end();
  }
  close_links(worker);
  for (Flight* flight : aloft()) {
    if (flight->state_ != Flight::State::boarding) settle_after_death(*flight);
  }
}

void Lane::close_links(std::uint16_t worker) {
  for (Flight* flight : aloft()) {
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
         (is_newer(claim.worker) ||
          std::any_of(links_.begin(), links_.end(),
                      [&](const auto& link) { return link->worker() == claim.worker; }));
}

void Lane::lost(Flight& flight) {
  ++flight.deaths_;
  AnswerSink* sink = flight.sink_;
  if (sink != nullptr && sink->on_worker_lost(flight.deaths_)) return resend(flight);
  release(flight);
}

void Lane::resend(Flight& flight) {
  flight.stopped_link_ = nullptr;
  queue_->leave(flight);
  board(flight);
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
    if (sink != nullptr && withdraw(*flight)) sink->on_unavailable();
  }
}

}  // namespace portico::backend
