// ErrorPages: what a client sees of a failure: plain, short, as HTML or text, by Accept.
//
// Owned by a snapshot, shared by the front threads, immutable. A page names the status, one plain
// sentence, the layer that failed, the cause (the Fault's name, and while doing what: a literal of
// ours) and the request ID, and nothing else: no address, no path, no text of the system or of the
// client. Fields: RFC 9110 §10.2.3 (Retry-After), RFC 9209 (Proxy-Status).
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "proxy/serve/exchange.h"

namespace portico::route {

class ErrorPages final : public serve::ErrorPages {
 public:
  /// After a 503, where the task that failed knows no better: what a probe's usual interval is.
  static constexpr std::chrono::seconds usual_retry_after{5};

  /// name  of this instance in Proxy-Status; a token (RFC 8941 §3.3.4)
  explicit ErrorPages(std::string name) : name_(std::move(name)) {}

  /// `head` has its status already; adds Content-Type and what goes with it.
  core::Slice page(const serve::Exchange& exchange, const core::Error& error,
                   http::ResponseHead& head) const override;

 private:
  std::string name_;
};

/// Whether a page is to be HTML: Accept names it with a weight above zero and not below that of
/// text/plain. Everything else, such as "*/*" or no Accept at all, gets text (RFC 9110 §12.5.1).
bool wants_html(std::string_view accept);

/// Appends text as HTML content, safe in quoted attributes too.
void append_html(std::string& out, std::string_view text);

}  // namespace portico::route
