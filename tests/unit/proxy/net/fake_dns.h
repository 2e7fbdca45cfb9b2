// FakeDns: a DNS server of a few lines on loopback, for the resolver's tests. It runs in the test's
// own loop.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/core/fd.h"
#include "proxy/core/watch.h"
#include "tests/support/sockets.h"

namespace portico::tests {

class FakeDns final : core::ReadyListener {
 public:
  enum class Mood { answers, silent, failing };

  explicit FakeDns(core::Loop& loop) : watch_(loop, *this) {
    fd_.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_storage to;
    const socklen_t length = loopback().fill(to);
    if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&to), length) != 0) std::abort();
    watch_.open(fd_.get());
    watch_.want(core::readable);
  }

  net::Address address() const { return net::local_address(fd_.get()); }
  /// What `name` stands for; an empty list: the name exists, but has no address.
  void know(const std::string& name, const std::vector<std::string>& hosts) {
    std::vector<net::Address> addresses;
    for (const std::string& host : hosts) addresses.push_back(*net::Address::parse_ip(host, 0));
    records_[name] = std::move(addresses);
  }
  void forget(const std::string& name) { records_.erase(name); }

  Mood mood = Mood::answers;
  std::uint32_t ttl = 60;
  int questions = 0;

 private:
  static constexpr std::size_t header_bytes = 12;

  void on_ready(int) noexcept override {
    std::array<char, 512> bytes;
    sockaddr_storage from;
    socklen_t length = sizeof from;
    auto* peer = reinterpret_cast<sockaddr*>(&from);
    for (;;) {
      const ssize_t got = ::recvfrom(fd_.get(), bytes.data(), bytes.size(), 0, peer, &length);
      if (got < 0) return;
      ++questions;
      if (mood == Mood::silent) continue;
      const std::string answer = reply({bytes.data(), static_cast<std::size_t>(got)});
      ::sendto(fd_.get(), answer.data(), answer.size(), 0, peer, length);
    }
  }

  // RFC 1035 §4.1: the header, the question as it came, one record an address.
  std::string reply(std::string_view query) const {
    std::size_t at = header_bytes;
    const std::string name = name_at(query, at);
    const std::uint16_t type = number_at(query, at);
    const std::string question(query.substr(header_bytes, at + 4 - header_bytes));
    const auto known = records_.find(name);
    std::string records;
    std::uint16_t count = 0;
    if (known != records_.end() && mood == Mood::answers) {
      for (const net::Address& host : known->second) {
        const std::uint16_t host_type = host.ip_bytes().size() == 4 ? 1 : 28;
        if (host_type != type) continue;
        records += record(host_type, host.ip_bytes());
        ++count;
      }
    }
    const std::uint16_t code = mood == Mood::failing ? 2 : known == records_.end() ? 3 : 0;
    return std::string(query.substr(0, 2)) + number(static_cast<std::uint16_t>(0x8180 | code)) +
           number(1) + number(count) + number(0) + number(0) + question + records;
  }

  std::string record(std::uint16_t type, std::string_view bytes) const {
    return number(0xc000 | header_bytes) + number(type) + number(1) +
           number(static_cast<std::uint16_t>(ttl >> 16)) + number(static_cast<std::uint16_t>(ttl)) +
           number(static_cast<std::uint16_t>(bytes.size())) + std::string(bytes);
  }

  static std::string number(std::uint16_t value) {
    return {static_cast<char>(value >> 8), static_cast<char>(value)};
  }
  static std::uint16_t number_at(std::string_view bytes, std::size_t at) {
    return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8 |
                                      static_cast<unsigned char>(bytes[at + 1]));
  }
  static std::string name_at(std::string_view bytes, std::size_t& at) {
    std::string name;
    while (bytes[at] != 0) {
      const auto length = static_cast<std::size_t>(bytes[at]);
      if (!name.empty()) name += '.';
      name += bytes.substr(at + 1, length);
      at += length + 1;
    }
    ++at;
    return name;
  }

  core::Fd fd_;
  core::Watch watch_;
  std::map<std::string, std::vector<net::Address>> records_;
};

}  // namespace portico::tests
