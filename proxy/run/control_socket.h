// ControlSocket: the listening Unix socket of the control interface, and its place in the file
// system.
//
// Made by the supervisor before anything starts, so that a second Portico for the same place stops
// there; removed at the end. One thread. Who may do what is decided for each request by the peer's
// credentials (control_access.h).
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "proxy/core/fd.h"

namespace portico::run {

class ControlSocket {
 public:
  /// What making it came to: `socket` has no descriptor when `problem` says why, in a sentence.
  struct Made;

  ControlSocket() = default;
  ControlSocket(ControlSocket&& other) noexcept
      : path_(std::exchange(other.path_, {})), fd_(std::move(other.fd_)), inode_(other.inode_) {}
  ControlSocket& operator=(ControlSocket other) noexcept {
    std::swap(path_, other.path_);
    std::swap(fd_, other.fd_);
    std::swap(inode_, other.inode_);
    return *this;
  }
  ~ControlSocket();  ///< removes the path, if it is still ours

  /// Makes the directory (mode 0755, or 0700 below /tmp and $XDG_RUNTIME_DIR) where it is missing,
  /// and the socket. That of an instance that has died is replaced. For root's everybody may
  /// connect (mode 0666), since a site's user speaks for its site; else the owner alone (0600).
  static Made make(const std::string& path);

  core::Fd take_descriptor() { return std::move(fd_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  core::Fd fd_;
  ino_t inode_ = 0;
};

struct ControlSocket::Made {
  ControlSocket socket;
  std::string problem;
  bool in_use = false;  ///< the problem: somebody listens there
};

}  // namespace portico::run
