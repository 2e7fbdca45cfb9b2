#include "proxy/http/authority.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>

#include "proxy/core/text.h"
#include "proxy/http/chars.h"

namespace portico::http {
namespace {

constexpr std::size_t longest_label = 63;  // RFC 1035 §2.3.4
constexpr std::size_t longest_name = 253;

core::Error bad_host() { return {core::Fault::bad_host, 0, "reading the host"}; }

constexpr bool digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool letter(char c) { return core::lower(c) >= 'a' && core::lower(c) <= 'z'; }

// Four numbers of 0-255 without leading zeros: other spellings mean other things to other parsers.
bool valid_ip4(std::string_view text) {
  unsigned numbers = 1;
  unsigned number = 0;
  unsigned digits = 0;
  for (char c : text) {
    if (c == '.') {
      if (digits == 0) return false;
      ++numbers;
      number = digits = 0;
      continue;
    }
    if (!digit(c) || (digits > 0 && number == 0)) return false;
    number = number * 10 + static_cast<unsigned>(c - '0');
    if (number > 255) return false;
    ++digits;
  }
  return numbers == 4 && digits > 0;
}

enum class Name : std::uint8_t { bad, name, ends_in_number };

// In one pass, for every request has a host: labels of letters, digits and inner hyphens.
Name look_at(std::string_view name) {
  std::size_t start = 0;  // of the label
  bool number = true;     // so far
  for (std::size_t at = 0;; ++at) {
    if (at != name.size() && name[at] != '.') {
      if (!chars::is(name[at], chars::plain)) return Name::bad;
      number = number && digit(name[at]);
      continue;
    }
    const std::size_t length = at - start;
    if (length == 0 || length > longest_label) return Name::bad;
    if (name[start] == '-' || name[at - 1] == '-') return Name::bad;
    if (at == name.size()) return number ? Name::ends_in_number : Name::name;
    start = at + 1;
    number = true;
  }
}

// A name whose last label is a number is an address or nothing (as browsers see it).
bool valid_name(std::string_view name) {
  if (name.empty() || name.size() > longest_name) return false;
  const Name kind = look_at(name);
  return kind == Name::name || (kind == Name::ends_in_number && valid_ip4(name));
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  if (text.empty()) return std::uint16_t{0};
  const auto number = core::decimal(text);
  if (text.size() > 5 || !number || *number == 0 || *number > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

// What follows the host: nothing, or a colon and a port.
std::optional<std::uint16_t> parse_port_part(std::string_view rest) {
  if (rest.empty()) return std::uint16_t{0};
  return rest.front() == ':' ? parse_port(rest.substr(1)) : std::nullopt;
}

// "[...]" to its shortest form. The C library's parser takes no zone and no IPv4 spelling but four
// numbers; a NUL would end its input early, so that characters are looked at first.
std::optional<std::string> canonical_ip6(std::string_view inner) {
  const auto plain = [](char c) {
    return digit(c) || c == ':' || c == '.' || (letter(c) && core::lower(c) <= 'f');
  };
  if (!std::all_of(inner.begin(), inner.end(), plain)) return std::nullopt;
  in6_addr address{};
  if (::inet_pton(AF_INET6, std::string(inner).c_str(), &address) != 1) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> text;
  ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  return "[" + std::string(text.data()) + "]";
}

core::Result<Authority> bracketed(std::string_view authority) {
  const auto close = authority.find(']');
  if (close == std::string_view::npos) return bad_host();
  const auto host = canonical_ip6(authority.substr(1, close - 1));
  const auto port = parse_port_part(authority.substr(close + 1));
  if (!host || !port) return bad_host();
  return Authority{*host, *port};
}

}  // namespace

core::Result<Authority> canonical_host(std::string_view authority) {
  if (!authority.empty() && authority.front() == '[') return bracketed(authority);
  const auto colon = std::min(authority.find(':'), authority.size());
  std::string_view name = authority.substr(0, colon);
  const auto port = parse_port_part(authority.substr(colon));
  if (!name.empty() && name.back() == '.') name.remove_suffix(1);
  if (!port || !valid_name(name)) return bad_host();
  return Authority{core::lower_copy(name), *port};
}

std::string host_text(std::string_view host, std::uint16_t port) {
  std::string text(host);
  if (port != 0) text.append(":").append(std::to_string(port));
  return text;
}

}  // namespace portico::http
