#include "backend/front/queue_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "backend/front/lane.h"
#include "backend/record/record.h"
#include "proxy/core/log.h"

namespace portico::backend {
namespace {

constexpr std::size_t batch = 32;  // records a sendmmsg; more than a turn usually brings
// Long for a worker, which takes a record in less than 0.1 ms; short for a client.
constexpr auto shortage_pause = std::chrono::milliseconds(10);

union ControlSpace {
  char bytes[CMSG_SPACE(sizeof(int))];
  cmsghdr align;
};

void attach_descriptor(msghdr& message, ControlSpace& space, int fd) {
  message.msg_control = space.bytes;
  message.msg_controllen = sizeof space.bytes;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
}

}  // namespace

QueueSocket::QueueSocket(core::Loop& loop, std::shared_ptr<Generation> generation)
    : Active(loop),
      generation_(std::move(generation)),
      watch_(loop, *this),
      first_(loop.index() * generation_->cells_per_thread()),
      serials_(generation_->cells_per_thread(), 0),
      flights_(generation_->cells_per_thread(), nullptr),
      retry_(*this) {
  watch_.open(generation_->queue());
  for (std::uint32_t i = generation_->cells_per_thread(); i > 0; --i) free_.push_back(i - 1);
}

bool QueueSocket::board(Flight& flight) {
  if (free_.empty()) return false;
  const std::uint32_t at = free_.back();
  free_.pop_back();
  flights_[at] = &flight;
  flight.cell_ = first_ + at;
  flight.serial_ = ++serials_[at];
  flight.generation_ = generation_;
  flight.queue_ = this;
  return true;
}

void QueueSocket::put(Flight& flight) {
  generation_->cells().send(flight.cell_, flight.serial_);
  flight.state_ = Flight::State::boarding;
  outbox_.push_back(&flight);
  if ((watch_.wanted() & core::writable) == 0) wake();
}

void QueueSocket::leave(Flight& flight) {
  const std::uint32_t at = index(flight.cell_);
  flight.queue_ = nullptr;
  flights_[at] = nullptr;
  free_.push_back(at);
  if (flight.state_ == Flight::State::boarding) std::erase(outbox_, &flight);
}

Flight* QueueSocket::find(std::uint32_t cell, std::uint32_t serial) {
  if (cell < first_ || index(cell) >= flights_.size()) return nullptr;
  Flight* flight = flights_[index(cell)];
  return flight != nullptr && flight->serial_ == serial ? flight : nullptr;
}

void QueueSocket::on_ready(int) noexcept { wake(); }

void QueueSocket::advance() {
  if (retry_.is_set() && !retry_.due()) return;
  retry_.clear();
  while (!outbox_.empty() && send_batch()) {
  }
  watch_.want(outbox_.empty() || retry_.is_set() ? 0 : core::writable);
}

std::size_t QueueSocket::bytes_of(const Flight& flight) {
  return flight.record_.size() + flight.inline_body_.size();
}

// Returns how many parts it takes. The kernel copies the first few of a message without allocating.
std::size_t QueueSocket::place(Flight& flight, iovec* two) {
  const std::string_view body = flight.inline_body_;
  two[0] = {flight.record_.data(), flight.record_.size()};
  if (body.empty()) return 1;
  two[1] = {const_cast<char*>(body.data()), body.size()};
  return 2;
}

// How many of the records from `first` on, up to `most`, go in one datagram. One with a descriptor
// goes alone.
std::size_t QueueSocket::records_of_one(std::size_t first, std::size_t most) const {
  std::size_t bytes = bytes_of(*outbox_[first]);
  if (!shares_ || outbox_[first]->body_) return 1;
  std::size_t count = 1;
  for (; count < most; ++count) {
    const Flight& next = *outbox_[first + count];
    bytes += bytes_of(next);
    if (next.body_ || bytes > record::max_shared_bytes) break;
  }
  return count;
}

// The kernel may take fewer than it was given (what it took has left the outbox), and says why when
// it is asked again. False: the rest waits.
bool QueueSocket::send_batch() {
  std::array<mmsghdr, batch> messages{};
  std::array<iovec, 2 * batch> parts;  // a record, and the body behind it
  std::array<ControlSpace, batch> controls;
  std::array<std::size_t, batch> held;  // records of each message
  const std::size_t records = std::min(outbox_.size(), batch);
  unsigned count = 0;
  iovec* part = parts.data();
  for (std::size_t at = 0; at < records; at += held[count++]) {
    msghdr& message = messages[count].msg_hdr;
    held[count] = records_of_one(at, records - at);
    message.msg_iov = part;
    if (outbox_[at]->body_) attach_descriptor(message, controls[count], outbox_[at]->body_.get());
    for (std::size_t i = 0; i < held[count]; ++i) part += place(*outbox_[at + i], part);
    message.msg_iovlen = static_cast<std::size_t>(part - message.msg_iov);
  }
  const int sent =
      ::sendmmsg(generation_->queue(), messages.data(), count, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return explain(errno);
  for (int i = 0; i < sent; ++i) note_sent(held[static_cast<std::size_t>(i)]);
  return true;
}

void QueueSocket::note_sent(std::size_t records) {
  has_shared_ = has_shared_ || records > 1;
  for (; records > 0; --records) {
    outbox_.front()->sent();
    outbox_.pop_front();
  }
}

// ETOOMANYREFS: bodies that lie in sockets count as open files (unix(7)); they become fewer as
// workers take them.
bool QueueSocket::explain(int os) {
  switch (os) {
    case EINTR:
      return true;
    case EAGAIN:
      return false;
    case ENOBUFS:
    case ENOMEM:
    case ETOOMANYREFS:
      retry_.set_after(shortage_pause);
      return false;
    default:
      refuse_first(os);
      return true;
  }
}

// Too large for the send buffer (EMSGSIZE), or nobody is left at the other end (EPIPE).
void QueueSocket::refuse_first(int os) {
  core::log(core::Level::error,
            "the queue of an application refuses a record: " + std::string(std::strerror(os)));
  Flight& flight = *outbox_.front();
  outbox_.pop_front();
  flight.lane_.refuse(flight);
}

}  // namespace portico::backend
