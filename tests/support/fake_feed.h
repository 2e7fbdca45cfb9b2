// FakeFeed: the worker's end of a feed without Python: says notes, takes messages, or lies. Of the
// test; one thread.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backend/record/feed.h"
#include "proxy/core/fd.h"

namespace portico::tests {

class FakeFeed {
 public:
  struct Message {
    record::FeedHeader header;
    std::string bytes;
  };

  FakeFeed() = default;
  explicit FakeFeed(core::Fd end) : end_(std::move(end)) {}

  void note(std::uint64_t taken, bool waits) {
    const record::FeedNote words{taken, waits ? 1u : 0u};
    say({reinterpret_cast<const char*>(&words), sizeof words});
  }
  /// Asks for what comes next, having taken all so far.
  void ask() { note(bytes.size(), true); }
  void say(std::string_view text) {
    ::send(end_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  /// The next message that lies there; nothing when there is none, or the end.
  std::optional<Message> take() {
    std::string space(sizeof(record::FeedHeader) + record::max_feed_piece_bytes + 1, '\0');
    const ssize_t got = ::recv(end_.get(), space.data(), space.size(), MSG_DONTWAIT);
    if (got < static_cast<ssize_t>(sizeof(record::FeedHeader))) return {};
    Message message{};
    std::memcpy(&message.header, space.data(), sizeof message.header);
    message.bytes =
        space.substr(sizeof message.header, static_cast<std::size_t>(got) - sizeof message.header);
    bytes += message.bytes;
    return message;
  }
  /// Takes all pieces that lie there; what ends them, or nothing.
  std::optional<record::FeedHeader> drain() {
    while (const auto message = take()) {
      if (message->header.type != record::FeedType::piece) return message->header;
    }
    return {};
  }
  /// Whether the front has closed its end.
  bool is_closed() const {
    pollfd one{end_.get(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1 && (one.revents & POLLHUP) != 0;
  }
  void close() { end_.reset(); }

  std::string bytes;  ///< of all pieces

 private:
  core::Fd end_;
};

}  // namespace portico::tests
