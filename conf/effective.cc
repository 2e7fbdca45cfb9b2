// All values in force as YAML: the part of conf/load.h behind `portico check --effective`.
//
// Prints every option from the tables of options.h, so that load() gives an equal Config back.
#include <algorithm>

#include "conf/load.h"
#include "conf/options.h"
#include "conf/quote.h"
#include "conf/units.h"

namespace portico::conf {
namespace {

template <class Value, std::size_t N>
std::string word_of(Value value, const std::array<Choice<Value>, N>& choices) {
  const auto at = std::find_if(choices.begin(), choices.end(),
                               [&](const auto& choice) { return choice.value == value; });
  return at == choices.end() ? "" : std::string(at->word);
}

std::string amount_text(std::uint64_t amount, Unit unit) {
  return unit == Unit::bytes ? size_text(amount) : std::to_string(amount);
}

std::string truth(bool value) { return value ? "true" : "false"; }

/// Lines of "key: value", each further in than its owner by two spaces, comments in one column.
class Page {
 public:
  void open(const std::string& key) {
    out_ += indent() + key + ":\n";
    ++depth_;
  }
  void close() { --depth_; }

  void line(std::string_view key, const std::string& value, std::string_view meaning = {}) {
    std::string text = indent() + std::string(key) + ": " + value;
    if (!meaning.empty()) {
      text.resize(std::max(text.size() + 2, comment_column), ' ');
      text += "# " + std::string(meaning);
    }
    out_ += text + "\n";
  }
  void item(const std::string& value) { out_ += indent() + "- " + value + "\n"; }

  std::string take() { return std::move(out_); }

 private:
  static constexpr std::size_t comment_column = 36;

  std::string indent() const { return std::string(2 * depth_, ' '); }

  std::string out_;
  std::size_t depth_ = 0;
};

template <class Owner, std::size_t N>
void put_amounts(Page& page, const std::array<AmountOption<Owner>, N>& options,
                 const Owner& values) {
  for (const auto& option : options) {
    page.line(option.key, amount_text(values.*option.member, option.unit), option.meaning);
  }
}

void put_timeouts(Page& page, const Timeouts& values) {
  for (const auto& option : timeout_options) {
    page.line(option.key, duration_text(values.*option.member), option.meaning);
  }
}

/// On one line, without comments: what a site or route repeats.
std::string inline_timeouts(const Timeouts& values) {
  std::string out;
  for (const auto& option : timeout_options) {
    out += (out.empty() ? "{" : ", ") + std::string(option.key) + ": " +
           duration_text(values.*option.member);
  }
  return out + "}";
}

std::string inline_limits(const Limits& values) {
  std::string out;
  for (const auto& option : limit_options) {
    out += (out.empty() ? "{" : ", ") + std::string(option.key) + ": " +
           amount_text(values.*option.member, option.unit);
  }
  return out + "}";
}

std::string inline_log(const Log& log) {
  return "{access: " + yaml_quote(log.access) + ", format: " + word_of(log.format, log_formats) +
         "}";
}

std::string inline_endpoint(const Endpoint& endpoint) {
  return "{address: " + yaml_quote(endpoint.address.text()) +
         ", weight: " + std::to_string(endpoint.weight) + "}";
}

void put_health(Page& page, const Health& health) {
  page.open("health");
  if (!health.path.empty()) page.line("path", yaml_quote(health.path));
  if (!health.host.empty()) page.line("host", yaml_quote(health.host));
  page.line("interval", duration_text(health.interval));
  page.line("timeout", duration_text(health.timeout));
  page.line("rise", std::to_string(health.rise));
  page.line("fall", std::to_string(health.fall));
  page.line("status", yaml_quote(std::to_string(health.status_first) + "-" +
                                 std::to_string(health.status_last)));
  page.close();
}

/// "[a, b]", each in quotes.
std::string inline_list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + yaml_quote(word);
  return "[" + out + "]";
}

void put_server(Page& page, const Config& config) {
  page.open("listen");
  for (const Listener& listener : config.listeners) page.item(yaml_quote(listener.address.text()));
  page.close();
  page.line("front_threads", std::to_string(config.front_threads), "0: the number of cores");
  if (!config.user.empty()) page.line("user", yaml_quote(config.user));
  page.line("shared_imports", inline_list(config.shared_imports));
  if (!config.trusted_proxies.empty()) {
    page.open("trusted_proxies");
    for (const Network& network : config.trusted_proxies) page.item(yaml_quote(network.text()));
    page.close();
  }
  page.line("state_directory", yaml_quote(config.state_directory));
  page.line("run_directory", yaml_quote(config.run_directory));
  if (!config.control.empty()) page.line("control", yaml_quote(config.control));
}

void put_defaults(Page& page, const Config& config) {
  page.open("timeouts");
  put_timeouts(page, config.timeouts);
  page.line("shutdown", duration_text(config.shutdown_timeout), "what still runs after TERM");
  page.close();
  page.open("limits");
  put_amounts(page, limit_options, config.limits);
  put_amounts(page, connection_options, config.connections);
  page.close();
  page.open("log");
  page.line("access", yaml_quote(config.log.access), "a path, \"-\" or \"off\"");
  page.line("format", word_of(config.log.format, log_formats),
            "combined, common, json, brief or pretty");
  page.line("level", word_of(config.log.level, log_levels), "error, warning, info or debug");
  page.close();
  page.open("spool");
  page.line("directory", yaml_quote(config.spool.directory));
  put_amounts(page, spool_options, config.spool);
  page.close();
}

void put_pool(Page& page, const Pool& pool) {
  page.open(yaml_quote(pool.name));
  page.open("endpoints");
  for (const Endpoint& endpoint : pool.endpoints) page.item(inline_endpoint(endpoint));
  page.close();
  page.line("policy", word_of(pool.policy, policies));
  page.line("connections", std::to_string(pool.connections), "for each endpoint; 0: no cap");
  if (pool.health) {
    put_health(page, *pool.health);
  } else {
    page.line("health", "\"off\"");
  }
  page.close();
}

bool is_inline(const Pool& pool) { return pool.name.find('/') != std::string::npos; }

void put_deploy(Page& page, const Application& application) {
  if (!application.touch.empty()) page.line("touch", yaml_quote(application.touch));
  page.line("reload", truth(application.reload));
  if (!application.before_deploy.empty()) {
    page.open("before_deploy");
    for (const auto& command : application.before_deploy) page.item(inline_list(command));
    page.close();
  }
  page.line("warm", inline_list(application.warm));
}

void put_companions(Page& page, const Application& application) {
  if (application.companions.empty()) return;
  page.open("processes");
  for (const Companion& one : application.companions)
    page.line(yaml_quote(one.name), inline_list(one.command));
  page.close();
}

void put_recycle(Page& page, const Recycle& recycle) {
  page.open("recycle");
  for (const auto& option : recycle_options) {
    const std::uint64_t amount = recycle.*option.member;
    if (amount != 0) page.line(option.key, amount_text(amount, option.unit), option.meaning);
  }
  if (recycle.lifetime.count() != 0) page.line("lifetime", duration_text(recycle.lifetime));
  page.line("jitter", yaml_quote(std::to_string(recycle.jitter) + "%"));
  page.close();
}

void put_resources(Page& page, const Resources& resources) {
  if (!resources.any()) return;
  page.open("resources");
  for (const auto& option : resource_options) {
    const std::uint64_t amount = resources.*option.member;
    if (amount != 0) page.line(option.key, amount_text(amount, option.unit), option.meaning);
  }
  if (resources.cpu != 0)
    page.line("cpu", yaml_quote(std::to_string(resources.cpu) + "%"), "of one core");
  page.close();
}

void put_workers(Page& page, const Application& application) {
  const std::string most = std::to_string(application.workers);
  if (!application.demand) {
    page.line("workers", most);
  } else {
    page.line("workers", "{min: " + std::to_string(application.demand->min) + ", max: " + most +
                             ", idle: " + duration_text(application.demand->idle) + "}");
  }
  put_recycle(page, application.recycle);
  put_resources(page, application.resources);
}

void put_application(Page& page, const Application& application) {
  page.line("wsgi", yaml_quote(application.reference));
  page.line("directory", yaml_quote(application.directory));
  if (!application.python.empty()) page.line("python", yaml_quote(application.python));
  if (!application.user.empty()) page.line("user", yaml_quote(application.user));
  if (application.embedded) {
    page.line("embedded", truth(true));
  } else {
    put_workers(page, application);
    page.line("preload", word_of(application.preload, preloads));
    page.line("shared_imports", inline_list(application.shared_imports));
  }
  page.line("threads", std::to_string(application.threads));
  if (!application.environment.empty()) {
    page.open("environment");
    for (const auto& [name, value] : application.environment)
      page.line(yaml_quote(name), yaml_quote(value));
    page.close();
  }
  if (!application.environment_file.empty())
    page.line("environment_file", yaml_quote(application.environment_file));
  if (application.health) put_health(page, *application.health);
  if (!application.embedded) put_deploy(page, application);
  put_companions(page, application);
}

void put_pool_use(Page& page, const Pool& pool) {
  if (!is_inline(pool)) return page.line("to", yaml_quote(pool.name));
  page.open("to");
  for (const Endpoint& endpoint : pool.endpoints) page.item(inline_endpoint(endpoint));
  page.close();
}

bool is_root(const Route& route) { return route.path == "/"; }

/// Whether what answers there is what answers "/".
bool is_inherited(const Route& route, const Site& site) {
  const Route& first = site.routes.front();
  return !is_root(route) && is_root(first) && route.handler == first.handler;
}

void put_handler(Page& page, const Route& route, const Config& config) {
  if (const auto* to = std::get_if<ToApplication>(&route.handler)) {
    const Application* application = find_application(config, to->application);
    if (application != nullptr) put_application(page, *application);
  }
  if (const auto* to = std::get_if<ToPool>(&route.handler)) {
    const Pool* pool = find_pool(config, to->pool);
    if (pool != nullptr) put_pool_use(page, *pool);
  }
}

void put_route(Page& page, const Route& route, const Site& site, const Config& config) {
  if (!is_inherited(route, site)) put_handler(page, route, config);
  if (std::holds_alternative<ToApplication>(route.handler))
    page.line("request", word_of(route.request, handovers));
  page.line("timeouts", inline_timeouts(route.timeouts));
  page.line("limits", inline_limits(route.limits));
}

void put_hosts(Page& page, const Site& site) {
  const std::size_t key = site.is_default ? 0 : 1;  // the first host is the site's key
  if (site.hosts.size() <= key) return;
  page.open("aliases");
  for (std::size_t i = key; i < site.hosts.size(); ++i) page.item(yaml_quote(site.hosts[i]));
  page.close();
}

void put_routes(Page& page, const Site& site, const Config& config) {
  if (std::all_of(site.routes.begin(), site.routes.end(), is_root)) return;
  page.open("routes");
  for (const Route& route : site.routes) {
    if (is_root(route)) continue;
    page.open(yaml_quote(route.path));
    put_route(page, route, site, config);
    page.close();
  }
  page.close();
}

void put_site(Page& page, const Site& site, const Config& config) {
  page.open(yaml_quote(site.is_default ? "default" : site.name));
  put_hosts(page, site);
  for (const Route& route : site.routes) {
    if (is_root(route)) put_route(page, route, site, config);
  }
  page.line("log", inline_log(site.log));
  page.line("merge_slashes", truth(site.merge_slashes));
  page.line("unsafe_encoded_slashes", truth(site.unsafe_encoded_slashes));
  page.line("unsafe_unknown_methods", truth(site.unsafe_unknown_methods));
  put_routes(page, site, config);
  page.close();
}

}  // namespace

std::string effective(const Config& config) {
  Page page;
  put_server(page, config);
  put_defaults(page, config);
  if (!std::all_of(config.pools.begin(), config.pools.end(), is_inline)) {
    page.open("pools");
    for (const Pool& pool : config.pools) {
      if (!is_inline(pool)) put_pool(page, pool);
    }
    page.close();
  }
  if (!config.sites.empty()) page.open("sites");
  for (const Site& site : config.sites) put_site(page, site, config);
  return page.take();
}

}  // namespace portico::conf
