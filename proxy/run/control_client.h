// ControlClient: asks a running Portico over its control socket, for the commands.
//
// One question a connection, in HTTP/1.0 so that the answer ends with the connection; blocking, in
// main's thread of a command. It trusts a socket of root or of its own user, nobody else's.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "proxy/core/bytes.h"
#include "proxy/core/fd.h"
#include "proxy/http/h1_read.h"

namespace portico::run {

class ControlClient {
 public:
  /// refused: nobody listens there. denied: it is there, and not for us.
  enum class Failure : std::uint8_t { none, refused, denied, broken };

  /// Connects. failure() and problem() say whether that went well.
  explicit ControlClient(const std::string& path);

  /// Sends a request and reads the head of its answer; false: see problem().
  bool ask(std::string_view method, std::string_view target);
  int status() const { return answer_.head.status; }
  std::string_view field(std::string_view name) const;  ///< of the answer; "" where it is missing
  /// The next part of the body; nothing at its end.
  std::optional<std::string> read();
  std::string read_all();

  Failure failure() const { return failure_; }
  const std::string& problem() const { return problem_; }  ///< a sentence
  pid_t peer() const { return peer_; }                     ///< the supervisor

 private:
  bool fail(Failure failure, std::string problem);
  bool connect_to(const std::string& path);
  bool trust_peer(const std::string& path);
  bool send_all(std::string_view text);
  bool read_head(std::string_view method);
  core::Slice receive();

  core::Fd fd_;
  pid_t peer_ = 0;
  http::ReceivedHead answer_;
  core::Slice rest_;  // came with the head
  Failure failure_ = Failure::none;
  std::string problem_;
};

}  // namespace portico::run
