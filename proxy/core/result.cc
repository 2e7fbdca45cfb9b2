#include "proxy/core/result.h"

#include <array>
#include <cstring>

namespace portico::core {
namespace {

using enum Fault;
using enum Level;

constexpr std::array table = {
    FaultInfo{none, "none", Side::none, 200, debug, false, "", ""},

    FaultInfo{bad_request_line, "bad_request_line", Side::client, 400, info, false,
              "http_request_error", "The request line is not valid HTTP."},
    FaultInfo{bad_version, "bad_version", Side::client, 505, info, false, "http_request_error",
              "Only HTTP/1.0 and HTTP/1.1 are spoken here."},
    FaultInfo{bad_field, "bad_field", Side::client, 400, info, false, "http_request_error",
              "A header field of the request is not valid."},
    FaultInfo{bad_host, "bad_host", Side::client, 400, info, false, "http_request_error",
              "The Host of the request is missing or not valid."},
    FaultInfo{bad_target, "bad_target", Side::client, 400, info, false, "http_request_error",
              "The address asked for is not valid."},
    FaultInfo{bad_framing, "bad_framing", Side::client, 400, info, false, "http_request_error",
              "The length of the request's body is ambiguous."},
    FaultInfo{bad_chunk, "bad_chunk", Side::client, 400, info, false, "http_request_error",
              "The chunked body of the request is not valid."},
    FaultInfo{unsupported_coding, "unsupported_coding", Side::client, 501, info, false,
              "http_request_error", "This transfer coding is not supported."},
    FaultInfo{bad_expectation, "bad_expectation", Side::client, 417, info, false,
              "http_request_error", "Only the expectation 100-continue can be met."},
    FaultInfo{target_too_long, "target_too_long", Side::client, 414, info, false,
              "http_request_error", "The address asked for is too long (limits.target_bytes)."},
    FaultInfo{
        head_too_large, "head_too_large", Side::client, 431, info, false, "http_request_error",
        "The header of the request is too large (limits.header_bytes, limits.header_fields)."},
    FaultInfo{body_too_large, "body_too_large", Side::client, 413, info, false,
              "http_request_error", "The body of the request is too large (limits.body)."},
    FaultInfo{method_refused, "method_refused", Side::client, 501, info, false,
              "http_request_denied", "This method is not served here."},
    FaultInfo{upgrade_refused, "upgrade_refused", Side::client, 400, info, false,
              "http_request_denied", "This change of protocol is not served here."},
    FaultInfo{unknown_host, "unknown_host", Side::client, 421, info, false, "http_request_denied",
              "No site of this name is served here."},
    FaultInfo{no_route, "no_route", Side::client, 404, info, false, "http_request_denied",
              "Nothing is served at this address."},
    FaultInfo{loop_detected, "loop_detected", Side::client, 508, warning, false,
              "proxy_loop_detected", "The request has come through this proxy before."},
    FaultInfo{header_timeout, "header_timeout", Side::client, 408, info, false,
              "http_request_error", "The request did not arrive in time (timeouts.header)."},
    FaultInfo{body_timeout, "body_timeout", Side::client, 408, info, false, "http_request_error",
              "The request's body stopped arriving (timeouts.body)."},
    FaultInfo{send_timeout, "send_timeout", Side::client, 499, info, false, "",
              "The answer was not taken in time (timeouts.send)."},
    FaultInfo{client_gone, "client_gone", Side::client, 499, info, false, "",
              "The client has left."},
    FaultInfo{too_many_connections, "too_many_connections", Side::client, 503, warning, false,
              "connection_limit_reached", "Too many connections are open."},

    FaultInfo{no_endpoint, "no_endpoint", Side::endpoint, 503, warning, false,
              "destination_unavailable", "None of the servers behind this address is available."},
    FaultInfo{name_unresolved, "name_unresolved", Side::endpoint, 503, warning, true, "dns_error",
              "The name of the server behind this address cannot be resolved."},
    FaultInfo{connection_refused, "connection_refused", Side::endpoint, 502, warning, true,
              "connection_refused", "The server behind this address refuses connections."},
    FaultInfo{connection_failed, "connection_failed", Side::endpoint, 502, warning, true,
              "destination_unavailable", "The server behind this address cannot be reached."},
    FaultInfo{connect_timeout, "connect_timeout", Side::endpoint, 504, warning, true,
              "connection_timeout", "The server behind this address did not accept in time."},
    FaultInfo{endpoint_closed, "endpoint_closed", Side::endpoint, 502, warning, true,
              "connection_terminated", "The server behind this address closed without answering."},
    FaultInfo{endpoint_reset, "endpoint_reset", Side::endpoint, 502, warning, true,
              "connection_terminated", "The server behind this address broke the connection."},
    FaultInfo{bad_response, "bad_response", Side::endpoint, 502, error, false,
              "http_protocol_error", "The answer of the server behind this address is not valid."},
    FaultInfo{response_too_large, "response_too_large", Side::endpoint, 502, error, false,
              "http_response_header_section_size", "The header of the answer is too large."},
    FaultInfo{response_timeout, "response_timeout", Side::endpoint, 504, error, false,
              "http_response_timeout", "The answer did not come in time (timeouts.response)."},
    FaultInfo{response_cut, "response_cut", Side::endpoint, 502, error, false,
              "http_response_incomplete", "The answer ended before it was complete."},
    FaultInfo{site_unavailable, "site_unavailable", Side::endpoint, 503, warning, false,
              "destination_unavailable", "The application of this site is not running."},
    FaultInfo{application_error, "application_error", Side::endpoint, 500, error, false, "",
              "The application failed while it worked on this request."},
    FaultInfo{application_bad_answer, "application_bad_answer", Side::endpoint, 500, error, false,
              "http_protocol_error", "The application gave an answer that is not valid."},
    FaultInfo{worker_died, "worker_died", Side::endpoint, 502, error, true, "connection_terminated",
              "The worker that had this request died."},

    FaultInfo{queue_full, "queue_full", Side::ours, 503, warning, false, "connection_limit_reached",
              "Too many requests are waiting (limits.queue)."},
    FaultInfo{queue_timeout, "queue_timeout", Side::ours, 503, warning, false,
              "connection_limit_reached",
              "The request waited too long for its turn (timeouts.queue)."},
    FaultInfo{spool_full, "spool_full", Side::ours, 507, error, false, "proxy_internal_error",
              "There is no room to store the request's body (spool)."},
    FaultInfo{no_descriptors, "no_descriptors", Side::ours, 503, error, false,
              "proxy_internal_error", "The server has no free descriptors."},
    FaultInfo{shutting_down, "shutting_down", Side::ours, 503, info, false, "proxy_internal_error",
              "The server is shutting down."},
    FaultInfo{internal, "internal", Side::ours, 500, error, false, "proxy_internal_error",
              "Something went wrong in the proxy itself."},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].fault) != i) return false;
  }
  return true;
}
static_assert(in_order() && table.size() == static_cast<std::size_t>(internal) + 1);

// strerror is not safe among threads; strerrordesc_np is, but only glibc has it.
std::string_view os_text(int os) {
  const char* text = strerrordesc_np(os);
  return text != nullptr ? text : "unknown system error";
}

}  // namespace

const FaultInfo& fault_info(Fault fault) { return table[static_cast<std::size_t>(fault)]; }

// "internal" says nothing more where the system tells what went wrong, and with what.
std::string describe(const Error& error) {
  std::string text(fault_info(error.fault).name);
  if (error.fault == internal && error.os != 0 && !error.doing.empty())
    text = error.doing;
  else if (!error.doing.empty())
    text.append(" while ").append(error.doing);
  if (error.os != 0) text.append(": ").append(os_text(error.os));
  return text;
}

}  // namespace portico::core
