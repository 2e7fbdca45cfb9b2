#include "proxy/run/control_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "proxy/net/address.h"

namespace portico::run {

ControlClient::ControlClient(const std::string& path) {
  if (connect_to(path)) trust_peer(path);
}

bool ControlClient::fail(Failure failure, std::string problem) {
  failure_ = failure;
  problem_ = std::move(problem);
  return false;
}

bool ControlClient::connect_to(const std::string& path) {
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return fail(Failure::broken, path + " is too long for a socket's path");
  fd_ = core::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage to;
  const socklen_t length = net::Address::local(path).fill(to);
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), length) == 0) return true;
  if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR)
    return fail(Failure::refused, "Portico is not running: nobody listens at " + path);
  if (errno == EACCES)
    return fail(Failure::denied, "you may not speak to the Portico at " + path +
                                     "; be the user who runs it, or root");
  return fail(Failure::broken, path + ": " + std::strerror(errno));
}

// Somebody else could have put a socket of theirs where ours is looked for.
bool ControlClient::trust_peer(const std::string& path) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return fail(Failure::broken, path + ": " + std::strerror(errno));
  peer_ = credentials.pid;
  const bool trusted = credentials.uid == 0 || credentials.uid == ::geteuid() || ::geteuid() == 0;
  if (trusted) return true;
  return fail(Failure::denied, "the Portico at " + path + " is run by user " +
                                   std::to_string(credentials.uid) +
                                   ", who is neither you nor root");
}

bool ControlClient::send_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EPIPE) return true;  // its answer, if there is one, says why
    if (sent < 0) return fail(Failure::broken, std::string("asking: ") + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool ControlClient::ask(std::string_view method, std::string_view target) {
  std::string request(method);
  request.append(" ").append(target).append(" HTTP/1.0\r\nHost: portico\r\n");
  if (method != "GET") request.append("Content-Length: 0\r\n");
  return send_all(request.append("\r\n")) && read_head(method);
}

core::Slice ControlClient::receive() {
  core::Buffer buffer(core::block_bytes);
  ssize_t got = 0;
  do {
    got = ::recv(fd_.get(), buffer.room(), buffer.room_bytes(), 0);
  } while (got < 0 && errno == EINTR);
  if (got > 0) buffer.grew(static_cast<std::size_t>(got));
  return buffer.take();
}

bool ControlClient::read_head(std::string_view method) {
  http::ResponseReader reader{http::ReadLimits()};
  for (;;) {
    rest_ = receive();
    if (rest_.empty()) return fail(Failure::broken, "Portico ended before it answered");
    const http::Progress progress = reader.feed(rest_, method, answer_);
    if (progress == http::Progress::head) return true;
    if (progress == http::Progress::fail)
      return fail(Failure::broken, "it answered nonsense: " + core::describe(reader.error()));
  }
}

std::string_view ControlClient::field(std::string_view name) const {
  const std::string_view* value = answer_.head.fields.find(name);
  return value == nullptr ? std::string_view() : *value;
}

std::optional<std::string> ControlClient::read() {
  if (rest_.empty()) rest_ = receive();
  if (rest_.empty()) return std::nullopt;
  std::string text(rest_.view());
  rest_ = {};
  return text;
}

std::string ControlClient::read_all() {
  std::string all;
  while (const auto part = read()) all += *part;
  return all;
}

}  // namespace portico::run
