// Resolver: DNS names to addresses on the loop, by c-ares; nothing here ever waits.
//
// One per front thread, owned by it; it outlives its lookups. The hosts file and localhost come
// first. Lookup is one question; ResolvedName (resolved_name.h) keeps a name's addresses fresh.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/net/address.h"
#include "proxy/net/hosts_file.h"

namespace portico::net {

struct ResolverOptions {
  std::string hosts_file = "/etc/hosts";
  std::vector<Address> servers;  ///< with ports; empty: those of /etc/resolv.conf
  core::Duration try_wait = std::chrono::seconds(2);  ///< for one server's answer
  int tries = 3;
};

/// What a name stands for.
struct Answer {
  std::vector<Address> addresses;  ///< with the port asked for; A and AAAA
  core::Duration ttl{};            ///< the smallest of the records; of the hosts file: zero
};

class Lookup;

class Resolver {
 public:
  explicit Resolver(core::Loop& loop, ResolverOptions options = {});
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  core::Loop& loop() const;

 private:
  friend class Lookup;
  struct Query;
  class Ares;  // c-ares, its sockets and its timer
  ResolverOptions options_;
  HostsFile hosts_;
  std::unique_ptr<Ares> ares_;
};

/// One question under way; destroying it means that nobody wants the answer any more.
class Lookup {
 public:
  /// `owner` is woken when take() has something to say; it may have at once.
  Lookup(Resolver& resolver, core::Active& owner, const std::string& name, std::uint16_t port);
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  ~Lookup();

  /// The answer; nothing: wait.
  /// Errors  name_unresolved; `doing` tells whether the name does not exist or no server answered
  core::Result<std::optional<Answer>> take() const;

 private:
  friend class Resolver;
  void finish(Answer answer);
  void fail(std::string_view doing);

  core::Active& owner_;
  std::uint16_t port_;
  Resolver::Query* query_ = nullptr;  // c-ares holds it, and ends it
  std::optional<Answer> answer_;
  core::Error error_;
};

}  // namespace portico::net
