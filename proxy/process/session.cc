#include "proxy/process/session.h"

#include <dirent.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>

namespace portico::process {
namespace {

// A group that is killed may leave another that a child of it was just making.
constexpr int rounds = 8;

template <typename F>
void for_each_process(F&& look) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid > 1) look(pid);
  }
}

std::set<pid_t> groups_of(pid_t session) {
  std::set<pid_t> groups;
  for_each_process([&](pid_t pid) {
    const Kinship kin = kinship_of(pid);
    if (kin.session == session && kin.group > 1) groups.insert(kin.group);
  });
  return groups;
}

}  // namespace

// "pid (name) state ppid pgrp session ..."; the name may hold anything, also ")".
Kinship kinship_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(in, text, '\0');
  const auto end = text.rfind(')');
  Kinship kin;
  char state = 'Z';
  if (end == std::string::npos || std::sscanf(text.c_str() + end + 1, " %c %d %d %d", &state,
                                              &kin.parent, &kin.group, &kin.session) != 4)
    return {};
  return kin;
}

void kill_group(pid_t session, pid_t group) {
  if (session <= 1 || group <= 1) return;
  if (groups_of(session).contains(group)) ::kill(-group, SIGKILL);
}

void kill_session(pid_t session) {
  if (session <= 1) return;
  for (int round = 0; round < rounds; ++round) {
    const std::set<pid_t> groups = groups_of(session);
    if (groups.empty()) return;
    for (const pid_t group : groups) ::kill(-group, SIGKILL);
  }
}

}  // namespace portico::process
