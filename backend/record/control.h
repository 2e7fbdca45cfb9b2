// Control messages between the supervisor and a zygote or worker: one line of text a datagram.
//
//   verb key=value key=value ...
//
// Verb and keys are of [a-z0-9_.A-Z-]; values are percent-encoded (everything but letters, digits
// and -._~/:@,+). Descriptors travel beside the datagram (SCM_RIGHTS), in an order that README.md
// gives for each verb. This file formats and parses text and does no I/O; messages.py is the same
// in Python. Used by the supervisor; any thread.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace portico::record {

/// A longer datagram is refused, by the reader and by the writer.
inline constexpr std::size_t max_control_bytes = std::size_t{32} * 1024;
inline constexpr std::size_t max_control_values = 256;
/// The kernel takes 253 descriptors a message (SCM_MAX_FD). What is more goes ahead in `more`
/// messages.
inline constexpr std::size_t max_control_descriptors = 240;

/// One message as values.
struct ControlMessage {
  std::string verb;
  std::vector<std::pair<std::string, std::string>> values;

  ControlMessage& set(std::string key, std::string value);
  ControlMessage& set(std::string key, std::uint64_t value);
  /// The value of a key; nullopt when absent.
  std::optional<std::string_view> text(std::string_view key) const;
  /// A decimal number; nullopt when absent or anything but 1 to 19 digits.
  std::optional<std::uint64_t> number(std::string_view key) const;
};

/// The datagram; empty when it would exceed max_control_bytes.
std::string format_control(const ControlMessage& message);

/// nullopt: not a control message. Never reads beyond the text, never makes more than
/// max_control_values values.
std::optional<ControlMessage> parse_control(std::string_view datagram);

/// The signal upon which a zygote or worker writes the Python stack of each of its threads to its
/// standard error: faulthandler's, which needs no GIL. The application owns every other signal.
inline int stack_signal() { return SIGRTMAX - 4; }

/// Verbs, one spelling for both sides.
namespace verb {
inline constexpr std::string_view more =
    "more";  // S->Z  descriptors that belong to the next message
inline constexpr std::string_view setup = "setup";        // S->Z
inline constexpr std::string_view base = "base";          // S->B
inline constexpr std::string_view become = "become";      // S->Z
inline constexpr std::string_view renew = "renew";        // S->Z
inline constexpr std::string_view fork = "fork";          // S->Z, S->B
inline constexpr std::string_view stop = "stop";          // S->Z, S->W, S->B
inline constexpr std::string_view born = "born";          // B->S
inline constexpr std::string_view changed = "changed";    // B->S
inline constexpr std::string_view imported = "imported";  // Z->S, B->S
inline constexpr std::string_view failed = "failed";      // Z->S, B->S
inline constexpr std::string_view forked = "forked";      // Z->S
inline constexpr std::string_view exited = "exited";      // Z->S
inline constexpr std::string_view ready = "ready";        // W->S
inline constexpr std::string_view leaving = "leaving";    // W->S
}  // namespace verb

}  // namespace portico::record
