// The part of ApplicationService that deals with workers: from the fork to the end.
#include <utility>

#include "backend/host/application_service.h"
#include "backend/host/hangs.h"
#include "proxy/process/session.h"

namespace portico::backend {
namespace {

using record::ControlMessage;

// From the end of a worker's descriptors to that of its process, which follows at once.
constexpr auto deaf_grace = std::chrono::seconds(2);

}  // namespace

void ApplicationService::hear_workers() {
  workers_.for_each([this](Worker& worker) { hear_worker(worker); });
}

void ApplicationService::hear_worker(Worker& worker) {
  for (int i = 0; i < messages_a_turn; ++i) {
    auto received = worker.control->receive();
    if (!received) return expect_end(worker);
    if (!received->has_value()) return;
    if (const auto heard = record::parse_control((*received)->text)) on_worker(worker, *heard);
  }
  wake();
}

// Its end closes its control socket; but an application may have closed all that was open, and then
// threads that wait for requests wait for ever.
void ApplicationService::expect_end(Worker& worker) {
  if (worker.is_deaf || worker.state != Worker::State::ready) return;
  worker.is_deaf = true;
  hangs_.expect(worker.number, loop().now() + deaf_grace);
}

void ApplicationService::on_worker(Worker& worker, const ControlMessage& heard) {
  if (heard.verb == record::verb::ready) on_ready(worker);
  if (heard.verb == record::verb::leaving) on_leaving(worker);
  if (heard.verb == record::verb::failed)
    on_import_failed(worker, heard.text("reason").value_or("it did not say why"));
}

void ApplicationService::on_ready(Worker& worker) {
  if (worker.state != Worker::State::starting) return;
  worker.state = Worker::State::ready;
  worker.since = loop().now();
  hangs_.forget(worker.number);
  if (!is_known_to_front(worker)) return;
  front_.ready(worker);
  if (recycling_.looks_at_memory()) front_.watch(worker.number);
  if (is_next(worker.generation)) return deploy_->on_worker_ready();
  if (!is_present(worker)) return;
  served_ = current_->application();
  has_served_ = true;
  become(State::ready);
  companions_.begin(*served_);
  fill();
}

// It takes no more records, and its successor starts.
void ApplicationService::on_leaving(Worker& worker) {
  if (worker.state == Worker::State::leaving) return;
  worker.state = Worker::State::leaving;
  if (!hangs_.hangs(worker.number))
    hangs_.expect(worker.number, loop().now() + application_.timeouts.response + leavers_grace);
  if (is_known_to_front(worker)) front_.leaving(worker);
  if (!is_present(worker)) return;
  note_missing();
  replace(worker);
}

// Its death is told already; this is what it was at.
void ApplicationService::on_lost(const ControlMessage& heard) {
  say(core::Level::warning, "worker " + std::to_string(worker_of(heard)) + " had begun " +
                                describe_request(heard) + " when it ended");
}

void ApplicationService::on_liar(const Worker& worker) {
  say(core::Level::error,
      "worker " + std::to_string(worker.number) + " sent what is not an answer; it is killed");
  kill_worker(worker);
}

// At once where the one that left had come up well; else deaths in a row make the wait longer.
void ApplicationService::replace(const Worker& worker) {
  if (stopping_ || current_ == nullptr) return;
  if (worker.has_answered) {
    worker_backoff_.proved();
    retry_.clear();
    return fill();
  }
  retry_.set_after(worker_backoff_.died(loop().now()));
}

// As many workers as there should be, once the application is imported and there is a front.
void ApplicationService::fill() {
  const bool able = !stopping_ && front_.present() && current_ != nullptr &&
                    current_->state() == Release::State::imported;
  if (!able || retry_.is_set()) return;
  while (wants_worker()) {
    const std::size_t before = workers_.count();
    fork_worker(*current_);
    if (workers_.count() == before) return retry_.set_after(worker_backoff_.died(loop().now()));
  }
}

// Those that leave, and those of other code, count too: all together there is one more than usual.
// The first one is not held up by them; where it has to import, it shows first whether that can be
// done.
bool ApplicationService::wants_worker() {
  const unsigned serving = workers_.serving(current_->number());
  if (!current_->preloads() && serving > 0 && !any_ready()) return false;
  return serving < wanted() && (serving == 0 || workers_.count() <= application_.workers);
}

void ApplicationService::fork_worker(Release& release) {
  auto ends = make_worker_ends(application_.threads, front_.front_threads());
  if (!ends) return say(core::Level::error, core::describe(ends.error()));
  const std::uint16_t number = workers_.next_number();
  Worker& worker =
      workers_.add(number, release.number(), loop().now(),
                   std::make_unique<net::Channel>(*this, std::move(ends->our_control)));
  worker.zygote = release.pid();
  worker.most_answers = recycling_.begin(number);
  worker_backoff_.started(worker.since);
  hangs_.expect(number, worker.since + application_.timeouts.start);
  front_.worker(worker, application_.threads, *ends);
  release.zygote().fork(number, *ends);
}

// A worker that came to a bad end leaves nothing behind: its children would go on as they did, and
// use up what the site's user may have.
void ApplicationService::end_leftovers(const Worker& worker) const {
  process::kill_group(worker.zygote, worker.pid);
}

void ApplicationService::worker_gone(std::uint16_t number, std::string_view why) {
  Worker* found = workers_.find(number);
  if (found == nullptr) return;
  hear_worker(*found);  // its last words come before its end
  const Worker worker = std::move(*found);
  workers_.remove(number);
  hangs_.forget(number);
  recycling_.forget(number);
  const bool expected = worker.state == Worker::State::leaving;
  if (!expected)
    say(core::Level::warning, "worker " + std::to_string(number) + " " + std::string(why));
  if (is_known_to_front(worker)) front_.gone(number, why);
  if (is_next(worker.generation)) deploy_->on_worker_gone(why);
  forget_past();
  if (stopping_) return supervisor_.wake();
  if (!expected && is_import_gone(worker)) return import_gone(worker, why);
  if (is_present(worker)) {
    note_missing();
    if (!expected) replace(worker);
  }
  fill();
  wake();
}

}  // namespace portico::backend
