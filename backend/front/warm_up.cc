#include "backend/front/warm_up.h"

#include <utility>

#include "backend/front/lane.h"
#include "backend/front/request_record.h"

namespace portico::backend {

WarmUp::WarmUp(Lane& lane, std::string host, std::string target)
    : lane_(lane), host_(std::move(host)), target_(std::move(target)) {}

WarmUp::~WarmUp() {
  if (flight_ != nullptr) flight_->abandon();
}

void WarmUp::ask() {
  flight_ = lane_.submit_ahead(*this);
  if (flight_ == nullptr) fail("it could not be asked");
}

bool WarmUp::write_record(Flight& flight) {
  return static_cast<bool>(
      write_probe(flight, {target_, host_, Purpose::warm_up}, lane_.loop().index()));
}

void WarmUp::on_abort(record::AbortReason) { fail("it failed"); }

bool WarmUp::on_worker_lost(unsigned) {
  fail("its worker died");
  return false;
}

void WarmUp::on_unavailable() { fail("it could not be asked"); }

void WarmUp::fail(std::string_view why) {
  status_ = 0;
  conclude(why);
}

void WarmUp::conclude(std::string_view why) {
  flight_ = nullptr;
  if (!std::exchange(told_, true)) lane_.report_warmed(status_, why);
}

}  // namespace portico::backend
