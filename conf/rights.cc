#include "conf/rights.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace portico::conf {
namespace {

constexpr uid_t root = 0;

Identity unknown(const std::string& name) { return {name, 0, {}, false}; }

std::vector<gid_t> groups_of(const passwd& entry) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    if (getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) count = 0;
  }
  groups.resize(static_cast<std::size_t>(count));
  groups.push_back(entry.pw_gid);
  return groups;
}

Identity named(const std::string& name) {
  const passwd* entry = getpwnam(name.c_str());
  if (entry == nullptr) return unknown(name);
  return {name, entry->pw_uid, groups_of(*entry), true};
}

std::string name_of(uid_t uid) {
  const passwd* entry = getpwuid(uid);
  return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

Identity whoever_runs_this() {
  std::vector<gid_t> groups(1, getegid());
  const int count = getgroups(0, nullptr);
  if (count > 0) {
    groups.resize(static_cast<std::size_t>(count));
    groups.resize(static_cast<std::size_t>(std::max(0, getgroups(count, groups.data()))));
    groups.push_back(getegid());
  }
  return {name_of(geteuid()), geteuid(), std::move(groups), true};
}

/// The owner's, the group's or the others' three bits, as the kernel picks them.
unsigned bits_for(const Identity& user, const struct stat& status) {
  if (status.st_uid == user.uid) return (status.st_mode >> 6) & 7U;
  const bool in_group =
      std::find(user.groups.begin(), user.groups.end(), status.st_gid) != user.groups.end();
  return (in_group ? status.st_mode >> 3 : status.st_mode) & 7U;
}

bool has_right(const Identity& user, const std::string& path, Right right) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  if (user.uid == root) return true;
  return (bits_for(user, status) & static_cast<unsigned>(right)) != 0;
}

std::string without_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  return real ? std::string(real.get()) : path;
}

}  // namespace

Identity front_identity(const Config& config) {
  if (geteuid() != root) return whoever_runs_this();
  if (!config.user.empty()) return named(config.user);
  Identity portico = named("portico");
  return portico.is_known ? portico : named("nobody");
}

Identity application_identity(const Config& config, const Application& application) {
  if (application.user.empty() || geteuid() != root) return front_identity(config);
  return named(application.user);
}

bool asks_too_much(const Application& application) {
  return geteuid() != root && !application.user.empty() && named(application.user).uid != geteuid();
}

bool may(const Identity& user, const std::string& path, Right right) {
  const std::string real = without_links(path);
  for (std::size_t slash = real.find('/', 1); slash != std::string::npos;
       slash = real.find('/', slash + 1)) {
    if (!has_right(user, real.substr(0, slash), Right::enter)) return false;
  }
  return has_right(user, real, right);
}

}  // namespace portico::conf
