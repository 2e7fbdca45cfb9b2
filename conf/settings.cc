#include "conf/settings.h"

#include <algorithm>

#include "conf/address.h"
#include "conf/names.h"
#include "conf/shared_imports.h"
#include "conf/units.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

void read_each_timeout(Reader& reader, const Mapping& timeouts, Timeouts& into) {
  for (const auto& option : timeout_options) {
    reader.read_duration(timeouts.find(option.key), into.*option.member);
  }
}

template <class Owner, std::size_t N>
void read_amounts(Reader& reader, const Mapping& mapping,
                  const std::array<AmountOption<Owner>, N>& options, Owner& into) {
  for (const auto& option : options) reader.read_amount(mapping.find(option.key), option, into);
}

void read_access(Reader& reader, const Node* node, Log& into) {
  if (node == nullptr) return;
  into.where = reader.at(*node);
  const bool is_scalar = node->kind == Node::Kind::scalar;
  if (is_scalar && (node->text == "-" || node->text == "off")) {
    into.access = node->text;
  } else {
    reader.read_path(node, into.access);
  }
}

void read_log_of(Reader& reader, const Mapping& log, Log& into) {
  read_access(reader, log.find("access"), into);
  reader.read_choice(log.find("format"), log_formats, into.format);
}

void read_listeners(Reader& reader, const Node& node, std::vector<Listener>& into) {
  constexpr std::string_view wanted =
      "\":8080\", \"address:port\", \"[v6]:port\" or \"unix:/path\"";
  into.clear();
  for (const Node* item : reader.list(node, wanted)) {
    const std::string* text = reader.word(*item, wanted);
    const auto address = text ? reader.accept(*item, parse_listen(*text)) : std::nullopt;
    if (!address) continue;
    const bool twice = address->port != 0 || address->is_unix();
    const bool known = std::any_of(
        into.begin(), into.end(), [&](const Listener& other) { return other.address == *address; });
    if (twice && known) {
      reader.refuse(*item, quoted(*text) + " is listened on already; write it once");
    } else {
      into.push_back({*address, reader.at(*item)});
    }
  }
}

void read_networks(Reader& reader, const Node& node, std::vector<Network>& into) {
  constexpr std::string_view wanted = "a network such as \"10.0.0.0/8\", or \"unix\"";
  if (node.kind == Node::Kind::sequence && node.items.empty()) return;
  for (const Node* item : reader.list(node, wanted)) {
    const std::string* text = reader.word(*item, wanted);
    const auto network = text ? reader.accept(*item, parse_network(*text)) : std::nullopt;
    if (network) into.push_back(*network);
  }
}

void read_user(Reader& reader, const Node& node, Config& into) {
  const std::string* text = reader.word(node, "a user's name such as \"portico\"");
  const auto user = text ? reader.accept(node, parse_user(*text)) : std::nullopt;
  if (user) into.user = *user;
  into.user_where = reader.at(node);
}

void read_spool(Reader& reader, const Node& node, Spool& into) {
  const Mapping spool(reader, node, spool_section);
  if (const Node* directory = spool.find("directory")) {
    reader.read_path(directory, into.directory);
    into.where = reader.at(*directory);
  }
  read_amounts(reader, spool, spool_options, into);
}

void read_control(Reader& reader, const Node& node, Config& into) {
  if (node.kind == Node::Kind::scalar && node.text == "off") {
    into.control = node.text;
  } else {
    reader.read_path(&node, into.control);
  }
}

/// Only its form: read_sources() has followed it.
void check_include(Reader& reader, const Node& node) {
  constexpr std::string_view wanted = "files, such as sites.d/*.yaml";
  for (const Node* item : reader.list(node, wanted)) reader.word(*item, wanted);
}

void read_top_mappings(Reader& reader, const Mapping& top, Config& config) {
  if (const Node* node = top.find("timeouts")) {
    const Mapping timeouts(reader, *node, top_timeouts_section);
    read_each_timeout(reader, timeouts, config.timeouts);
    reader.read_duration(timeouts.find("shutdown"), config.shutdown_timeout);
  }
  if (const Node* node = top.find("limits")) {
    const Mapping limits(reader, *node, top_limits_section);
    read_amounts(reader, limits, limit_options, config.limits);
    read_amounts(reader, limits, connection_options, config.connections);
  }
  if (const Node* node = top.find("log")) {
    const Mapping log(reader, *node, top_log_section);
    read_log_of(reader, log, config.log);
    reader.read_choice(log.find("level"), log_levels, config.log.level);
  }
  if (const Node* node = top.find("spool")) read_spool(reader, *node, config.spool);
}

Outcome<std::pair<unsigned, unsigned>> parse_status(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto first = parse_number(text.substr(0, dash), 100, 599);
  const auto last = dash == text.size() ? first : parse_number(text.substr(dash + 1), 100, 599);
  if (!first || !last || *first.value > *last.value) {
    return refused<std::pair<unsigned, unsigned>>(
        quoted(text) + " is not a status; write one such as 200, or a range such as \"200-399\"");
  }
  return found(std::pair(static_cast<unsigned>(*first.value), static_cast<unsigned>(*last.value)));
}

void read_status(Reader& reader, const Node& node, Health& into) {
  const std::string* text = reader.word(node, "a status such as 200, or \"200-399\"");
  const auto range = text ? reader.accept(node, parse_status(*text)) : std::nullopt;
  if (!range) return;
  into.status_first = range->first;
  into.status_last = range->second;
}

}  // namespace

Outcome<std::string> parse_probe_target(const std::string& text) {
  const std::string path = text.substr(0, text.find('?'));
  const bool clean = std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '#' && c != '"' && c != '<' && c != '>' && c != '\\';
  });
  if (!clean || !parse_route_path(path)) {
    return refused<std::string>(quoted(text) + " is not a path; write one such as \"/healthz\"");
  }
  return found(text);
}

void read_server(Reader& reader, const Mapping& top, Config& config) {
  config.listeners = {{{"", 8080, ""}, {}}};
  if (const Node* node = top.find("include")) check_include(reader, *node);
  if (const Node* node = top.find("listen")) read_listeners(reader, *node, config.listeners);
  if (const Node* node = top.find("user")) read_user(reader, *node, config);
  read_shared_imports(reader, top.find("shared_imports"), config.shared_imports);
  if (const Node* node = top.find("trusted_proxies")) {
    read_networks(reader, *node, config.trusted_proxies);
  }
  reader.read_unsigned(top.find("front_threads"), 0, 128, config.front_threads);
  reader.read_path(top.find("state_directory"), config.state_directory);
  reader.read_path(top.find("run_directory"), config.run_directory);
  if (const Node* node = top.find("control")) read_control(reader, *node, config);
  read_top_mappings(reader, top, config);
}

void read_route_settings(Reader& reader, const Mapping& owner, Route& into) {
  if (const Node* node = owner.find("timeouts"))
    read_each_timeout(reader, {reader, *node, timeouts_section}, into.timeouts);
  if (const Node* node = owner.find("limits"))
    read_amounts(reader, {reader, *node, limits_section}, limit_options, into.limits);
  reader.read_choice(owner.find("request"), handovers, into.request);
}

void read_log(Reader& reader, const Mapping& owner, Log& into) {
  const Node* node = owner.find("log");
  if (node != nullptr) read_log_of(reader, {reader, *node, log_section}, into);
}

void read_health(Reader& reader, const Node& node, Health& into) {
  const Mapping health(reader, node, health_section);
  if (const Node* path = health.find("path")) {
    const std::string* text = reader.word(*path, "a path such as \"/healthz\"");
    const auto target = text ? reader.accept(*path, parse_probe_target(*text)) : std::nullopt;
    if (target) into.path = *target;
  }
  if (const Node* host = health.find("host")) {
    const std::string* text = reader.word(*host, "a host such as \"shop.example\"");
    const auto name = text ? reader.accept(*host, parse_host(*text)) : std::nullopt;
    if (name) into.host = *name;
  }
  reader.read_duration(health.find("interval"), into.interval);
  reader.read_duration(health.find("timeout"), into.timeout);
  reader.read_unsigned(health.find("rise"), 1, 1000, into.rise);
  reader.read_unsigned(health.find("fall"), 1, 1000, into.fall);
  if (const Node* status = health.find("status")) read_status(reader, *status, into);
}

}  // namespace portico::conf
