#include "proxy/run/control_routes.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "proxy/core/log.h"
#include "proxy/core/text.h"
#include "proxy/process/identity.h"
#include "proxy/run/control_status.h"
#include "proxy/run/deploy_body.h"
#include "proxy/run/lines_body.h"

namespace portico::run {
namespace {

constexpr std::string_view plain = "text/plain; charset=utf-8";
constexpr std::size_t usual_lines = 20;

std::string user_text(const serve::Exchange& exchange) {
  const auto user = exchange.connection().user;
  return user ? "user " + std::to_string(*user) : "somebody";
}

process::Service* service_of(const Controlled& portico, const std::string& site) {
  for (const auto& service : portico.services())
    if (service->report().site == site) return service.get();
  return nullptr;
}

std::unique_ptr<serve::Task> answer_log(const ControlCall& call) {
  process::Service* service = service_of(call.portico, call.site);
  if (service == nullptr) {
    answer_text(call.exchange, 404, plain,
                "the site " + call.site + " has no application, and so no log\n");
    return nullptr;
  }
  const auto lines = core::decimal(parameter(call.query, "lines"));
  const auto follow =
      parameter(call.query, "follow") == "yes" ? LinesBody::Follow::yes : LinesBody::Follow::no;
  http::ResponseHead head;
  head.fields.add("content-type", plain);
  call.exchange.respond(
      std::move(head),
      std::make_unique<LinesBody>(service->recent_lines(), lines.value_or(usual_lines), follow));
  return nullptr;
}

std::unique_ptr<serve::Task> answer_stop(const ControlCall& call) {
  core::log(core::Level::info,
            "told to stop over the control socket by " + user_text(call.exchange));
  call.portico.stop();
  answer_text(call.exchange, 202, plain, "stopping\n");
  return nullptr;
}

std::unique_ptr<serve::Task> answer_deploy(const ControlCall& call) {
  std::vector<process::Service*> services;
  for (const auto& service : call.portico.services()) {
    if (call.site.empty() || service->report().site == call.site) services.push_back(service.get());
  }
  if (services.empty()) {
    answer_text(call.exchange, 404, plain, "there is no application to deploy\n");
    return nullptr;
  }
  core::log(core::Level::info,
            "told to deploy over the control socket by " + user_text(call.exchange));
  http::ResponseHead head;
  head.fields.add("content-type", plain);
  call.exchange.respond(std::move(head), std::make_unique<DeployBody>(std::move(services)));
  return nullptr;
}

constexpr std::array<ControlRoute, 5> routes{{
    {"GET", "/v1/status", Needs::anything, answer_status},
    {"GET", "/v1/sites/*/log", Needs::site, answer_log},
    {"POST", "/v1/sites/*/deploy", Needs::site, answer_deploy},
    {"POST", "/v1/deploy", Needs::everything, answer_deploy},
    {"POST", "/v1/stop", Needs::everything, answer_stop},
}};

/// Whom the processes run as, as far as they do not run as the supervisor.
ControlAccess::Users users_of(const Controlled& portico) {
  ControlAccess::Users users;
  users.owner = ::geteuid();
  if (!process::started_as_root()) return users;
  const auto front = process::front_identity(portico.config().user);
  if (front) users.front = front->user;
  for (const auto& service : portico.services()) {
    const process::ServiceReport report = service->report();
    if (report.user) users.sites[report.site] = report.user->user;
  }
  return users;
}

bool allowed(Needs needs, const ControlAccess& access, const std::string& site) {
  switch (needs) {
    case Needs::anything:
      return access.to_anything();
    case Needs::site:
      return access.to_site(site);
    case Needs::everything:
      break;
  }
  return access.to_everything();
}

void refuse_user(serve::Exchange& exchange, Needs needs) {
  std::string text = user_text(exchange) + " may not do this; root and user " +
                     std::to_string(::geteuid()) + ", who runs Portico, may";
  if (needs != Needs::everything) text += ", and the user of a site for that site";
  answer_text(exchange, 403, plain, text + "\n");
}

bool knows_site(const Controlled& portico, const std::string& site) {
  const auto& sites = portico.config().sites;
  return std::any_of(sites.begin(), sites.end(),
                     [&](const auto& each) { return each.name == site; });
}

unsigned hex(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char low = core::lower(c);
  return low >= 'a' && low <= 'f' ? static_cast<unsigned>(low - 'a' + 10) : 16;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool whole =
        text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) < 16 && hex(text[i + 2]) < 16;
    out.push_back(whole ? static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2])) : text[i]);
    if (whole) i += 2;
  }
  return out;
}

std::string_view cut(std::string_view& text, char at) {
  const auto end = text.find(at);
  const std::string_view front = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return front;
}

}  // namespace

std::string_view parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    std::string_view value = cut(query, '&');
    if (cut(value, '=') == name) return value;
  }
  return {};
}

bool matches(std::string_view pattern, std::string_view path, std::string& site) {
  const auto star = pattern.find('*');
  if (star == pattern.npos) return pattern == path;
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  if (path.size() <= before.size() + after.size()) return false;
  if (!path.starts_with(before) || !path.ends_with(after)) return false;
  path.remove_prefix(before.size());
  path.remove_suffix(after.size());
  site = decoded(path);
  return path.find('/') == path.npos;
}

void answer_text(serve::Exchange& exchange, int status, std::string_view type,
                 std::string_view text) {
  http::ResponseHead head;
  head.status = status;
  head.fields.add_copy("content-type", type);
  head.length = text.size();
  exchange.respond(std::move(head), std::make_unique<http::ReadyBody>(core::Slice::copy(text)));
}

std::unique_ptr<serve::Task> ControlHandler::start(serve::Exchange& exchange) const {
  std::string_view query = exchange.request().target;
  const std::string_view path = cut(query, '?');
  std::string site;
  const auto fits = [&](const ControlRoute& each) {
    return each.method == exchange.request().method && matches(each.path, path, site);
  };
  const auto* route = std::find_if(routes.begin(), routes.end(), fits);
  const ControlAccess access(users_of(portico_), exchange.connection().user);
  if (route == routes.end()) {
    answer_text(exchange, 404, plain, "there is nothing to be asked there\n");
  } else if (!allowed(route->needs, access, site)) {
    refuse_user(exchange, route->needs);
  } else if (route->needs == Needs::site && !knows_site(portico_, site)) {
    answer_text(exchange, 404, plain, "there is no site " + site + "\n");
  } else {
    return route->answer({portico_, exchange, access, site, query});
  }
  return nullptr;
}

}  // namespace portico::run
