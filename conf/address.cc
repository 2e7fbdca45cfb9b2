#include "conf/address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "conf/units.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

constexpr std::size_t longest_unix_path = 107;  // sun_path holds 108 with its final NUL
constexpr std::size_t longest_name = 253;       // RFC 1035 §2.3.4, in text form
constexpr std::size_t longest_label = 63;       // likewise
constexpr std::uint64_t greatest_port = 65535;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= longest_label && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), [](char c) {
           return is_letter_or_digit(c) || c == '-';
         });
}

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

Outcome<Address> unix_address(std::string_view text) {
  const std::string_view path = text.substr(5);
  const bool clean = path.find('\0') == std::string_view::npos;
  if (path.size() < 2 || path.front() != '/' || path.size() > longest_unix_path || !clean) {
    return refused<Address>(quoted(text) +
                            " is not a Unix socket; write \"unix:\" and an absolute path of at "
                            "most 107 bytes, such as \"unix:/run/app.sock\"");
  }
  return found(Address{{}, 0, std::string(path)});
}

/// Where the colon before the port stands; npos when there is none.
std::size_t port_colon(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool inside = colon != std::string_view::npos && text.find(']', colon) != text.npos;
  return inside ? std::string_view::npos : colon;
}

/// The canonical host of "[v6]", an IPv4 address or a name; empty when it is none of these.
std::string canonical_host(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return canonical_ip6(host.substr(1, host.size() - 2));
  }
  if (!is_ip4(host) && !is_host_name(host)) return {};
  return lower(host);
}

struct PortRange {
  std::uint64_t least;
  std::string_view example;
};

/// The part after the last colon and the part before it; the host may be empty.
Outcome<Address> host_and_port(std::string_view text, const PortRange& range) {
  const std::string example(range.example);
  if (!canonical_ip6(text).empty()) {
    return refused<Address>(quoted(text) + " has no port; write \"[" + std::string(text) +
                            "]:PORT\"");
  }
  const std::size_t colon = port_colon(text);
  if (colon == std::string_view::npos) {
    return refused<Address>(quoted(text) + " has no port; write " + quoted(example));
  }
  const auto port = parse_number(text.substr(colon + 1), range.least, greatest_port);
  if (!port) return refused<Address>("the port in " + quoted(text) + ": " + port.problem);
  const std::string_view host = text.substr(0, colon);
  Address address{canonical_host(host), static_cast<std::uint16_t>(*port.value), {}};
  if (!host.empty() && address.host.empty()) {
    return refused<Address>(quoted(host) + " is neither an address nor a host name; write " +
                            quoted(example));
  }
  return found(std::move(address));
}

bool is_name(const Address& address) {
  return !address.host.empty() && !is_ip4(address.host) &&
         address.host.find(':') == std::string::npos;
}

/// Takes the address into `network`; returns the greatest prefix, or 0 when it is no address.
unsigned take_address(const std::string& text, Network& network) {
  if (inet_pton(AF_INET, text.c_str(), network.bytes.data()) == 1) return 32;
  network.family = Network::Family::ip6;
  if (inet_pton(AF_INET6, text.c_str(), network.bytes.data()) == 1) return 128;
  return 0;
}

/// Clears the bits behind the prefix; whether any was set.
bool clear_host_bits(Network& network) {
  bool cleared = false;
  for (unsigned i = 0; i < network.bytes.size(); ++i) {
    const unsigned kept = std::clamp(network.prefix, 8 * i, 8 * i + 8) - 8 * i;
    const auto mask = static_cast<std::uint8_t>(0xFF00U >> kept);
    cleared = cleared || (network.bytes[i] & ~mask & 0xFF) != 0;
    network.bytes[i] &= mask;
  }
  return cleared;
}

}  // namespace

bool is_ip4(std::string_view text) {
  in_addr address{};
  return inet_pton(AF_INET, std::string(text).c_str(), &address) == 1 &&
         text.find('\0') == std::string_view::npos;
}

std::string canonical_ip6(std::string_view text) {
  in6_addr address{};
  if (text.find('\0') != std::string_view::npos) return {};
  if (inet_pton(AF_INET6, std::string(text).c_str(), &address) != 1) return {};
  char out[INET6_ADDRSTRLEN];
  return inet_ntop(AF_INET6, &address, out, sizeof out) != nullptr ? out : std::string();
}

bool is_host_name(std::string_view text) {
  if (text.empty() || text.size() > longest_name) return false;
  std::string_view label;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t dot = rest.find('.');
    more = dot != std::string_view::npos;
    label = rest.substr(0, dot);
    if (!is_label(label)) return false;
    if (more) rest.remove_prefix(dot + 1);
  }
  return !all_digits(label);
}

Outcome<Address> parse_listen(std::string_view text) {
  if (text.starts_with("unix:")) return unix_address(text);
  auto address = host_and_port(text, {0, ":8080"});
  if (address && is_name(*address.value)) {
    return refused<Address>(quoted(text) +
                            " names a host; write an address of this machine, such as "
                            "\"127.0.0.1:" +
                            std::to_string(address.value->port) +
                            "\", or \":" + std::to_string(address.value->port) + "\" for all");
  }
  return address;
}

Outcome<Address> parse_endpoint(std::string_view text) {
  if (text.starts_with("unix:")) return unix_address(text);
  auto address = host_and_port(text, {1, "127.0.0.1:8000"});
  if (address && address.value->host.empty()) {
    return refused<Address>(quoted(text) + " has no host; write " +
                            quoted("127.0.0.1:" + std::to_string(address.value->port)));
  }
  return address;
}

Outcome<Network> parse_network(std::string_view text) {
  Network network;
  if (text == "unix") {
    network.family = Network::Family::unix_socket;
    return found(network);
  }
  const std::size_t slash = std::min(text.find('/'), text.size());
  const bool clean = text.find('\0') == std::string_view::npos;
  const unsigned most = clean ? take_address(std::string(text.substr(0, slash)), network) : 0;
  if (most == 0) {
    return refused<Network>(quoted(text) +
                            " is not a network; write one such as \"10.0.0.0/8\", an address, or "
                            "\"unix\"");
  }
  network.prefix = most;
  if (slash < text.size()) {
    const auto prefix = parse_number(text.substr(slash + 1), 0, most);
    if (!prefix) return refused<Network>("the prefix of " + quoted(text) + ": " + prefix.problem);
    network.prefix = static_cast<unsigned>(*prefix.value);
  }
  if (clear_host_bits(network)) {
    return refused<Network>(quoted(text) + " has bits set behind its prefix; write " +
                            quoted(network.text()));
  }
  return found(network);
}

std::string Address::text() const {
  if (is_unix()) return "unix:" + path;
  const bool ip6 = host.find(':') != std::string::npos;
  return (ip6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Network::text() const {
  if (family == Family::unix_socket) return "unix";
  const int kind = family == Family::ip6 ? AF_INET6 : AF_INET;
  char out[INET6_ADDRSTRLEN];
  if (inet_ntop(kind, bytes.data(), out, sizeof out) == nullptr) return {};
  return std::string(out) + "/" + std::to_string(prefix);
}

}  // namespace portico::conf
