#include "proxy/net/hosts_file.h"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "proxy/core/text.h"

namespace portico::net {
namespace {

std::vector<Address> loopback() {
  return {*Address::parse_ip("127.0.0.1", 0), *Address::parse_ip("::1", 0)};
}

bool is_localhost(std::string_view name) {
  return name == "localhost" || name.ends_with(".localhost");
}

}  // namespace

std::vector<Address> HostsFile::find(std::string_view name) {
  refresh();
  std::string key = core::lower_copy(name);
  if (key.ends_with('.')) key.pop_back();
  if (const auto found = names_.find(key); found != names_.end()) return found->second;
  return is_localhost(key) ? loopback() : std::vector<Address>();
}

void HostsFile::refresh() {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) status.st_mtim = {};
  const bool same = status.st_mtim.tv_sec == modified_.tv_sec &&
                    status.st_mtim.tv_nsec == modified_.tv_nsec && status.st_size == size_;
  if (same) return;
  modified_ = status.st_mtim;
  size_ = status.st_size;
  names_.clear();
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) read_line(line);
}

/// hosts(5): "address name alias ... # comment"; lines of another kind are passed over.
void HostsFile::read_line(const std::string& line) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  words >> word;
  const auto address = Address::parse_ip(word, 0);
  if (!address) return;
  while (words >> word) names_[core::lower_copy(word)].push_back(*address);
}

}  // namespace portico::net
