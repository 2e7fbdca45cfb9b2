#include "conf/handlers.h"

#include <array>

#include "conf/companions.h"
#include "conf/deploy_keys.h"
#include "conf/life_keys.h"
#include "conf/names.h"
#include "conf/pools.h"
#include "conf/settings.h"
#include "conf/shared_imports.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

constexpr std::array<std::string_view, 2> handler_keys{"wsgi", "to"};
constexpr std::array<std::string_view, 18> application_keys{
    "directory", "python",  "user",           "workers",     "threads",          "recycle",
    "embedded",  "preload", "shared_imports", "environment", "environment_file", "health",
    "touch",     "reload",  "before_deploy",  "warm",        "processes",        "resources"};

/// What an embedded application cannot have.
constexpr std::array<std::string_view, 12> processes_keys{
    "workers", "user",   "environment_file", "recycle", "preload",   "shared_imports",
    "touch",   "reload", "before_deploy",    "warm",    "processes", "resources"};

/// "shop.example" of a whole site, "shop.example/blog/" of a route.
std::string application_name(const Place& place) {
  return place.route.path == "/" ? place.site : place.site + place.route.path;
}

std::string script_name(const std::string& path) {
  return path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

bool is_scalar(const Node& node) { return node.kind == Node::Kind::scalar; }

void read_environment(Reader& reader, const Node& node, Application& into) {
  for (const Entry& entry : reader.named(node, "names and values: {NAME: value}")) {
    const auto name = reader.accept(entry.key, parse_variable(entry.key.text));
    if (!is_scalar(entry.value) || entry.value.text.find('\0') != std::string::npos) {
      reader.refuse(entry.value,
                    "a variable holds one text without NUL; write it in quotes, \"\" "
                    "for an empty one");
    } else if (name) {
      into.environment.emplace_back(*name, entry.value.text);
    }
  }
}

void read_environment_file(Reader& reader, const Node& node, Application& into) {
  reader.read_path(&node, into.environment_file);
  into.environment_file_where = reader.at(node);
}

void read_application_user(Reader& reader, const Node& node, Application& into) {
  const std::string* text = reader.word(node, "a user's name such as \"shop\"");
  const auto user = text ? reader.accept(node, parse_user(*text)) : std::nullopt;
  if (user) into.user = *user;
  into.user_where = reader.at(node);
}

void read_directory(Reader& reader, const Node& owner, const Mapping& mapping, Application& into) {
  const Node* node = mapping.find("directory");
  if (node != nullptr) {
    reader.read_path(node, into.directory);
    into.directory_where = reader.at(*node);
  } else if (!mapping.has_unknown()) {
    reader.refuse(owner,
                  "a wsgi handler without a directory; write \"directory:\" and where the "
                  "application lives");
  }
}

/// A path, or the name of a command such as python3.12 that resolve_python() looks for in PATH.
void read_python(Reader& reader, const Node& node, Application& into) {
  const bool is_command = is_scalar(node) && node.text.starts_with("python") &&
                          node.text.find('/') == std::string::npos;
  into.python_where = reader.at(node);
  if (is_command) {
    into.python = node.text;
  } else {
    reader.read_path(&node, into.python);
  }
}

void read_application_health(Reader& reader, const Node& node, Application& into) {
  into.health.emplace();
  read_health(reader, node, *into.health);
  if (into.health->path.empty()) {
    reader.refuse(node, "an application is asked over HTTP; write {path: /healthz}");
  }
}

void refuse_second_embedded(Reader& reader, const Node& node, const Config& config) {
  for (const Application& other : config.applications) {
    if (!other.embedded) continue;
    return reader.refuse(node, "the application " + quoted(other.name) +
                                   " is embedded already, and the front has one interpreter with "
                                   "one working directory; leave \"embedded\" out of one of them");
  }
}

/// The front's process is there once, is the front's user, and is not replaced.
void read_embedded(Reader& reader, const Mapping& mapping, const Config& config,
                   Application& into) {
  const Node* node = mapping.find("embedded");
  reader.read_bool(node, into.embedded);
  if (!into.embedded) return;
  into.workers = 1;
  refuse_second_embedded(reader, *node, config);
  if (mapping.has_unknown()) return;
  for (const std::string_view key : processes_keys) {
    if (mapping.find(key) == nullptr) continue;
    reader.refuse(mapping.key(key), quoted(key) +
                                        " needs processes of the application's own, and this one "
                                        "is embedded in the front; take it out, or \"embedded\"");
  }
}

/// 0: the front's loop calls the application, which two loops must not.
void read_threads(Reader& reader, const Node* node, const Config& config, Application& into) {
  reader.read_unsigned(node, into.embedded ? 0 : 1, 256, into.threads);
  if (into.threads == 0 && config.front_threads != 1) {
    reader.refuse(*node,
                  "without threads the front calls the application itself, in its only thread; "
                  "write \"front_threads: 1\" at the top, or threads here");
  }
}

Handler read_application(Reader& reader, const Node& owner, const Mapping& mapping,
                         const Place& place, Config& config) {
  Application application;
  application.name = application_name(place);
  application.site = place.site;
  application.script_name = script_name(place.route.path);
  application.timeouts = place.route.timeouts;
  application.limits = place.route.limits;
  const Node& wsgi = *mapping.find("wsgi");
  application.where = reader.at(wsgi);
  application.directory_where = application.python_where = application.where;
  application.user_where = application.environment_file_where = application.where;
  const std::string* text = reader.word(wsgi, "\"module\", \"module:callable\" or \"file.py\"");
  const auto reference = text ? reader.accept(wsgi, parse_reference(*text)) : std::nullopt;
  if (reference) application.reference = *reference;
  read_directory(reader, owner, mapping, application);
  if (const Node* node = mapping.find("python")) read_python(reader, *node, application);
  read_embedded(reader, mapping, config, application);
  if (!application.embedded) read_life_keys(reader, mapping, application);
  read_threads(reader, mapping.find("threads"), config, application);
  reader.read_choice(mapping.find("preload"), preloads, application.preload);
  if (!application.embedded) {
    application.shared_imports = config.shared_imports;
    read_shared_imports(reader, mapping.find("shared_imports"), application.shared_imports);
  }
  if (const Node* node = mapping.find("environment")) read_environment(reader, *node, application);
  if (const Node* node = mapping.find("environment_file"))
    read_environment_file(reader, *node, application);
  if (const Node* node = mapping.find("user")) read_application_user(reader, *node, application);
  if (const Node* node = mapping.find("health"))
    read_application_health(reader, *node, application);
  read_deploy_keys(reader, mapping, application);
  if (const Node* node = mapping.find("processes")) read_companions(reader, *node, application);
  config.applications.push_back(std::move(application));
  return ToApplication{config.applications.back().name};
}

void refuse_unknown_pool(Reader& reader, const Node& node, const Config& config) {
  std::vector<std::string_view> names;
  for (const Pool& pool : config.pools) names.push_back(pool.name);
  const std::string_view near = nearest(node.text, names);
  reader.refuse(node, "there is no pool " + quoted(node.text) + "; write " +
                          (near.empty() ? "it under \"pools\", or an address such as " +
                                              quoted(node.text + ":8000")
                                        : quoted(near)));
}

bool is_pool_name(const Node& node) {
  return is_scalar(node) && node.text.find_first_of(":/[") == std::string::npos;
}

std::optional<Handler> read_to(Reader& reader, const Node& node, const Place& place,
                               Config& config) {
  if (is_pool_name(node)) {
    if (find_pool(config, node.text) != nullptr) return ToPool{node.text};
    refuse_unknown_pool(reader, node, config);
    return std::nullopt;
  }
  Pool pool;
  pool.name = place.site + place.route.path;
  pool.endpoints = read_endpoints(reader, node);
  pool.queue = place.route.limits.queue;
  pool.where = reader.at(node);
  if (pool.endpoints.empty()) return std::nullopt;
  config.pools.push_back(std::move(pool));
  return ToPool{config.pools.back().name};
}

}  // namespace

bool has_handler(const Mapping& mapping) {
  for (const std::string_view key : handler_keys) {
    if (mapping.find(key) != nullptr) return true;
  }
  return false;
}

std::optional<Handler> read_handler(Reader& reader, const Node& owner, const Mapping& mapping,
                                    const Place& place, Config& config) {
  const Node* wsgi = mapping.find("wsgi");
  const Node* to = mapping.find("to");
  if (wsgi != nullptr && to != nullptr) {
    reader.refuse(mapping.key("to"), "\"wsgi\" and \"to\" side by side; write one of them");
    return std::nullopt;
  }
  if (wsgi != nullptr) return read_application(reader, owner, mapping, place, config);
  refuse_application_keys(reader, mapping);
  if (to != nullptr) return read_to(reader, *to, place, config);
  if (!mapping.has_unknown()) {
    reader.refuse(owner,
                  quoted(owner.text) + " has nothing that answers; write \"wsgi\" or \"to\"");
  }
  return std::nullopt;
}

void refuse_application_keys(Reader& reader, const Mapping& mapping) {
  if (mapping.has_unknown()) return;
  for (const std::string_view key : application_keys) {
    if (mapping.find(key) == nullptr) continue;
    const bool is_health = key == "health" && mapping.find("to") != nullptr;
    reader.refuse(mapping.key(key),
                  quoted(key) + (is_health ? " of addresses belongs to a pool; write it under "
                                             "\"pools\""
                                           : " belongs to \"wsgi\"; take it out"));
  }
}

}  // namespace portico::conf
