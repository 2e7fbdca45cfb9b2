#include "proxy/route/hosts.h"

namespace portico::route {

void Hosts::add(const conf::Site& written, const Site& site) {
  for (const std::string& host : written.hosts) {
    if (host.starts_with("*.")) {
      suffixes_.emplace(host.substr(1), &site);
    } else {
      exact_.emplace(host, &site);
    }
  }
  if (written.is_default) default_ = &site;
}

const Site* Hosts::look_up(const Table& table, std::string_view key) {
  const auto found = table.find(key);
  return found == table.end() ? nullptr : found->second;
}

const Site* Hosts::find(std::string_view host) const {
  if (const Site* site = look_up(exact_, host)) return site;
  if (suffixes_.empty()) return default_;
  for (auto dot = host.find('.'); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
    if (const Site* site = look_up(suffixes_, host.substr(dot))) return site;
  }
  return default_;
}

}  // namespace portico::route
