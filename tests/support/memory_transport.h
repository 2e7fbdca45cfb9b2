// MemoryTransport: a Transport over byte queues, and MemoryPeer, the far end that a test holds.
//
// The session or client under test owns the transport; the test keeps the MemoryPeer, which
// outlives it. Loop::Drive::by_hand: no descriptor, no port, no sleeping. One thread.
//
//   MemoryPeer peer;
//   Session session(loop, peer.transport());
//   peer.arrive("GET / HTTP/1.1\r\n..."); loop.turn(); CHECK(peer.take_sent() == "HTTP/1.1 ...");
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "proxy/net/transport.h"

namespace portico::tests {

inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// What both ends see of one connection.
struct MemoryWire {
  core::Active* owner = nullptr;  // whom the transport wakes
  std::string arriving;           // from the peer, not yet read
  std::string delivered;          // sent to the peer, not yet taken by the test
  bool peer_ended = false;
  bool peer_reset = false;
  bool refuses = false;
  bool send_ended = false;  // finish_sending() has gone out
  bool closed = false;      // the transport was destroyed
  bool closed_by_reset = false;
  bool waits_between = false;
  bool pipes = false;
  std::size_t read_limit = unlimited;
  std::size_t flush_limit = unlimited;
  std::size_t room = unlimited;
  std::uint64_t reads = 0;
  std::uint64_t flushes = 0;

  void wake() {
    if (owner != nullptr) owner->wake();
  }
};

class MemoryTransport final : public net::Transport {
 public:
  explicit MemoryTransport(std::shared_ptr<MemoryWire> wire) : wire_(std::move(wire)) {}
  ~MemoryTransport() override {
    wire_->owner = nullptr;
    wire_->closed = true;
    wire_->closed_by_reset = reset_on_close_;
  }

  void attach(core::Active* owner) override {
    wire_->owner = owner;
    if (!wire_->arriving.empty() || wire_->peer_ended || wire_->peer_reset) wire_->wake();
  }

  net::Arrival read(std::size_t room, net::Splice splice = net::Splice::refused) override {
    ++wire_->reads;
    if (wire_->peer_reset) return {core::Flow::fail, {}, reset_error("reading")};
    if (std::exchange(must_wait_, false)) {
      wire_->wake();  // as a kernel would: after it has said wait, never before
      return {};
    }
    if (wire_->arriving.empty())
      return {wire_->peer_ended ? core::Flow::end : core::Flow::wait, {}, {}};
    must_wait_ = wire_->waits_between;
    const std::size_t size = std::min({room, wire_->read_limit, wire_->arriving.size()});
    const std::string bytes = wire_->arriving.substr(0, size);
    wire_->arriving.erase(0, size);
    if (wire_->pipes && splice == net::Splice::allowed) return {core::Flow::data, piped(bytes), {}};
    return {core::Flow::data, core::Slice::copy(bytes), {}};
  }

  void send(core::Piece&& piece) override {
    unsent_ += core::length(piece);
    queue_.push_back(std::move(piece));
  }

  core::Flow flush() override {
    ++wire_->flushes;
    if (wire_->peer_reset || wire_->refuses) {
      send_error_ = reset_error("sending");
      return core::Flow::fail;
    }
    std::size_t budget = wire_->flush_limit;
    while (!queue_.empty() && budget > 0 && wire_->room > 0) budget -= send_front(budget);
    if (queue_.empty()) {
      wire_->send_ended = finish_;
      return core::Flow::end;
    }
    if (wire_->room > 0) wire_->wake();  // a kernel that takes a little at a time
    return core::Flow::wait;
  }

  std::uint64_t unsent() const override { return unsent_; }
  std::uint64_t sent() const override { return sent_; }
  const core::Error& send_error() const override { return send_error_; }
  void finish_sending() override {
    finish_ = true;
    if (queue_.empty()) wire_->send_ended = true;
  }
  void reset_on_close() override { reset_on_close_ = true; }
  bool broken() const override { return wire_->peer_reset; }

 private:
  static core::Error reset_error(std::string_view doing) {
    return {core::Fault::endpoint_reset, ECONNRESET, doing};
  }

  static core::Piece piped(const std::string& bytes) {
    core::PipeLease pipe = core::lease_pipe();
    const ssize_t written = ::write(pipe->write_end.get(), bytes.data(), bytes.size());
    pipe->held = written > 0 ? static_cast<std::size_t>(written) : 0;
    return core::PipeRange{std::move(pipe)};
  }

  // At most `most` bytes of the first piece; what is gone is cut off it.
  std::size_t send_front(std::size_t most) {
    const std::uint64_t left = core::length(queue_.front());
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>({most, wire_->room, left}));
    const std::string bytes =
        std::visit([size](auto& piece) { return cut(piece, size); }, queue_.front());
    wire_->delivered += bytes;
    if (wire_->room != unlimited) wire_->room -= size;
    unsent_ -= size;
    sent_ += size;
    if (size == left) queue_.pop_front();
    return size;
  }

  static std::string cut(core::Slice& slice, std::size_t size) {
    return std::string(slice.take_front(size).view());
  }
  static std::string cut(core::FileRange& range, std::size_t size) {
    std::string bytes(size, '\0');
    const ssize_t got =
        ::pread(range.file->get(), bytes.data(), size, static_cast<off_t>(range.offset));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    range.offset += size;
    range.length -= size;
    return bytes;
  }
  static std::string cut(core::PipeRange& range, std::size_t size) {
    std::string bytes(size, '\0');
    const ssize_t got = ::read(range.pipe->read_end.get(), bytes.data(), size);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    range.pipe->held -= size;
    return bytes;
  }

  std::shared_ptr<MemoryWire> wire_;
  std::deque<core::Piece> queue_;
  std::uint64_t unsent_ = 0;
  std::uint64_t sent_ = 0;
  core::Error send_error_;
  bool finish_ = false;
  bool reset_on_close_ = false;
  bool must_wait_ = false;
};

class MemoryPeer {
 public:
  /// The end for the code under test; once.
  std::unique_ptr<net::Transport> transport() { return std::make_unique<MemoryTransport>(wire_); }

  void arrive(std::string_view bytes) {  ///< the peer sends
    wire_->arriving += bytes;
    wire_->wake();
  }
  void peer_ends() {  ///< the peer has sent its last byte; it still reads
    wire_->peer_ended = true;
    wire_->wake();
  }
  void peer_resets() {  ///< the connection is gone in both directions
    wire_->peer_reset = true;
    wire_->wake();
  }

  /// Sending fails from now on, what has arrived can still be read (an early answer, then a close).
  void refuse_sending() {
    wire_->refuses = true;
    wire_->wake();
  }

  /// Everything that was sent since the last call.
  std::string take_sent() { return std::exchange(wire_->delivered, {}); }
  const std::string& sent() const { return wire_->delivered; }
  std::size_t unread() const { return wire_->arriving.size(); }

  /// Each read hands out at most so many bytes.
  void read_at_most(std::size_t bytes) { wire_->read_limit = bytes; }
  /// Each flush takes at most so many bytes, then says wait and wakes (EAGAIN everywhere).
  void accept_per_flush(std::size_t bytes) { wire_->flush_limit = bytes; }
  /// A peer that reads nothing: so many bytes in all are taken, then wait without a wake.
  void limit_room(std::size_t bytes) { wire_->room = bytes; }
  void make_room(std::size_t bytes) {  ///< the peer has read on
    wire_->room = bytes == unlimited ? unlimited : wire_->room + bytes;
    wire_->wake();
  }
  /// Each read that handed out bytes is followed by one that says wait and wakes.
  void wait_between_reads() { wire_->waits_between = true; }
  /// Reads that allow it hand out pipes instead of slices.
  void use_pipes() { wire_->pipes = true; }
  /// One byte a read, `bytes` a flush, EAGAIN between: the worst of all kernels.
  void be_stingy(std::size_t bytes = 1) {
    read_at_most(bytes);
    accept_per_flush(bytes);
    wait_between_reads();
  }

  bool send_ended() const { return wire_->send_ended; }  ///< finish_sending(), all before it sent
  bool closed() const { return wire_->closed; }          ///< the transport was destroyed
  bool closed_by_reset() const { return wire_->closed_by_reset; }
  std::uint64_t reads() const { return wire_->reads; }
  std::uint64_t flushes() const { return wire_->flushes; }

 private:
  std::shared_ptr<MemoryWire> wire_ = std::make_shared<MemoryWire>();
};

}  // namespace portico::tests
