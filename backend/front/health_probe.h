// HealthProbe: asks an application for a path at intervals, as a client would, and judges the
// answer.
//
// One per application with `health`, in front thread 0, owned by Applications. It skips its turn
// while the application has no worker ready, so that it wakes none that sleeps. A change of the
// verdict is logged and told to the Application.
#pragma once

#include "backend/front/application.h"
#include "backend/front/flight.h"
#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"

namespace portico::backend {

class HealthProbe final : public core::Active, public AnswerSink {
 public:
  HealthProbe(core::Loop& loop, Application& application);
  ~HealthProbe() override;

  void start();
  void advance() override;

 private:
  bool write_record(Flight& flight) override;
  void on_interim(const record::AnswerHead&) override {}
  void on_head(const record::AnswerHead& head) override;
  void on_data(core::Slice) override {}
  void on_file(core::FileRange) override {}
  void on_end() override;
  void on_abort(record::AbortReason reason) override;
  bool on_worker_lost(unsigned deaths) override;
  void on_unavailable() override { conclude(false, "it is not running"); }
  bool full() const override { return false; }

  void ask();
  void conclude(bool good, std::string_view why);
  void turn(bool healthy, std::string_view why);

  Application& application_;
  const conf::Health& options_;
  Flight* flight_ = nullptr;
  int status_ = 0;
  unsigned in_a_row_ = 0;  // results that speak against the present verdict
  core::Timer timer_;      // the next question, or the answer's deadline
};

}  // namespace portico::backend
