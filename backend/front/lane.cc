#include "backend/front/lane.h"

#include <algorithm>

#include "backend/front/application.h"

namespace portico::backend {
namespace {

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

void Flight::abandon() { lane_.abandon(*this); }

void Flight::resume() {
  if (stopped_link_ != nullptr) std::exchange(stopped_link_, nullptr)->resume();
}

void Flight::advance() {
  if (state_ == State::waiting && ticket_.admitted()) lane_.board(*this);
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

void Lane::board(Flight& flight) {
  if (queue_ == nullptr || !queue_->board(flight)) {
    AnswerSink* sink = flight.sink_;
    release(flight);
    return sink->on_unavailable();
  }
  flight.state_ = Flight::State::boarding;
  if (!flight.sink_->write_record(flight)) return release(flight);
  queue_->put(flight);
}

void Lane::release(Flight& flight) {
  if (flight.state_ == Flight::State::free) return;
  if (flight.generation_ != nullptr && queue_ != nullptr) queue_->leave(flight);
  flight.resume();
  flight.ticket_.leave();
  flight.generation_.reset();
  flight.sink_ = nullptr;
  flight.body_.reset();
  flight.record_.clear();
  flight.record_.trim(kept_record_bytes);
  flight.state_ = Flight::State::free;
  flight.unlink();
  free_.push_back(&flight);
}

// A record that no worker has begun is taken back for good; one that runs is cancelled, and its
// flight goes on as an orphan.
void Lane::abandon(Flight& flight) {
  const bool unbegun = flight.state_ == Flight::State::waiting ||
                       flight.state_ == Flight::State::boarding ||
                       flight.generation_->cells().revoke(flight.cell_, flight.serial_);
  if (flight.state_ == Flight::State::boarding)
    flight.generation_->cells().revoke(flight.cell_, flight.serial_);
  if (unbegun) return release(flight);
  flight.generation_->cells().cancel(flight.cell_, flight.serial_);
  flight.sink_ = nullptr;
  flight.state_ = Flight::State::orphaned;
  flight.resume();
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
  const std::vector<Flight*> flights = aloft();
  for (auto& link : links_) link->read_to_end();
  links_.clear();
  queue_ = std::make_unique<QueueSocket>(loop_, std::move(generation));
  for (Flight* flight : flights) {
    if (!in_the_air(*flight)) continue;
    if (flight->generation_->cells().revoke(flight->cell_, flight->serial_)) {
      resend(*flight);
    } else {
      lost(*flight);
    }
  }
}

bool Lane::in_the_air(const Flight& flight) {
  return flight.state_ == Flight::State::sent || flight.state_ == Flight::State::orphaned;
}

void Lane::worker_up(std::uint16_t worker, std::vector<core::Fd> links) {
  std::uint8_t thread = 0;
  for (core::Fd& link : links) {
    links_.push_back(std::make_unique<WorkerLink>(*this, loop_, worker, thread++, std::move(link)));
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
  for (Flight* flight : aloft()) settle_after_death(*flight, worker);
  std::erase_if(links_, [worker](const auto& link) { return link->worker() == worker; });
}

void Lane::settle_after_death(Flight& flight, std::uint16_t worker) {
  if (!in_the_air(flight)) return;
  const record::CellStatus claim = flight.claim();
  const bool begun = record::Cells::running(claim.state) || claim.state == record::CellState::done;
  if (begun) {
    if (claim.worker == worker) lost(flight);
    return;
  }
  if (flight.generation_->cells().revoke(flight.cell_, flight.serial_)) resend(flight);
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

void Lane::unavailable() {
  for (auto& flight : flights_) {
    if (flight->state_ != Flight::State::waiting) continue;
    AnswerSink* sink = flight->sink_;
    release(*flight);
    sink->on_unavailable();
  }
}

}  // namespace portico::backend
