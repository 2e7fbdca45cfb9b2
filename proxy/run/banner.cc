#include "proxy/run/banner.h"

namespace portico::run {
namespace {

std::string describe(const conf::ToPool& to, const conf::Config& config) {
  const conf::Pool* pool = conf::find_pool(config, to.pool);
  std::string text = "goes to";
  const char* separator = " ";
  for (const conf::Endpoint& endpoint : pool->endpoints) {
    text.append(separator).append(endpoint.address.text());
    separator = ", ";
  }
  return text;
}

std::string describe(const conf::ToApplication& to, const conf::Config& config) {
  const conf::Application* application = conf::find_application(config, to.application);
  return "is wsgi " + application->reference + " in " + application->directory;
}

}  // namespace

std::string listener_line(const BoundListener& listener) {
  std::string line = "listening on " + listener.url;
  if (!listener.reach.empty()) line.append(" (").append(listener.reach).append(")");
  return line;
}

std::string site_line(const conf::Site& site, const conf::Config& config) {
  std::string line = "site " + site.name + ":";
  const char* separator = " ";
  for (const conf::Route& route : site.routes) {
    line.append(separator).append(route.path).append(" ");
    line += std::visit([&](const auto& to) { return describe(to, config); }, route.handler);
    separator = "; ";
  }
  if (site.routes.empty()) line += " no route, every path is 404";
  return line;
}

}  // namespace portico::run
