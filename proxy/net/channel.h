// Channel: messages with descriptors between two processes of ours, over SOCK_SEQPACKET.
//
// Owned by whoever speaks; one thread. What the other side says is checked by the caller: text is
// bounded, and so are descriptors; whoever breaks these rules is taken for gone. Larger texts
// travel as a sealed memfd, which neither side sees. A message whose descriptors find no room in
// this process waits until they do. What the other side does not read waits here, up to a limit:
// then it is taken for hung, and for gone.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/core/timer.h"
#include "proxy/core/watch.h"

namespace portico::net {

struct Message {
  std::string text;
  std::vector<core::Fd> fds;
};

class Channel final : public core::ReadyListener {
 public:
  static constexpr std::size_t text_limit = 32 * 1024;
  static constexpr std::size_t file_limit = 16 * 1024 * 1024;  ///< of a text that travels as a file
  static constexpr std::size_t fds_limit = 250;                ///< SCM_MAX_FD is 253
  /// Of what waits to be sent, with fd_cost for each descriptor (about what the kernel keeps for a
  /// socket). A thousand workers with four streams each take a quarter; a hundred small messages a
  /// second fill it in half an hour.
  static constexpr std::size_t queue_limit = 16 * 1024 * 1024;
  static constexpr std::size_t fd_cost = 1024;
  static constexpr std::size_t message_cost = 128;

  /// A pair of connected ends, both close-on-exec; the second is for the other process.
  static core::Result<std::pair<core::Fd, core::Fd>> pair();

  /// owner is woken when a message, or the other side's end, may be there.
  Channel(core::Active& owner, core::Fd fd);
  ~Channel();

  /// The next message; nothing: wait. Fault::endpoint_closed when the other side has gone.
  core::Result<std::optional<Message>> receive();
  /// Queues and sends. Descriptors are borrowed (they are duplicated if the message has to wait).
  void send(std::string_view text, std::span<const int> fds = {});
  bool closed() const { return closed_; }
  /// Closed since the other side had left unread more than queue_limit: it hangs. The owner, which
  /// was woken, makes an end of it, and says so.
  bool is_deaf() const { return deaf_; }

 private:
  void on_ready(int readiness) noexcept override;
  void post(std::string_view text, std::span<const int> fds);
  void send_as_file(std::string_view text, std::span<const int> fds);
  bool send_now(std::string_view text, std::span<const int> fds);
  void enqueue(std::string_view text, std::span<const int> fds);
  void flush();
  void forget_queue();
  void close();
  void watch();

  core::Active& owner_;
  core::Fd fd_;
  core::Watch watch_;
  core::Timer retry_;  // set: there was no room for descriptors
  std::deque<Message> queue_;
  std::size_t queued_ = 0;  // the cost of what is in it
  bool unheard_ = false;    // the other side takes nothing more; what it said is still read
  bool closed_ = false;
  bool deaf_ = false;
};

}  // namespace portico::net
