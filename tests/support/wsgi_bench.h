// WsgiBench: one Application in a loop of the test's, with what the supervisor would tell it, and
// fake workers at the other end. By events where frames are read; by hand where the clock is moved.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/front/application.h"
#include "tests/support/fake_worker.h"
#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

namespace portico::tests {

/// Gets an answer and writes down what it is told.
class RecordingSink final : public backend::AnswerSink {
 public:
  bool write_record(backend::Flight& to) override {
    ++written;
    if (refuses) return false;
    record::Record record;
    record.cell = to.cell();
    record.serial = to.serial();
    record.method = method;
    record.target = record.path_info = "/";
    record.request_id = name;
    record.client_address = "192.0.2.1";
    record.server_name = "a.example";
    record::RecordWriter writer(to.record());
    writer.begin(record);
    if (field_bytes != 0) writer.field("x-filler", std::string(field_bytes, 'f'));
    if (body) to.body() = core::Fd(::dup(body.get()));
    return writer.finish();
  }
  void on_interim(const record::AnswerHead& head) override {
    log += "interim " + std::to_string(head.status) + "\n";
  }
  void on_head(const record::AnswerHead& head) override {
    log += "head " + std::to_string(head.status) + "\n";
  }
  void on_data(core::Slice bytes) override {
    data += bytes.view();
    ++pieces;
  }
  void on_file(core::FileRange range) override {
    log += "file " + std::to_string(range.offset) + "+" + std::to_string(range.length) + "\n";
  }
  void on_end() override { leave("end"); }
  void on_abort(record::AbortReason reason) override {
    leave("abort " + std::to_string(static_cast<int>(reason)));
  }
  bool on_worker_lost(unsigned deaths) override {
    if (method == "GET" && deaths < 2) {
      log += "again\n";
      return true;
    }
    leave("lost " + std::to_string(deaths));
    return false;
  }
  void on_unavailable() override { leave("unavailable"); }
  bool full() const override { return is_full; }

  std::string name = "one";
  std::string method = "GET";
  std::size_t field_bytes = 0;
  core::Fd body;
  bool refuses = false;
  bool is_full = false;
  backend::Flight* flight = nullptr;
  int written = 0;
  int pieces = 0;
  std::string log;
  std::string data;

 private:
  void leave(const std::string& word) {
    log += word + "\n";
    flight = nullptr;
  }
};

class WsgiBench {
 public:
  static constexpr std::size_t cells = 64;

  explicit WsgiBench(core::Loop::Drive drive = core::Loop::Drive::by_events,
                     conf::Application options = application())
      : loop(drive), spool(spool_options()), app_options(std::move(options)) {
    app.emplace(app_options, 1, spool, [this](std::string_view text) { told.emplace_back(text); });
    app->attach(loop);
  }
  ~WsgiBench() { app->detach(loop); }
  WsgiBench(const WsgiBench&) = delete;
  WsgiBench& operator=(const WsgiBench&) = delete;

  static conf::Application application() {
    conf::Application options;
    options.name = options.site = "a.example";
    options.limits.queue = 100;
    return options;
  }
  conf::Spool spool_options() const {
    conf::Spool options;
    options.directory = folder.file("");
    return options;
  }

  /// The supervisor speaks.
  void hear(std::string_view text, std::vector<core::Fd> fds = {}) {
    app->hear(text, std::move(fds), loop.now());
    loop.turn();
  }
  /// A queue and cells of a new generation.
  FakeChannels& open_queue(int send_buffer = 0, std::size_t count = cells,
                           const std::string& more = "") {
    channels.push_back(std::make_unique<FakeChannels>(count, send_buffer));
    std::vector<core::Fd> fds;
    fds.push_back(std::move(channels.back()->front_queue));
    fds.emplace_back(::fcntl(channels.back()->cells_fd.get(), F_DUPFD_CLOEXEC, 3));
    hear("queue generation=" + std::to_string(channels.size()) + more, std::move(fds));
    return *channels.back();
  }
  /// The queue and cells of new code; workers that are started from here on are its.
  FakeChannels& stand_by() { return open_queue(0, cells, " standby=1"); }
  /// A worker that is ready.
  FakeWorker& start_worker(std::uint16_t number, unsigned threads = 1) {
    if (channels.empty()) open_queue();
    workers.push_back(std::make_unique<FakeWorker>(*channels.back(), number));
    std::vector<core::Fd> fronts;
    for (unsigned i = 0; i < threads; ++i) {
      auto [front, worker] = unix_pair();
      ::fcntl(worker.get(), F_SETFL, 0);  // a worker's ends block
      fronts.push_back(std::move(front));
      workers.back()->ends.push_back(std::move(worker));
    }
    const std::string name = " worker=" + std::to_string(number);
    hear("worker" + name + " generation=" + std::to_string(channels.size()) +
             " threads=" + std::to_string(threads) + " first=0",
         std::move(fronts));
    hear("ready" + name + " pid=100");
    hear("state state=ready");
    return *workers.back();
  }
  /// Its process has ended.
  void kill_worker(FakeWorker& worker) {
    for (core::Fd& end : worker.ends) end.reset();
    hear("gone worker=" + std::to_string(worker.number()) + " why=killed");
  }

  backend::Lane& lane() { return app->lane(0); }
  void submit(RecordingSink& sink) {
    sink.flight = lane().submit(sink);
    loop.turn();
  }
  /// Lets the loop run, with its descriptors, until this holds.
  template <typename Holds>
  bool until(Holds&& holds) {
    Agent* self = nullptr;
    Agent look(loop, [&] { holds() ? loop.stop() : self->wake(); });
    self = &look;
    look.wake();
    return run_loop(loop);
  }

  /// Lets the loop look at its descriptors a few times.
  void settle() {
    int looks = 0;
    until([&] { return ++looks > 50; });  // 16 rounds of wakes a look
  }

  core::Loop loop;
  ScratchDirectory folder;
  backend::Spool spool;
  conf::Application app_options;
  std::vector<std::string> told;
  std::vector<std::unique_ptr<FakeChannels>> channels;
  std::vector<std::unique_ptr<FakeWorker>> workers;
  std::optional<backend::Application> app;
};

}  // namespace portico::tests
