// RecentLines: the last lines that the processes of a site wrote, for `portico logs`.
//
// One per site, shared by its services; the supervisor's thread. Bounded: the oldest lines give way
// to the newest. A reader holds a position, the number of bytes since the start, so that one that
// is slow learns that it has missed something instead of holding up anybody.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/core/bell.h"

namespace portico::process {

class RecentLines {
 public:
  /// Some 2,000 lines; a Django traceback has 40.
  static constexpr std::size_t capacity = 256 * 1024;

  /// A line without its end, as it is to be shown: controls must be escaped.
  void append(std::string_view line);
  /// "2026-01-31T12:00:00.123Z line", whatever bytes stand in it.
  void append_with_time(std::string_view line);

  std::uint64_t begin() const { return end_ - text_.size(); }  ///< of the oldest line kept
  std::uint64_t end() const { return end_; }                   ///< behind the newest
  /// Where the last `lines` lines begin.
  std::uint64_t tail(std::size_t lines) const;
  /// What is kept from `position` on, at most `room` bytes; it may begin and end within a line.
  /// `position` must not lie before begin(). Valid until the next append().
  std::string_view from(std::uint64_t position, std::size_t room) const;
  core::Bell& next_line() { return next_line_; }  ///< rings at each line

 private:
  void make_room();

  std::string text_;
  std::uint64_t end_ = 0;
  core::Bell next_line_;
};

}  // namespace portico::process
