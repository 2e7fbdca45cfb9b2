#include "proxy/http/head.h"

#include <algorithm>
#include <array>
#include <utility>

namespace portico::http {
namespace {

// The IANA registry of 2025 without PRI, which only tells the preface of HTTP/2. The usual ones
// first.
constexpr std::string_view registered_methods =
    "GET POST HEAD PUT DELETE OPTIONS PATCH TRACE CONNECT PROPFIND PROPPATCH MKCOL COPY MOVE LOCK "
    "UNLOCK REPORT SEARCH ACL MKCALENDAR QUERY BIND UNBIND REBIND ORDERPATCH CHECKIN CHECKOUT "
    "UNCHECKOUT LABEL MERGE MKACTIVITY MKWORKSPACE UPDATE LINK UNLINK MKREDIRECTREF "
    "UPDATEREDIRECTREF VERSION-CONTROL BASELINE-CONTROL";

}  // namespace

void Headers::clear() {
  fields_.clear();
  names_ = 0;
  kept_ = {};
  also_kept_.clear();
}

void Headers::keep(core::Slice bytes) {
  for (core::Slice& place : kept_) {
    if (!place.empty()) continue;
    place = std::move(bytes);
    return;
  }
  also_kept_.push_back(std::move(bytes));
}

const std::string_view* Headers::search(std::string_view name) const {
  for (const Field& field : fields_) {
    if (field.name == name) return &field.value;
  }
  return nullptr;
}

std::size_t Headers::count(std::string_view name) const {
  if (!may_have(name_bit(name))) return 0;
  return static_cast<std::size_t>(std::count_if(
      fields_.begin(), fields_.end(), [&](const Field& field) { return field.name == name; }));
}

void Headers::add_copy(std::string_view name, std::string_view value) {
  core::Buffer& both = core::Buffer::shared();
  both.append(name);
  both.append(value);
  core::Slice copy = both.take();
  add(copy.view().substr(0, name.size()), copy.view().substr(name.size()));
  keep(std::move(copy));
}

void Headers::set(std::string_view name, std::string_view value) {
  const auto same = [&](const Field& field) { return field.name == name; };
  const auto first = std::find_if(fields_.begin(), fields_.end(), same);
  if (first == fields_.end()) return add(name, value);
  *first = {name, value};
  fields_.erase(std::remove_if(first + 1, fields_.end(), same), fields_.end());
}

void Headers::remove(std::string_view name) {
  if (!has(name)) return;
  remove_if([&](const Field& field) { return field.name == name; });
}

std::string_view name(Version version) {
  switch (version) {
    case Version::http10:
      return "HTTP/1.0";
    case Version::http11:
      return "HTTP/1.1";
    case Version::http2:
      return "HTTP/2.0";
  }
  return {};
}

bool bodiless(std::string_view method, int status) {
  if (status < 200 || status == 204 || status == 304 || method == "HEAD") return true;
  return method == "CONNECT" && status < 300;
}

bool idempotent(std::string_view method) {
  constexpr std::array<std::string_view, 6> methods = {"GET",   "HEAD", "OPTIONS",
                                                       "TRACE", "PUT",  "DELETE"};
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

bool standard_method(std::string_view method) {
  for (std::string_view rest = registered_methods; !rest.empty();) {
    const std::string_view known = rest.substr(0, rest.find(' '));
    if (known == method) return true;
    rest.remove_prefix(std::min(rest.size(), known.size() + 1));
  }
  return false;
}

}  // namespace portico::http
