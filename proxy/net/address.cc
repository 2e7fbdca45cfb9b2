#include "proxy/net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "proxy/core/text.h"

namespace portico::net {
namespace {

constexpr std::string_view local_prefix = "unix:";
constexpr std::array<std::uint8_t, 12> mapped_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
// sun_path with room for its final NUL.
constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

core::Error malformed(std::string_view doing) { return {core::Fault::internal, EINVAL, doing}; }

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto number = core::decimal(text);
  if (!number || *number > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

// "127.0.0.1" and "[::1]": an IPv6 address stands in brackets before a port, and only there.
core::Result<Address> parse_host(std::string_view host, std::uint16_t port) {
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (bracketed != (host.find(':') != std::string_view::npos))
    return malformed("reading an IP address");
  return Address::parse_ip(host, port);
}

// inet_ntop formats by printf, which costs as much as finding the route of a request.
std::string dotted(std::string_view bytes) {
  std::array<char, 16> text;  // "255.255.255.255" and a dot
  char* at = text.data();
  for (const char byte : bytes) {
    at = std::to_chars(at, text.data() + text.size(), static_cast<unsigned char>(byte)).ptr;
    *at++ = '.';
  }
  return {text.data(), at - 1};
}

std::string ip6_text(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, bytes.data(), text.data(), static_cast<socklen_t>(text.size()));
  return text.data();
}

Address from_local(const sockaddr* address, socklen_t length) {
  constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);
  if (length <= path_offset) return Address::local({});
  const char* path = reinterpret_cast<const sockaddr_un*>(address)->sun_path;
  const std::size_t size = length - path_offset;
  if (path[0] == '\0') return Address::local({});  // nameless, or of the abstract kind
  return Address::local(std::string(path, ::strnlen(path, size)));
}

}  // namespace

core::Result<Address> Address::parse(std::string_view text) {
  if (text.starts_with(local_prefix)) {
    const std::string_view path = text.substr(local_prefix.size());
    if (path.empty() || path.size() > longest_path || path.find('\0') != std::string_view::npos)
      return malformed("reading the path of a Unix socket");
    return local(std::string(path));
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed("reading an address without a port");
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return malformed("reading the port of an address");
  return parse_host(text.substr(0, colon), *port);
}

core::Result<Address> Address::parse_ip(std::string_view host, std::uint16_t port) {
  const std::string text(host);  // with a NUL behind it
  if (text.find('\0') != std::string::npos) return malformed("reading an IP address");
  std::array<std::uint8_t, 16> bytes;
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1)
    return ip(Family::ipv4, bytes.data(), port);
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1)
    return ip(Family::ipv6, bytes.data(), port);
  return malformed("reading an IP address");
}

// An IPv4 client of an IPv6 socket (RFC 4291 §2.5.5.2) is IPv4 everywhere in here.
Address Address::ip(Family family, const std::uint8_t* bytes, std::uint16_t port) {
  Address address;
  address.port_ = port;
  address.family_ = family;
  if (family == Family::ipv6 && std::equal(mapped_prefix.begin(), mapped_prefix.end(), bytes)) {
    address.family_ = Family::ipv4;
    bytes += mapped_prefix.size();
  }
  std::copy_n(bytes, address.family_ == Family::ipv4 ? 4 : 16, address.bytes_.begin());
  return address;
}

Address Address::local(std::string path) {
  Address address;
  address.family_ = Family::local;
  address.path_ = std::move(path);
  return address;
}

Address Address::from(const sockaddr* address, socklen_t length) {
  if (length < sizeof(sa_family_t)) return {};
  if (address->sa_family == AF_UNIX) return from_local(address, length);
  if (address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
    sockaddr_in in;
    std::memcpy(&in, address, sizeof in);
    return ip(Family::ipv4, reinterpret_cast<const std::uint8_t*>(&in.sin_addr),
              ntohs(in.sin_port));
  }
  if (address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
    sockaddr_in6 in;
    std::memcpy(&in, address, sizeof in);
    return ip(Family::ipv6, in.sin6_addr.s6_addr, ntohs(in.sin6_port));
  }
  return {};
}

Address Address::with_port(std::uint16_t port) const {
  Address other = *this;
  if (family_ != Family::local) other.port_ = port;
  return other;
}

std::string_view Address::ip_bytes() const {
  const std::size_t size = family_ == Family::ipv4 ? 4 : family_ == Family::ipv6 ? 16 : 0;
  return {reinterpret_cast<const char*>(bytes_.data()), size};
}

bool Address::is_loopback() const {
  constexpr std::string_view one{"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16};
  if (family_ == Family::ipv4) return bytes_[0] == 127;
  return family_ == Family::ipv6 && ip_bytes() == one;
}

std::string Address::host_text() const {
  switch (family_) {
    case Family::ipv4:
      return dotted(ip_bytes());
    case Family::ipv6:
      return ip6_text(ip_bytes());
    case Family::local:
      return std::string(local_prefix) + path_;
    case Family::none:
      break;
  }
  return {};
}

std::string Address::text() const {
  if (family_ == Family::ipv4) return host_text() + ":" + std::to_string(port_);
  if (family_ == Family::ipv6) return "[" + host_text() + "]:" + std::to_string(port_);
  return host_text();
}

socklen_t Address::fill(sockaddr_storage& out) const {
  std::memset(&out, 0, sizeof out);
  if (family_ == Family::ipv4) {
    auto* in = reinterpret_cast<sockaddr_in*>(&out);
    in->sin_family = AF_INET;
    in->sin_port = htons(port_);
    std::memcpy(&in->sin_addr, bytes_.data(), 4);
    return sizeof(sockaddr_in);
  }
  if (family_ == Family::ipv6) {
    auto* in = reinterpret_cast<sockaddr_in6*>(&out);
    in->sin6_family = AF_INET6;
    in->sin6_port = htons(port_);
    std::memcpy(&in->sin6_addr, bytes_.data(), 16);
    return sizeof(sockaddr_in6);
  }
  auto* un = reinterpret_cast<sockaddr_un*>(&out);
  un->sun_family = family_ == Family::local ? AF_UNIX : AF_UNSPEC;
  const std::size_t size = std::min(path_.size(), longest_path);
  std::memcpy(un->sun_path, path_.data(), size);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size + 1);
}

core::Result<Network> Network::parse(std::string_view text) {
  Network network;
  if (text == "unix" || text == local_prefix) {
    network.base_ = Address::local({});
    return network;
  }
  const std::size_t slash = text.find('/');
  const auto base = Address::parse_ip(text.substr(0, slash), 0);
  if (!base) return base.error();
  network.base_ = *base;
  const std::uint64_t most = base->ip_bytes().size() * 8;
  const auto bits =
      slash == std::string_view::npos ? most : core::decimal(text.substr(slash + 1)).value_or(256);
  if (bits > most) return malformed("reading the length of a network's prefix");
  network.bits_ = static_cast<unsigned>(bits);
  return network;
}

bool Network::contains(const Address& address) const {
  if (address.family() != base_.family()) return false;
  if (base_.family() == Address::Family::local) return true;
  const std::string_view ours = base_.ip_bytes();
  const std::string_view theirs = address.ip_bytes();
  const std::size_t whole = bits_ / 8;
  if (ours.substr(0, whole) != theirs.substr(0, whole)) return false;
  const unsigned rest = bits_ % 8;
  if (rest == 0) return true;
  const auto differing = static_cast<unsigned char>(ours[whole] ^ theirs[whole]);
  return differing >> (8 - rest) == 0;
}

}  // namespace portico::net
