#include "proxy/run/control_status.h"

#include "proxy/core/timer.h"
#include "proxy/process/memory.h"
#include "proxy/run/status.h"
#include "proxy/run/status_json.h"
#include "proxy/run/status_text.h"

namespace portico::run {
namespace {

// A front that needs longer than this to answer is itself the news.
constexpr auto front_time = std::chrono::seconds(1);

class StatusTask final : public serve::Task, public core::Active {
 public:
  explicit StatusTask(const ControlCall& call)
      : Active(call.exchange.loop()),
        portico_(call.portico),
        exchange_(call.exchange),
        access_(call.access),
        is_text_(parameter(call.query, "format") == "text"),
        colours_(parameter(call.query, "colours") == "yes" ? Colours::yes : Colours::no),
        deadline_(*this) {
    serial_ = portico_.front_reports().ask(hearer_, *this);
    deadline_.set_after(front_time);
    wake();
  }

  void advance() override {
    if (answered_) return;
    const FrontReport* front = portico_.front_reports().answer(serial_);
    if (front == nullptr && serial_ != 0 && !deadline_.due()) return;
    answered_ = true;
    answer(front);
  }

 private:
  void answer(const FrontReport* front) {
    const Status status = status_now(front);
    http::ResponseHead head;
    head.fields.add("content-type",
                    is_text_ ? "text/plain; charset=utf-8" : "application/json; charset=utf-8");
    head.fields.add("portico-state", name(status.standing));
    const std::string text = is_text_ ? status_text(status, colours_) : status_json(status);
    exchange_.respond(std::move(head), std::make_unique<http::ReadyBody>(core::Slice::copy(text)));
  }

  Status status_now(const FrontReport* front) const {
    Knowledge known{portico_.config(), {}, front, portico_.front_pid(), portico_.stopping(),
                    portico_.age()};
    for (const auto& service : portico_.services()) known.services.push_back(service->report());
    return status_of(
        known, [this](const std::string& site) { return access_.to_site(site); },
        process::memory_of);
  }

  Controlled& portico_;
  serve::Exchange& exchange_;
  const ControlAccess access_;
  const bool is_text_;
  const Colours colours_;
  std::uint64_t serial_ = 0;
  bool answered_ = false;
  core::Bell::Hearer hearer_;
  core::Timer deadline_;
};

}  // namespace

std::unique_ptr<serve::Task> answer_status(const ControlCall& call) {
  return std::make_unique<StatusTask>(call);
}

}  // namespace portico::run
