// HostsFile: the names of /etc/hosts, read again when the file has changed. Owned by a Resolver;
// one thread.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/address.h"

namespace portico::net {

class HostsFile {
 public:
  explicit HostsFile(std::string path) : path_(std::move(path)) {}

  /// The addresses of a name (any case), port 0, in the file's order; none: it does not stand
  /// there. "localhost" and names below it are there always (RFC 6761 §6.3).
  std::vector<Address> find(std::string_view name);

 private:
  void refresh();
  void read_line(const std::string& line);

  std::string path_;
  std::timespec modified_{};
  off_t size_ = 0;
  std::map<std::string, std::vector<Address>, std::less<>> names_;
};

}  // namespace portico::net
