// Address: where a socket is or goes: IPv4, IPv6 or a Unix path. A small value; any thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/core/result.h"

namespace portico::net {

class Address {
 public:
  enum class Family : std::uint8_t { none, ipv4, ipv6, local };

  Address() = default;
  /// "127.0.0.1:80", "[::1]:80", "unix:/run/app.sock"; no names (see resolver).
  static core::Result<Address> parse(std::string_view text);
  /// An IP address alone: "127.0.0.1", "::1" (no brackets, no zone).
  static core::Result<Address> parse_ip(std::string_view host, std::uint16_t port);
  static Address ip(Family family, const std::uint8_t* bytes, std::uint16_t port);
  static Address local(std::string path);
  static Address from(const sockaddr* address, socklen_t length);

  Family family() const { return family_; }
  std::uint16_t port() const { return port_; }
  /// 4 or 16 bytes in network order; empty for a Unix path. An IPv4 client of an IPv6 socket is
  /// IPv4.
  std::string_view ip_bytes() const;
  const std::string& path() const { return path_; }
  bool is_loopback() const;  ///< 127.0.0.0/8 or ::1

  /// "127.0.0.1", "::1" or "unix:/path" ("unix:" for a nameless one)
  std::string host_text() const;
  std::string text() const;  ///< with the port: "127.0.0.1:80", "[::1]:80"

  /// Fills `out` for connect and bind; returns its length.
  socklen_t fill(sockaddr_storage& out) const;

  Address with_port(std::uint16_t port) const;  ///< a Unix path stays as it is

  auto operator<=>(const Address&) const = default;

 private:
  Family family_ = Family::none;
  std::uint16_t port_ = 0;
  std::array<std::uint8_t, 16> bytes_{};
  std::string path_;
};

/// An address range such as 10.0.0.0/8; "unix:" matches every Unix-socket client.
class Network {
 public:
  /// "10.0.0.0/8", "::1", "unix" (or "unix:"); bits beyond the prefix do not matter.
  static core::Result<Network> parse(std::string_view text);
  bool contains(const Address& address) const;

 private:
  Address base_;
  unsigned bits_ = 0;
};

}  // namespace portico::net
