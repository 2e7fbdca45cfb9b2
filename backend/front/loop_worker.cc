#include "backend/front/loop_worker.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/front/lane.h"

namespace portico::backend {

using record::FrameEvent;

LoopWorker::LoopWorker(Lane& lane, core::Loop& loop, const record::Direct& direct)
    : Active(loop), lane_(lane), direct_(direct) {}

// The cells are cancelled, so that one more step is the last but close().
LoopWorker::~LoopWorker() {
  for (const auto& call : calls_) {
    if (call->flight != nullptr)
      call->flight->generation_->cells().cancel(call->flight->cell_, call->flight->serial_);
    while (call->rest != nullptr) call->rest = direct_.resume(call->rest).rest;
  }
}

void LoopWorker::run(Flight& flight) {
  auto call = std::make_unique<Call>();
  call->flight = &flight;
  flight.generation_->cells().send(flight.cell_, flight.serial_);
  flight.state_ = Flight::State::sent;
  flight.record_.append(std::exchange(flight.inline_body_, {}));
  const std::string_view record = flight.record_.view();
  take(*call, direct_.begin(record.data(), record.size(), flight.body_.release()));
  if (call->rest == nullptr) return;
  calls_.push_back(std::move(call));
  wake();
}

void LoopWorker::advance() {
  bool goes_on = false;
  for (const auto& call : calls_) {
    if (must_wait(*call)) continue;
    take(*call, direct_.resume(call->rest));
    goes_on = goes_on || call->rest != nullptr;
  }
  std::erase_if(calls_, [](const auto& call) { return call->rest == nullptr; });
  if (goes_on) wake();
}

// Its sink's room wakes us, and so does its leaving.
bool LoopWorker::must_wait(const Call& call) {
  Flight* flight = call.flight;
  if (flight == nullptr || flight->sink_ == nullptr || !flight->sink_->full()) return false;
  if (!flight->room_.aimed()) flight->room_.aim(*this);
  return true;
}

// Where the engine could do nothing at all, there is no end either.
void LoopWorker::take(Call& call, const record::DirectAnswer& answer) {
  call.rest = answer.rest;
  if (answer.descriptor >= 0) call.reader.offer_descriptor(answer.descriptor);
  deliver(call, {answer.frames, answer.size});
  if (call.rest == nullptr && call.flight != nullptr) deliver_end(call, FrameEvent::bad);
}

void LoopWorker::deliver(Call& call, std::string_view frames) {
  for (;;) {
    const FrameEvent event = call.reader.next(frames);
    if (event == FrameEvent::more) return;
    if (event == FrameEvent::bad) return deliver_end(call, event);
    deliver(call, event);
  }
}

void LoopWorker::deliver(Call& call, FrameEvent event) {
  if (event == FrameEvent::end || event == FrameEvent::abort) return deliver_end(call, event);
  AnswerSink* sink = call.flight == nullptr ? nullptr : call.flight->sink_;
  if (event == FrameEvent::file) {
    auto file = std::make_shared<core::Fd>(call.reader.take_descriptor());
    const record::FilePayload range = call.reader.file();
    if (sink != nullptr) sink->on_file({std::move(file), range.offset, range.length});
  } else if (sink != nullptr && event == FrameEvent::data) {
    sink->on_data(keep(call.reader.data()));
  } else if (sink != nullptr && event == FrameEvent::head) {
    sink->on_head(call.reader.head());
  } else if (sink != nullptr) {
    sink->on_interim(call.reader.head());
  }
}

void LoopWorker::deliver_end(Call& call, FrameEvent event) {
  Flight* flight = std::exchange(call.flight, nullptr);
  if (flight == nullptr) return;
  if (flight->sink_ != nullptr && event == FrameEvent::end) {
    flight->sink_->on_end();
  } else if (flight->sink_ != nullptr) {
    flight->sink_->on_abort(event == FrameEvent::abort ? call.reader.abort_reason()
                                                       : record::AbortReason::engine_error);
  }
  lane_.release(*flight);
}

// The engine's memory is its own: a copy, in the block that the lane's links would read into.
core::Slice LoopWorker::keep(std::string_view bytes) {
  core::Buffer& buffer = lane_.read_buffer();
  if (bytes.size() > buffer.room_bytes()) return core::Slice::copy(bytes);
  std::memcpy(buffer.room(), bytes.data(), bytes.size());
  buffer.grew(bytes.size());
  return buffer.take();
}

}  // namespace portico::backend
