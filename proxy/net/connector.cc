#include "proxy/net/connector.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "proxy/net/socket.h"
#include "proxy/net/tcp.h"

namespace portico::net {
namespace {

using core::Fault;

// A Unix listener with a full backlog gives no sign of room: it is asked again.
constexpr core::Duration retry_wait = std::chrono::milliseconds(5);

Fault fault_of(int os) {
  switch (os) {
    case ECONNREFUSED:
    case ENOENT:  // a Unix path that is not there (yet)
      return Fault::connection_refused;
    case ETIMEDOUT:
      return Fault::connect_timeout;
    case EMFILE:
    case ENFILE:
      return Fault::no_descriptors;
    default:
      return Fault::connection_failed;
  }
}

}  // namespace

Connector::Connector(core::Active& owner, const Address& address, core::Duration limit)
    : owner_(owner),
      address_(address),
      watch_(owner.loop(), *this),
      deadline_(owner),
      retry_(owner) {
  deadline_.set_after(limit);
  open();
}

void Connector::open() {
  core::Result<core::Fd> fd = make_stream_socket(address_);
  if (!fd) return fail(fault_of(fd.error().os), fd.error().os);
  fd_ = std::move(*fd);
  if (address_.family() != Address::Family::local) {
    const int on = 1;
    ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (address_.is_loopback()) forgo_congestion_control(fd_.get());
  }
  watch_.open(fd_.get());
  attempt();
}

void Connector::attempt() {
  sockaddr_storage to;
  const socklen_t length = address_.fill(to);
  const int result = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), length);
  note(result == 0 ? 0 : errno);
}

void Connector::note(int os) {
  const bool local = address_.family() == Address::Family::local;
  if (os == 0) {
    state_ = State::connected;
  } else if (os == EINPROGRESS || os == EINTR) {
    state_ = State::connecting;
    watch_.want(core::writable);
  } else if (os == EAGAIN && local) {
    state_ = State::backing_off;
    retry_.set_after(retry_wait);
  } else {
    fail(fault_of(os), os);
  }
}

void Connector::fail(Fault fault, int os) {
  state_ = State::failed;
  error_ = {fault, os, "connecting"};
  watch_.close();
  fd_.reset();
}

void Connector::on_ready(int) noexcept {
  watch_.want(0);
  int os = 0;
  socklen_t length = sizeof os;
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &os, &length) != 0) os = errno;
  note(os);
  owner_.wake();
}

core::Result<std::unique_ptr<Transport>> Connector::take() {
  if (state_ == State::backing_off && retry_.due()) attempt();
  const bool under_way = state_ == State::connecting || state_ == State::backing_off;
  if (under_way && deadline_.due()) fail(Fault::connect_timeout, 0);
  if (state_ == State::connected && met_itself()) fail(Fault::connection_refused, ECONNREFUSED);
  if (state_ == State::failed) return error_;
  if (state_ != State::connected || !fd_) return std::unique_ptr<Transport>();
  watch_.close();
  deadline_.clear();
  return std::unique_ptr<Transport>(
      std::make_unique<SocketTransport>(owner_.loop(), std::move(fd_), FirstWord::ours));
}

// Where nobody listens on a local port of the ephemeral range, the kernel may choose that very port
// for our side, and TCP's simultaneous open connects the socket to itself.
bool Connector::met_itself() const {
  constexpr std::uint16_t ephemeral = 1024;  // the lowest that ip_local_port_range may begin with
  if (!fd_ || address_.port() < ephemeral) return false;
  return local_address(fd_.get()) == address_;
}

}  // namespace portico::net
