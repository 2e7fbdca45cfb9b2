#include "proxy/route/outcome.h"

namespace portico::route {
namespace {

using core::Fault;

bool shed(Fault fault) {
  switch (fault) {
    case Fault::queue_full:
    case Fault::queue_timeout:
    case Fault::too_many_connections:
    case Fault::no_descriptors:
    case Fault::shutting_down:
    case Fault::spool_full:
      return true;
    default:
      return false;
  }
}

bool gone(Fault fault) { return fault == Fault::client_gone || fault == Fault::send_timeout; }

}  // namespace

Outcome outcome(const serve::Trace& trace) {
  const Fault fault = trace.error.fault;
  if (fault == Fault::none) return trace.status >= 500 ? Outcome::app_error : Outcome::ok;
  if (gone(fault)) return Outcome::client_gone;
  if (shed(fault)) return Outcome::shed;
  switch (core::fault_info(fault).side) {
    case core::Side::client:
      return Outcome::client_error;
    case core::Side::endpoint:
      return Outcome::app_error;
    default:
      return Outcome::edge_error;
  }
}

std::string_view name(Outcome outcome) {
  static constexpr std::string_view names[outcome_count] = {
      "ok", "client-error", "client-gone", "app-error", "shed", "edge-error"};
  return names[static_cast<std::size_t>(outcome)];
}

std::string_view layer(Fault fault, const serve::Trace& trace) {
  switch (fault) {
    case Fault::queue_full:
    case Fault::queue_timeout:
      return "queue";
    case Fault::site_unavailable:
    case Fault::worker_died:
      return "worker";
    case Fault::application_error:
    case Fault::application_bad_answer:
      return "app";
    default:
      break;
  }
  if (core::fault_info(fault).side != core::Side::endpoint) return "edge";
  return trace.upstream.starts_with("worker") ? "app" : "upstream";
}

}  // namespace portico::route
