// WarmUp: one request asked of new code before it takes over, through its own queue.
//
// Owned by the Lane of front thread 0; its thread. Asks once and tells the application what came of
// it: the supervisor decides what that means, and how long it waits.
#pragma once

#include <string>

#include "backend/front/flight.h"

namespace portico::backend {

class WarmUp final : public AnswerSink {
 public:
  /// target  a path with an optional query, as the application sees it
  WarmUp(Lane& lane, std::string host, std::string target);
  WarmUp(const WarmUp&) = delete;
  WarmUp& operator=(const WarmUp&) = delete;
  ~WarmUp();

  void ask();

 private:
  bool write_record(Flight& flight) override;
  void on_interim(const record::AnswerHead&) override {}
  void on_head(const record::AnswerHead& head) override { status_ = head.status; }
  void on_data(core::Slice) override {}
  void on_file(core::FileRange) override {}
  void on_end() override { conclude(""); }
  void on_abort(record::AbortReason) override;
  bool on_worker_lost(unsigned deaths) override;
  void on_unavailable() override;
  bool full() const override { return false; }

  void fail(std::string_view why);
  void conclude(std::string_view why);

  Lane& lane_;
  std::string host_;
  std::string target_;
  Flight* flight_ = nullptr;
  unsigned status_ = 0;
  bool told_ = false;
};

}  // namespace portico::backend
