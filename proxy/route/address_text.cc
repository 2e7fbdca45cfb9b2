#include "proxy/route/address_text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string>

#include "proxy/core/text.h"

namespace portico::route {
namespace {

using Family = net::Address::Family;

std::optional<std::uint16_t> port(std::string_view text) {
  const auto number = core::decimal(text);
  if (!number || *number > 0xffff) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

std::optional<net::Address> ip4(std::string_view text, std::uint16_t port) {
  std::array<std::uint8_t, 4> bytes;
  if (::inet_pton(AF_INET, std::string(text).c_str(), bytes.data()) != 1) return std::nullopt;
  return net::Address::ip(Family::ipv4, bytes.data(), port);
}

std::optional<net::Address> ip6(std::string_view text, std::uint16_t port) {
  static constexpr std::array<std::uint8_t, 12> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::array<std::uint8_t, 16> bytes;
  if (::inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1) return std::nullopt;
  if (std::equal(mapped.begin(), mapped.end(), bytes.begin()))
    return net::Address::ip(Family::ipv4, bytes.data() + mapped.size(), port);
  return net::Address::ip(Family::ipv6, bytes.data(), port);
}

std::optional<net::Address> in_brackets(std::string_view text) {
  const auto end = text.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view host = text.substr(1, end - 1);
  const std::string_view rest = text.substr(end + 1);
  if (rest.empty()) return ip6(host, 0);
  const auto number = rest.front() == ':' ? port(rest.substr(1)) : std::nullopt;
  return number ? ip6(host, *number) : std::nullopt;
}

}  // namespace

std::optional<net::Address> parse_node(std::string_view text) {
  constexpr std::size_t longest = INET6_ADDRSTRLEN + 8;
  if (text.empty() || text.size() > longest || text.find('\0') != std::string_view::npos)
    return std::nullopt;
  if (text.front() == '[') return in_brackets(text);
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return ip4(text, 0);
  if (text.find(':', colon + 1) != std::string_view::npos) return ip6(text, 0);
  const auto number = port(text.substr(colon + 1));
  return number ? ip4(text.substr(0, colon), *number) : std::nullopt;
}

net::Network network(const conf::Network& written) {
  const bool local = written.family == conf::Network::Family::unix_socket;
  const auto parsed = net::Network::parse(local ? "unix:" : written.text());
  return parsed ? *parsed : net::Network();
}

}  // namespace portico::route
