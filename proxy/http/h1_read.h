// Reads the heads of HTTP/1 messages: bytes in, RequestHead or ReceivedHead out. No I/O.
//
// Owned by a session or a client connection; one thread. Strict: whatever two parties might read
// differently is refused (RFC 9112; house rule 8). When a head lies in one slice its fields are
// views of that slice, and their names are lower-cased in place; else what has arrived is gathered
// in a buffer of just its size, so that a slow peer pins no block. An idle reader owns no memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/core/bytes.h"
#include "proxy/core/result.h"
#include "proxy/http/head.h"
#include "proxy/http/head_gatherer.h"
#include "proxy/http/limits.h"

namespace portico::http {

/// What feeding a reader came to.
enum class Progress : std::uint8_t {
  more,  ///< the input is used up, the head is not complete
  head,  ///< the head is complete; what follows it is left in the input
  fail,  ///< see error(); the connection cannot be used any longer
};

/// Reads request heads, one after the other, as they come on one connection.
class RequestReader {
 public:
  explicit RequestReader(const ReadLimits& limits) : limits_(limits) {}

  /// Takes what belongs to the head from the front of `input` (whose bytes must be writable: never
  /// a literal). With Progress::head everything in `head` is filled but where.path, which the
  /// router makes by its site's rules (http/target: canonicalise); the reader is then ready for
  /// the next request. With Progress::fail `head` holds what was understood so far, for the log.
  ///
  /// Errors   bad_request_line, bad_version, target_too_long, bad_target, bad_field, bad_host,
  ///          head_too_large, bad_framing, unsupported_coding, bad_expectation, method_refused
  /// Source   RFC 9112 §2-6; at most one CRLF before the request line is ignored (§2.2)
  Progress feed(core::Slice& input, RequestHead& head);

  /// Whether a part of a head has arrived: the deadline of timeouts.header runs.
  bool started() const { return gatherer_.started(); }
  const core::Error& error() const { return error_; }
  /// For the requests to come: the widest limits of all routes rule before a route is known.
  void limit(const ReadLimits& limits) { limits_ = limits; }

 private:
  enum class Lead : std::uint8_t { may_come, carriage_return, over };

  bool skip_lead(core::Slice& input);
  Progress complete(const core::Slice& bytes, RequestHead& head);
  Progress fail(core::Fault fault);

  ReadLimits limits_;
  Lead lead_ = Lead::may_come;
  bool line_judged_ = false;  ///< the start line of a head in parts has been looked at
  HeadGatherer gatherer_;
  core::Error error_;
};

/// A response head as it was received, with what it says of its body and connection. Its fields are
/// all still there: the relay drops those of the connection (http/hop) before passing it on.
struct ReceivedHead {
  ResponseHead head;  ///< `length` is what Content-Length told, also for HEAD and 304
  Version version = Version::http11;
  Framing framing;         ///< of the body that follows
  bool keep_alive = true;  ///< the endpoint keeps the connection; false with Kind::until_close
};

/// Reads response heads, informational ones too, as they come on one connection.
class ResponseReader {
 public:
  explicit ResponseReader(const ReadLimits& limits) : limits_(limits) {}

  /// As RequestReader::feed. `method` is that of the request being answered.
  ///
  /// Errors   bad_response, response_too_large
  /// Source   RFC 9112 §4-6; obs-fold, bare LF and doubtful framing are refused
  Progress feed(core::Slice& input, std::string_view method, ReceivedHead& received);

  bool started() const { return gatherer_.started(); }
  const core::Error& error() const { return error_; }

 private:
  Progress complete(const core::Slice& bytes, std::string_view method, ReceivedHead& received);
  Progress fail(core::Fault fault);

  ReadLimits limits_;
  bool line_judged_ = false;  ///< the start line of a head in parts has been looked at
  HeadGatherer gatherer_;
  core::Error error_;
};

}  // namespace portico::http
