// FrontMessage: what supervisor and front say to each other over their channel.
//
// A message is "verb argument LF body" with descriptors beside it. Pure; made and read by
// front_process.h (supervisor) and front.h (front). Both are of one build, so the form may change
// from one version to the next.
//
//   to the front                       argument       body       descriptors
//   config                                                       sources_file.h, sealed
//   listener (again for more threads)                 its name   one per front thread, in order
//   log (again after a rotation)                      its path   opened for appending
//   start                              front threads
//   service                            service name   text       any
//   report                             serial
//   drain                              milliseconds
//   from the front
//   ready: listens
//   service                            service name   text       any
//   report                             serial         front_report.h
#pragma once

#include <string>
#include <string_view>

namespace portico::run {

namespace say {
inline constexpr std::string_view config = "config";
inline constexpr std::string_view listener = "listener";
inline constexpr std::string_view log = "log";
inline constexpr std::string_view start = "start";
inline constexpr std::string_view service = "service";
inline constexpr std::string_view report = "report";
inline constexpr std::string_view drain = "drain";
inline constexpr std::string_view ready = "ready";
}  // namespace say

/// Views of the text that was parsed.
struct FrontMessage {
  std::string_view verb;
  std::string_view argument;
  std::string_view body;
};

std::string format_message(const FrontMessage& message);
FrontMessage parse_message(std::string_view text);

}  // namespace portico::run
