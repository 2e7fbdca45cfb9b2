// FrontReports: asks the front what it knows, for those who answer for status.
//
// Owned by the supervisor; its thread. A front that does not answer harms nobody: questions are
// few, and whoever asks waits no longer than it wants.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "proxy/core/bell.h"
#include "proxy/run/front_report.h"

namespace portico::run {

class FrontReports {
 public:
  /// ask  sends the question of that serial to the front; false: there is none
  explicit FrontReports(std::function<bool(std::uint64_t serial)> ask) : ask_(std::move(ask)) {}

  /// Asks. `reader` is woken when there may be an answer() to the serial returned; 0: there is no
  /// front to ask.
  std::uint64_t ask(core::Bell::Hearer& hearer, core::Active& reader);
  /// The answer to that question or to a later one; null: none (yet). Valid until the next answer.
  const FrontReport* answer(std::uint64_t serial) const;

  void answered(std::string_view serial, std::string_view text);  ///< the front did
  void front_ended();

 private:
  // A front that has not answered so many is not asked any more until it does.
  static constexpr std::uint64_t most_open = 16;

  std::function<bool(std::uint64_t)> ask_;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::optional<FrontReport> latest_;
  core::Bell bell_;
};

}  // namespace portico::run
