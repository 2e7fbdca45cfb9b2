#include "proxy/route/site.h"

#include <algorithm>
#include <utility>

#include "proxy/route/limits.h"
#include "proxy/route/methods.h"

namespace portico::route {
namespace {

std::string without_last_slash(const std::string& path) {
  return path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

// As a head is counted on the wire: "name: value" and CRLF for each field, the request line, the
// empty line.
std::size_t head_bytes(const http::RequestHead& head) {
  std::size_t bytes = head.method.size() + head.target.size() + 12 + 2;
  for (const http::Field& field : head.fields) bytes += field.name.size() + field.value.size() + 4;
  return bytes;
}

core::Error refusal(core::Fault fault) { return {fault, 0, "routing the request"}; }

}  // namespace

Route::Route(const conf::Route& written, std::shared_ptr<const serve::Handler> handler)
    : path_(written.path),
      prefix_(without_last_slash(written.path)),
      handler_(std::move(handler)),
      over_http_(std::holds_alternative<conf::ToPool>(written.handler)),
      head_(head_limits(written.limits)),
      limits_(exchange_limits(written.timeouts, written.limits)) {}

bool Route::takes(std::string_view path) const {
  if (!path.starts_with(prefix_)) return false;
  return path.size() == prefix_.size() || prefix_.empty() || path[prefix_.size()] == '/';
}

core::Result<void> Route::admit(serve::Exchange& exchange) const {
  exchange.limits() = limits_;
  const http::RequestHead& head = exchange.request();
  if (head.target.size() > head_.target_bytes) return refusal(core::Fault::target_too_long);
  if (head.fields.size() > head_.header_fields || head_bytes(head) > head_.header_bytes)
    return refusal(core::Fault::head_too_large);
  const bool told = head.framing.kind == http::Framing::Kind::length;
  if (told && head.framing.length > limits_.body_bytes) return refusal(core::Fault::body_too_large);
  return {};
}

Site::Site(const conf::Site& written, std::vector<Route> routes,
           std::unique_ptr<const serve::Journal> journal)
    : name_(written.name),
      path_rules_{written.merge_slashes, written.unsafe_encoded_slashes},
      unknown_methods_(written.unsafe_unknown_methods),
      routes_(std::move(routes)),
      journal_(std::move(journal)) {
  std::stable_sort(routes_.begin(), routes_.end(), [](const Route& a, const Route& b) {
    return a.path().size() > b.path().size();
  });
}

bool Site::serves(std::string_view method) const {
  if (forbidden_method(method)) return false;
  return unknown_methods_ || registered_method(method);
}

const Route* Site::find(std::string_view path) const {
  const auto found = std::find_if(routes_.begin(), routes_.end(),
                                  [path](const Route& route) { return route.takes(path); });
  return found == routes_.end() ? nullptr : &*found;
}

}  // namespace portico::route
