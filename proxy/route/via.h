// Via: says that a message came through us, and finds one that did before (RFC 9110 §7.6.3).
// Part of the snapshot; immutable, any thread.
#pragma once

#include <string>
#include <string_view>

#include "proxy/http/head.h"

namespace portico::route {

class Via {
 public:
  explicit Via(std::string instance);

  /// Whether a Via field of a request names this instance: then it went in a circle.
  bool circle(const http::Headers& fields) const;
  /// Adds "1.1 <instance>" behind what is there, as a view of this object; for requests that go on
  /// over HTTP.
  void add(http::RequestHead& head) const;

 private:
  std::string_view value(http::Version version) const;

  std::string instance_;
  std::string http10_;
  std::string http11_;
  std::string http2_;
};

}  // namespace portico::route
