// Faults as values: the closed list of causes, a small Error, and Result<T>.
//
// Every failed request ends with one Fault; its row in the table (result.cc) gives the HTTP status,
// the log level, the RFC 9209 error type and whether another attempt may help. Any thread; no
// allocation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace portico::core {

/// The closed list of causes. The order is that of the table in result.cc.
enum class Fault : std::uint8_t {
  none,
  // the client's
  bad_request_line,
  bad_version,
  bad_field,
  bad_host,
  bad_target,
  bad_framing,
  bad_chunk,
  unsupported_coding,
  bad_expectation,
  target_too_long,
  head_too_large,
  body_too_large,
  method_refused,
  upgrade_refused,
  unknown_host,
  no_route,
  loop_detected,
  header_timeout,
  body_timeout,
  send_timeout,
  client_gone,
  too_many_connections,
  // the endpoint's or the application's
  no_endpoint,
  name_unresolved,
  connection_refused,
  connection_failed,
  connect_timeout,
  endpoint_closed,
  endpoint_reset,
  bad_response,
  response_too_large,
  response_timeout,
  response_cut,
  site_unavailable,
  application_error,
  application_bad_answer,
  worker_died,
  // ours
  queue_full,
  queue_timeout,
  spool_full,
  no_descriptors,
  shutting_down,
  internal,
};

enum class Side : std::uint8_t { none, client, endpoint, ours };
enum class Level : std::uint8_t { debug, info, warning, error };

/// One row of the table of faults.
struct FaultInfo {
  Fault fault;
  std::string_view name;          ///< as it stands in logs and metrics
  Side side;                      ///< whose fault it is
  std::uint16_t status;           ///< the HTTP status of the answer; 499 is never sent
  Level level;                    ///< of the log line
  bool may_retry;                 ///< another endpoint may do better, the rules of retry permitting
  std::string_view proxy_status;  ///< error type of RFC 9209 §2.3; empty where none fits
  std::string_view sentence;      ///< for the error page: one plain sentence
};

const FaultInfo& fault_info(Fault fault);

/// What went wrong: copyable, no allocation; text is made when it is logged.
///
/// os     errno, 0 where there is none
/// doing  a literal such as "reading the response head"
struct Error {
  Fault fault = Fault::none;
  int os = 0;
  std::string_view doing;
};

/// "endpoint_reset while reading the response head: Connection reset by peer"
std::string describe(const Error& error);

/// A value or the Error that stands in its place.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, error) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return *std::get_if<0>(&state_); }
  const T& operator*() const { return *std::get_if<0>(&state_); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(error) {}

  explicit operator bool() const { return error_.fault == Fault::none; }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

}  // namespace portico::core
