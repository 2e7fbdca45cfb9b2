#include "proxy/run/find_application.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

namespace portico::run {
namespace {

// Django's own manage.py has 600 bytes.
constexpr std::size_t manage_bytes = 64 * 1024;

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(manage_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

bool is_module_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
}

/// "config.settings.local" may have its wsgi.py in config/settings or in config.
std::string django_application(const std::string& directory) {
  std::string package = settings_module(text_of(directory + "/manage.py"));
  while (package.find('.') != std::string::npos) {
    package.resize(package.rfind('.'));
    std::string path = package;
    std::replace(path.begin(), path.end(), '.', '/');
    path.insert(0, directory + "/").append("/wsgi.py");
    if (exists(path)) return package + ".wsgi";
  }
  return {};
}

}  // namespace

std::string settings_module(const std::string& manage_text) {
  constexpr std::string_view name = "DJANGO_SETTINGS_MODULE";
  const auto at = manage_text.find(name);
  if (at == std::string::npos) return {};
  const auto comma = manage_text.find_first_of(",=", at + name.size());
  const auto open = manage_text.find_first_of("\"'", comma == std::string::npos ? at : comma);
  if (comma == std::string::npos || open == std::string::npos) return {};
  const auto close = manage_text.find(manage_text[open], open + 1);
  if (close == std::string::npos) return {};
  const std::string module = manage_text.substr(open + 1, close - open - 1);
  return is_module_name(module) ? module : "";
}

std::string find_application(const std::string& directory) {
  std::string django = django_application(directory);
  if (!django.empty()) return django;
  static constexpr std::array<std::string_view, 3> usual = {"wsgi", "app", "application"};
  for (const std::string_view module : usual)
    if (exists(directory + "/" + std::string(module) + ".py")) return std::string(module);
  return {};
}

}  // namespace portico::run
