// ControlAccess: who may do what over the control socket.
//
// A value; pure. Made for each request of what the kernel says of the peer. Root and whoever runs
// the supervisor may do everything; the user of a site may see and do what concerns that site. The
// front's user may do nothing, even where sites run as it too: it faces the clients. portico(8),
// "CONTROL SOCKET".
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace portico::run {

class ControlAccess {
 public:
  /// What the rules need to know of this Portico.
  struct Users {
    uid_t owner = 0;                     ///< of the supervisor
    std::optional<uid_t> front;          ///< when that is another one
    std::map<std::string, uid_t> sites;  ///< name → whom its workers run as, where that is another
  };

  /// caller  none: the kernel does not tell; such a one may do nothing
  ControlAccess(Users users, std::optional<uid_t> caller)
      : users_(std::move(users)), caller_(caller) {}

  bool to_everything() const;
  bool to_site(const std::string& site) const;
  bool to_anything() const;  ///< at least to one site

 private:
  Users users_;
  std::optional<uid_t> caller_;
};

}  // namespace portico::run
