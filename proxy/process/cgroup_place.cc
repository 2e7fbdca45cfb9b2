#include "proxy/process/cgroup_place.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "proxy/process/cgroup_files.h"

namespace portico::process {
namespace {

constexpr std::string_view no_tree =
    "this machine has no control groups of version 2 (cgroup2); boot Linux with "
    "systemd.unified_cgroup_hierarchy=1, or take \"resources\" out";
constexpr std::string_view not_delegated =
    "systemd has not delegated its control group to Portico; write \"Delegate=yes\" under "
    "[Service] of its unit, then systemctl daemon-reload and restart it";

std::string text_of(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Calls look() with each line until it says that it has seen enough.
template <class Look>
void for_each_line(std::string_view text, Look look) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (look(text.substr(0, end))) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// A space in a path is written "\040" (proc_pid_mountinfo(5)).
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && text.size() - i > 3;
    if (is_escape) {
      out +=
          static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// The group that a line "0::/path" names.
std::string group_in(std::string_view memberships) {
  std::string group;
  for_each_line(memberships, [&](std::string_view line) {
    if (line.starts_with("0::/")) group = line.substr(3);
    return !group.empty();
  });
  return group;
}

// A container may see but a part of the tree: then what is mounted is not the root.
std::optional<std::string> below(const std::string& group, const std::string& root) {
  if (root == "/") return group == "/" ? "" : group;
  if (!(group + "/").starts_with(root + "/")) return std::nullopt;
  return group.substr(root.size());
}

// "31 23 0:28 ROOT POINT options - cgroup2 source options"
std::optional<CgroupPlace> place_in(std::string_view mount, const std::string& group) {
  constexpr std::size_t root = 3;
  constexpr std::size_t point = 4;
  const std::vector<std::string> words = words_of(mount);
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (words.size() <= point || words.end() - dash < 2 || *(dash + 1) != "cgroup2")
    return std::nullopt;
  const auto rest = below(group, unescaped(words[root]));
  if (!rest) return std::nullopt;
  CgroupPlace place;
  place.top = unescaped(words[point]);
  place.home = place.top + *rest;
  return place;
}

// How systemd marks what it has delegated; "trusted" is for root alone to read.
bool is_marked(const std::string& directory) {
  char mark = 0;
  for (const char* name : {"user.delegate", "trusted.delegate"})
    if (::getxattr(directory.c_str(), name, &mark, 1) == 1 && mark == '1') return true;
  return false;
}

// As sd_booted(3).
bool systemd_runs() {
  struct stat facts {};
  return ::lstat("/run/systemd/system", &facts) == 0 && S_ISDIR(facts.st_mode);
}

// Its DelegateSubgroup= starts us one below what is delegated.
void find_base(CgroupPlace& place) {
  place.base = place.home;
  if (is_marked(place.base)) return;
  place.base = parent_of(place.home);
  if (is_marked(place.base)) return;
  place.base = place.home;
  if (!systemd_runs()) return;
  place.problem = not_delegated;
  place.is_certain = false;
}

void check_rights(CgroupPlace& place) {
  if (!place.problem.empty() || ::access(place.base.c_str(), W_OK) == 0) return;
  place.problem = "no control group can be made in " + place.base + " (" + std::strerror(errno) +
                  "); let Portico write there, or start it as a service of systemd with "
                  "\"Delegate=yes\"";
}

}  // namespace

std::vector<std::string> cgroup_controllers(const std::string& directory) {
  return words_of(read_cgroup_file(directory, "cgroup.controllers").value_or(std::string()));
}

CgroupPlace cgroup_place(std::string_view memberships, std::string_view mounts) {
  const std::string group = group_in(memberships);
  std::optional<CgroupPlace> found;
  for_each_line(mounts, [&](std::string_view line) {
    if (!group.empty()) found = place_in(line, group);
    return found.has_value();
  });
  if (found) return *found;
  CgroupPlace none;
  none.problem = no_tree;
  return none;
}

CgroupPlace own_cgroup_place() {
  CgroupPlace place = cgroup_place(text_of("/proc/self/cgroup"), text_of("/proc/self/mountinfo"));
  if (!place.problem.empty()) return place;
  find_base(place);
  check_rights(place);
  return place;
}

}  // namespace portico::process
