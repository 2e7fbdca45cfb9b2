#include "proxy/run/front_reports.h"

#include "proxy/core/text.h"

namespace portico::run {

std::uint64_t FrontReports::ask(core::Bell::Hearer& hearer, core::Active& reader) {
  const bool may_ask = asked_ - answered_ < most_open;
  if (may_ask && !ask_(asked_ + 1)) return 0;
  if (may_ask) ++asked_;
  bell_.await(hearer, reader);
  return asked_;
}

const FrontReport* FrontReports::answer(std::uint64_t serial) const {
  return latest_ && serial != 0 && answered_ >= serial ? &*latest_ : nullptr;
}

// Serials that were not asked are nonsense of a front that lies.
void FrontReports::answered(std::string_view serial, std::string_view text) {
  const std::uint64_t number = core::decimal(serial).value_or(0);
  if (number <= answered_ || number > asked_) return;
  answered_ = number;
  latest_ = parse_report(text);
  bell_.ring();
}

// What it was asked stays without an answer; the next front starts with a clean sheet.
void FrontReports::front_ended() {
  answered_ = asked_;
  latest_.reset();
}

}  // namespace portico::run
