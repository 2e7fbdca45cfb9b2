#include "proxy/process/identity.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>

namespace portico::process {
namespace {

// Where sysconf(_SC_GETPW_R_SIZE_MAX) does not say, and enough for long NSS answers.
constexpr std::size_t entry_bytes = 64 * 1024;

std::vector<gid_t> groups_of(const std::string& user, gid_t group) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (::getgrouplist(user.c_str(), group, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    ::getgrouplist(user.c_str(), group, groups.data(), &count);
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

}  // namespace

core::Result<Identity> find_identity(const std::string& user) {
  std::vector<char> room(entry_bytes);
  passwd entry{};
  passwd* found = nullptr;
  const int failure = ::getpwnam_r(user.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) return core::Error{core::Fault::internal, failure, "looking up the user"};
  return Identity{entry.pw_uid, entry.pw_gid, groups_of(user, entry.pw_gid), user, entry.pw_dir};
}

core::Result<Identity> front_identity(const std::string& user) {
  if (!user.empty()) return find_identity(user);
  auto ours = find_identity("portico");
  return ours ? std::move(ours) : find_identity("nobody");
}

bool started_as_root() { return ::geteuid() == 0; }

const char* change_identity(uid_t user, gid_t group, const gid_t* groups, std::size_t count) {
  if (::setgroups(count, groups) != 0) return "setting the groups";
  if (::setresgid(group, group, group) != 0) return "changing the group";
  if (::setresuid(user, user, user) != 0) return "changing the user";
  errno = 0;
  if (user != 0 && ::setuid(0) == 0) return "giving up root";
  return nullptr;
}

core::Result<void> become(const Identity& identity) {
  const char* failed = change_identity(identity.user, identity.group, identity.groups.data(),
                                       identity.groups.size());
  if (failed != nullptr) return core::Error{core::Fault::internal, errno, failed};
  return {};
}

}  // namespace portico::process
