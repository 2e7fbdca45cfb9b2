// SocketTransport: a Transport over a connected stream socket, TCP or Unix; the readiness-based
// one.
//
// Owned by a session, client connection or tunnel; one thread, whose loop is driven by events.
// Rules (ARCHITECTURE.md): the read watcher stays armed for the connection's life and is stopped
// only while an earlier event has not been answered by read(), and after the peer's end; after a
// short read the kernel is not asked again; writes go first, the write watcher is armed only when
// the kernel took less than it was given. An idle connection owns no block.
#pragma once

#include <cstdint>
#include <memory>

#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/core/recycled.h"
#include "proxy/core/watch.h"
#include "proxy/net/send_queue.h"
#include "proxy/net/transport.h"

namespace portico::net {

/// Who speaks first on a new connection: the peer, as a client does, whose bytes may be there
/// already; or we, as to an endpoint, and then the first read waits for an event.
enum class FirstWord : bool { peers, ours };

class SocketTransport final : public Transport,
                              public core::Recycled<SocketTransport>,
                              private core::ReadyListener {
 public:
  /// fd  a connected, non-blocking stream socket
  SocketTransport(core::Loop& loop, core::Fd fd, FirstWord first = FirstWord::peers);

  void attach(core::Active* owner) override;
  Arrival read(std::size_t room, Splice splice = Splice::refused) override;
  void send(core::Piece&& piece) override { queue_.push(std::move(piece)); }
  core::Flow flush() override;
  void close_follows() override { close_follows_ = true; }
  void expect_more() override;
  std::uint64_t unsent() const override { return queue_.bytes(); }
  std::uint64_t sent() const override { return sent_; }
  std::uint64_t acknowledged() const override;
  const core::Error& send_error() const override { return send_error_; }
  void finish_sending() override;
  void reset_on_close() override;
  bool broken() const override { return broken_; }

  int descriptor() const { return fd_.get(); }

 private:
  /// What is known of the socket's receiving side.
  enum class Reading : std::uint8_t {
    unknown,  // at first (FirstWord::peers), and after a read that filled its room: the next read()
              // asks
    told,     // an event came and read() has not answered it yet
    drained,  // a short read or EAGAIN: nothing to ask before the next event
    ended,    // the peer's end was read
    failed,
  };
  enum class Ending : std::uint8_t { none, asked, done };  // of the sending side

  void on_ready(int readiness) noexcept override;
  void note_readable();
  void note_writable();
  void watch_for_events();
  Arrival read_slice(std::size_t room);
  Arrival read_pipe(std::size_t room);
  Arrival conclude_read(int os);
  Arrival read_failed(int os);
  void drained();
  void adapt(std::size_t asked, std::size_t got);
  core::Flow push_out();
  void shut_down();
  void wake_owner();

  core::Active* owner_ = nullptr;
  core::Fd fd_;
  Reading reading_ = Reading::unknown;
  Ending ending_ = Ending::none;
  bool wide_ = false;         // the last read filled its room: the next asks for much
  bool read_paused_ = false;  // the read watcher is stopped: an event came twice
  bool blocked_ = false;      // the kernel's send buffer is full
  bool broken_ = false;
  bool close_follows_ = false;
  bool fresh_ = false;  // a client's, whose first request may be answered before it is watched
  core::Watch watch_;
  SendQueue queue_;
  std::uint64_t sent_ = 0;
  core::Error send_error_;
  core::Error read_error_;
};

}  // namespace portico::net
