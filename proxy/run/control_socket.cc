#include "proxy/run/control_socket.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "proxy/net/address.h"
#include "proxy/net/socket.h"
#include "proxy/process/identity.h"

namespace portico::run {
namespace {

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// Others may come in to where root's sockets are, since a site's user speaks for its own site;
/// what a person runs is that person's.
mode_t socket_mode() { return process::started_as_root() ? 0666 : 0600; }
mode_t directory_mode() { return process::started_as_root() ? 0755 : 0700; }

/// A directory that another user could exchange or write into is a trap (/tmp is everybody's).
/// Returns what is wrong with it; empty: nothing.
std::string distrust(const std::string& directory) {
  struct stat facts {};
  if (::lstat(directory.c_str(), &facts) != 0) return std::strerror(errno);
  if (S_ISLNK(facts.st_mode) && ::stat(directory.c_str(), &facts) != 0) return std::strerror(errno);
  if (!S_ISDIR(facts.st_mode)) return "it is no directory";
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0) return "it belongs to another user";
  const bool open = (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return open && (facts.st_mode & S_ISVTX) == 0 ? "others may write in it" : "";
}

/// Empty: it is there and may be used.
std::string prepare_directory(const std::string& directory) {
  if (::mkdir(directory.c_str(), directory_mode()) == 0) {
    ::chmod(directory.c_str(), directory_mode());  // whatever our umask is
    return {};
  }
  if (errno != EEXIST) return std::strerror(errno);
  return distrust(directory);
}

constexpr std::string_view remedy =
    "; write another path after \"control\", or \"off\" to do without";

}  // namespace

ControlSocket::~ControlSocket() {
  struct stat facts {};
  if (path_.empty() || ::lstat(path_.c_str(), &facts) != 0) return;
  if (facts.st_ino == inode_) ::unlink(path_.c_str());
}

ControlSocket::Made ControlSocket::make(const std::string& path) {
  Made made;
  const auto fail = [&](const std::string& why) {
    made.problem = "no control socket at " + path + ": " + why + std::string(remedy);
  };
  const std::string wrong = prepare_directory(parent_of(path));
  if (!wrong.empty()) {
    fail(parent_of(path) + ": " + wrong);
    return made;
  }
  auto fd = net::listen_on(net::Address::local(path), {.backlog = 64, .unix_mode = socket_mode()});
  if (!fd) {
    made.in_use = fd.error().os == EADDRINUSE;
    fail(made.in_use ? "another Portico runs there, or it is no socket (see: portico status)"
                     : std::strerror(fd.error().os));
    return made;
  }
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0) made.socket.inode_ = facts.st_ino;
  made.socket.path_ = path;
  made.socket.fd_ = std::move(*fd);
  return made;
}

}  // namespace portico::run
