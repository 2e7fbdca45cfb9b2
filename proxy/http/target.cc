#include "proxy/http/target.h"

#include <optional>

#include "proxy/core/text.h"
#include "proxy/http/chars.h"

namespace portico::http {
namespace {

using core::Error;
using core::Fault;
using core::Result;
using Form = Target::Form;

Error fault(Fault fault) { return {fault, 0, "reading the target"}; }

// "http" or "https" where the target begins with it and "://".
std::optional<std::string_view> scheme(std::string_view target) {
  for (std::string_view known : {std::string_view("http"), std::string_view("https")}) {
    const std::string_view head = target.substr(0, known.size());
    if (core::equal_ignoring_case(head, known) && target.substr(known.size(), 3) == "://") {
      return known;
    }
  }
  return std::nullopt;
}

// Splits at the first "?". False: a byte that no URI may hold there.
bool split_query(std::string_view text, Target& where) {
  const auto mark = text.find('?');
  where.raw_path = text.substr(0, mark);
  where.has_query = mark != std::string_view::npos;
  if (where.has_query) where.query = text.substr(mark + 1);
  for (char c : where.raw_path) {
    if (c != '%' && !chars::is(c, chars::path)) return false;
  }
  return chars::all(where.query, chars::query);
}

void make_asterisk(Target& where) {
  where.form = Form::asterisk;
  where.raw_path = "*";
}

// Everything behind the authority; an empty path is "/", or "*" of OPTIONS (RFC 9112 §3.2.4).
bool split_absolute(std::string_view method, std::string_view rest, Target& where) {
  if (!split_query(rest, where)) return false;
  if (!where.raw_path.empty()) return true;
  where.raw_path = "/";
  if (method == "OPTIONS" && !where.has_query) make_asterisk(where);
  return true;
}

/// What a target names: for an absolute one also the authority.
struct Split {
  Fault fault = Fault::none;
  std::string_view authority;
};

Split split_target(std::string_view method, std::string_view target, Target& where) {
  if (method == "CONNECT") return {Fault::method_refused, {}};
  if (target == "*") {
    make_asterisk(where);
    return {method == "OPTIONS" ? Fault::none : Fault::bad_target, {}};
  }
  if (!target.empty() && target.front() == '/') {
    return {split_query(target, where) ? Fault::none : Fault::bad_target, {}};
  }
  const auto known = scheme(target);
  if (!known) return {Fault::bad_target, {}};
  where.form = Form::absolute;
  where.scheme = *known;
  target.remove_prefix(known->size() + 3);
  const auto end = target.find_first_of("/?");
  const std::string_view rest =
      end == std::string_view::npos ? std::string_view() : target.substr(end);
  const bool good = split_absolute(method, rest, where);
  return {good ? Fault::none : Fault::bad_target, target.substr(0, end)};
}

// A Host field must be right even where the target's authority is used instead of it.
Fault take_host(std::string_view text, Target& where) {
  auto authority = canonical_host(text);
  if (!authority) return Fault::bad_host;
  where.host = std::move(authority->host);
  where.port = authority->port;
  return Fault::none;
}

}  // namespace

Result<void> locate(RequestHead& head) {
  head.where = {};
  const Split split = split_target(head.method, head.target, head.where);
  if (split.fault != Fault::none) return fault(split.fault);
  const std::size_t hosts = head.fields.count("host");
  if (hosts > 1 || (hosts == 0 && head.version != Version::http10)) return fault(Fault::bad_host);
  if (hosts == 1 && take_host(*head.fields.find("host"), head.where) != Fault::none) {
    return fault(Fault::bad_host);
  }
  if (head.where.scheme.empty()) return {};
  if (take_host(split.authority, head.where) != Fault::none) return fault(Fault::bad_host);
  head.fields.set("host", split.authority);
  return {};
}

Result<void> canonicalise(Target& where, const PathRules& rules) {
  if (where.form == Form::asterisk) {
    where.path = "*";
    return {};
  }
  auto path = canonical_path(where.raw_path, rules);
  if (!path) return path.error();
  where.path = std::move(*path);
  return {};
}

Result<Target> parse_target(std::string_view method, std::string_view target,
                            const std::string_view* host, const PathRules& rules) {
  RequestHead head;
  head.method = method;
  head.target = target;
  head.version = host == nullptr ? Version::http10 : Version::http11;
  if (host != nullptr) head.fields.add("host", *host);
  if (const auto located = locate(head); !located) return located.error();
  if (const auto done = canonicalise(head.where, rules); !done) return done.error();
  return std::move(head.where);
}

}  // namespace portico::http
