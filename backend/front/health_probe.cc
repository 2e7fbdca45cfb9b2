#include "backend/front/health_probe.h"

#include <string>

#include "backend/front/request_record.h"
#include "proxy/core/log.h"

namespace portico::backend {

HealthProbe::HealthProbe(core::Loop& loop, Application& application)
    : Active(loop),
      application_(application),
      options_(*application.options().health),
      timer_(*this) {}

HealthProbe::~HealthProbe() {
  if (flight_ != nullptr) flight_->abandon();
}

void HealthProbe::start() { timer_.set_after(options_.interval); }

void HealthProbe::advance() {
  if (!timer_.due()) return;
  if (flight_ == nullptr) return ask();
  std::exchange(flight_, nullptr)->abandon();
  conclude(false, "no answer in time");
}

void HealthProbe::ask() {
  timer_.set_after(options_.interval);
  if (application_.state() != Application::State::ready) return;
  status_ = 0;
  flight_ = application_.lane(loop().index()).submit(*this, Asker::probe);
  if (flight_ != nullptr) timer_.set_after(options_.timeout);
}

bool HealthProbe::write_record(Flight& flight) {
  const std::string& host = options_.host.empty() ? application_.options().site : options_.host;
  if (write_probe(flight, {options_.path, host, Purpose::health}, loop().index())) return true;
  flight_ = nullptr;
  return false;
}

void HealthProbe::on_head(const record::AnswerHead& head) { status_ = head.status; }

void HealthProbe::on_end() {
  const auto status = static_cast<unsigned>(status_);
  const bool good = status >= options_.status_first && status <= options_.status_last;
  conclude(good, good ? "" : "it answered " + std::to_string(status));
}

void HealthProbe::on_abort(record::AbortReason) { conclude(false, "it failed"); }

bool HealthProbe::on_worker_lost(unsigned) {
  conclude(false, "its worker died");
  return false;
}

void HealthProbe::conclude(bool good, std::string_view why) {
  flight_ = nullptr;
  timer_.set_after(options_.interval);
  if (good == application_.healthy()) {
    in_a_row_ = 0;
    return;
  }
  if (++in_a_row_ >= (good ? options_.rise : options_.fall)) turn(good, why);
}

void HealthProbe::turn(bool healthy, std::string_view why) {
  in_a_row_ = 0;
  application_.set_healthy(healthy);
  std::string text = application_.options().name + ": health " + options_.path;
  text += healthy ? " is well again" : " is not well: " + std::string(why);
  core::log(healthy ? core::Level::info : core::Level::warning, text);
}

}  // namespace portico::backend
