#include "conf/config.h"

#include <algorithm>

namespace portico::conf {
namespace {

template <class T>
const T* find_by_name(const std::vector<T>& all, const std::string& name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](auto& one) { return one.name == name; });
  return at == all.end() ? nullptr : &*at;
}

void widen(Limits& widest, const Limits& limits) {
  widest.header_bytes = std::max(widest.header_bytes, limits.header_bytes);
  widest.target_bytes = std::max(widest.target_bytes, limits.target_bytes);
  widest.header_fields = std::max(widest.header_fields, limits.header_fields);
}

}  // namespace

Limits widest_limits(const Config& config) {
  Limits widest = config.limits;
  for (const Site& site : config.sites) {
    for (const Route& route : site.routes) widen(widest, route.limits);
  }
  return widest;
}

const Pool* find_pool(const Config& config, const std::string& name) {
  return find_by_name(config.pools, name);
}

const Application* find_application(const Config& config, const std::string& name) {
  return find_by_name(config.applications, name);
}

}  // namespace portico::conf
