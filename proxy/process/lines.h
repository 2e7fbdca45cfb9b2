// Lines: cuts a stream of bytes from somebody we do not trust into lines of bounded length and
// rate.
//
// Pure: no descriptor, no clock but the one passed in. Owned by an Output. What is left out is told
// in a line of its own, so that nobody takes a cut log for a whole one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/core/loop.h"

namespace portico::process {

struct LineRules {
  std::size_t line_bytes = 8 * 1024;  ///< longer lines are cut; a traceback's line is far shorter
  std::uint64_t bytes_a_second = 1 << 20;  ///< on average over a second; the rest is dropped
};

class Lines {
 public:
  using Sink = std::function<void(std::string_view line)>;

  Lines(LineRules rules, Sink sink) : rules_(rules), sink_(std::move(sink)) {}

  void feed(std::string_view bytes, core::Time now);
  void end();  ///< the stream has ended: an unfinished line is a line

 private:
  void append(std::string_view part);
  void finish_line();
  void emit(std::string_view line);
  void enter_second(core::Time now);
  void tell_dropped();

  LineRules rules_;
  Sink sink_;
  std::string line_;
  bool cut_ = false;  // line_ is full; the rest of the line is left out
  core::Time second_began_;
  std::uint64_t second_bytes_ = 0;
  std::uint64_t dropped_lines_ = 0;
};

}  // namespace portico::process
