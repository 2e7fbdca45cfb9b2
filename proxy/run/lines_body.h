// LinesBody: the answer's body that shows RecentLines, and follows them where that is wanted.
//
// Owned by its exchange; one thread. A client that reads too slowly misses lines and is told so:
// nobody waits for it.
#pragma once

#include "proxy/http/body.h"
#include "proxy/process/recent_lines.h"

namespace portico::run {

class LinesBody final : public http::BodySource {
 public:
  enum class Follow : bool { no, yes };

  /// lines  outlives the body; count  how many lines that are there already are shown
  LinesBody(process::RecentLines& lines, std::size_t count, Follow follow)
      : lines_(lines), follow_(follow), position_(lines.tail(count)) {}

  http::Pull pull(std::size_t room, core::Active& reader) override;

 private:
  http::Pull tell_missed();

  process::RecentLines& lines_;
  Follow follow_;
  std::uint64_t position_;
  core::Bell::Hearer hearer_;
};

}  // namespace portico::run
