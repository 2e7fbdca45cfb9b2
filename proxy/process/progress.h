// Progress: hears how an order that takes time goes on, and what came of it.
//
// Given to a Service with the order, and owned by it from then on; the supervisor's thread. Who
// asked may have gone meanwhile: that is the implementation's matter.
#pragma once

#include <cstdint>
#include <string_view>

namespace portico::process {

class Progress {
 public:
  enum class Outcome : std::uint8_t { done, failed };

  virtual ~Progress() = default;
  virtual void said(std::string_view line) = 0;
  /// Nothing more will be said. why  of failed: a sentence
  virtual void ended(Outcome outcome, std::string_view why) = 0;
};

}  // namespace portico::process
