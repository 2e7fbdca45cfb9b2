#include "backend/front/worker_link.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "backend/front/lane.h"
#include "proxy/core/log.h"

namespace portico::backend {
namespace {

using record::FrameEvent;

// Reads between two looks at other links: a worker that streams does not starve them.
constexpr int reads_a_turn = 8;

union ControlSpace {
  char bytes[CMSG_SPACE(sizeof(int))];
  cmsghdr align;
};

// The one descriptor of a message, or -1.
int descriptor_in(msghdr& message) {
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
    return -1;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

}  // namespace

WorkerLink::WorkerLink(Lane& lane, core::Loop& loop, Origin origin, core::Fd fd)
    : Active(loop),
      lane_(lane),
      origin_(std::move(origin)),
      fd_(std::move(fd)),
      watch_(loop, *this) {
  watch_.open(fd_.get());
  watch_.want(core::readable);
}

void WorkerLink::on_ready(int) noexcept { wake(); }

void WorkerLink::resume() {
  if (!stopped_) return;
  stopped_ = false;
  wake();
}

void WorkerLink::advance() {
  if (!unread_.empty() && !take(std::exchange(unread_, {}))) return;
  for (int i = 0; i < reads_a_turn && fd_ && !stopped_; ++i) {
    const Outcome outcome = read_once();
    if (outcome == Outcome::closed) return close();
    if (outcome == Outcome::wait) break;
  }
  watch_.want(fd_ && !stopped_ ? core::readable : 0);
}

void WorkerLink::read_to_end() {
  stopped_ = false;
  draining_ = true;
  if (!unread_.empty()) take(std::exchange(unread_, {}));
  while (fd_ && read_once() == Outcome::again) {
  }
  close();
}

WorkerLink::Outcome WorkerLink::read_once() {
  core::Buffer& buffer = lane_.read_buffer();
  const std::size_t room = buffer.room_bytes();
  iovec part{buffer.room(), room};
  ControlSpace control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_LEN(sizeof(int));  // room for one: the kernel closes what is more
  const ssize_t got = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && errno == EINTR) return Outcome::again;
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Outcome::wait;
  if (got <= 0) return Outcome::closed;
  const int fd = descriptor_in(message);
  if ((message.msg_flags & MSG_CTRUNC) != 0) return lost_descriptors(fd);
  if (fd >= 0 && !reader_.offer_descriptor(fd)) return lied() ? Outcome::wait : Outcome::closed;
  buffer.grew(static_cast<std::size_t>(got));
  if (!take(buffer.take())) return fd_ ? Outcome::wait : Outcome::closed;
  // A short read has taken all there was, unless a descriptor's boundary cut it.
  return static_cast<std::size_t>(got) < room && fd < 0 ? Outcome::wait : Outcome::again;
}

// More than the one descriptor that a message may bring; or we have none left to take it with.
WorkerLink::Outcome WorkerLink::lost_descriptors(int fd) {
  if (fd < 0) core::log(core::Level::error, "no descriptor is left for a worker's file");
  core::Fd(fd).reset();
  lied();
  return Outcome::closed;
}

// False: reading stops here, either because a sink is full or because the link is closed.
bool WorkerLink::take(const core::Slice& bytes) {
  std::string_view input = bytes.view();
  for (;;) {
    const FrameEvent event = reader_.next(input);
    if (event == FrameEvent::more) return true;
    if (event == FrameEvent::bad) return lied();
    if (dispatch(event, bytes)) continue;
    if (!fd_) return false;
    unread_ = bytes.sub(bytes.size() - input.size());
    stopped_ = true;
    watch_.want(0);
    return false;
  }
}

bool WorkerLink::claims(const Flight& flight) const {
  const record::CellStatus claim = flight.claim();
  return claim.serial == flight.serial() && claim.worker == origin_.worker &&
         claim.thread == origin_.thread &&
         (record::Cells::running(claim.state) || claim.state == record::CellState::done);
}

bool WorkerLink::dispatch(FrameEvent event, const core::Slice& bytes) {
  Flight* flight = lane_.find(origin_.generation, reader_.cell(), reader_.serial());
  if (flight == nullptr || !claims(*flight)) return lied();
  if (event == FrameEvent::end || event == FrameEvent::abort) count_answer();
  if (flight->sink_ == nullptr) {
    if (event == FrameEvent::file) core::Fd(reader_.take_descriptor()).reset();
    if (event == FrameEvent::end || event == FrameEvent::abort) lane_.release(*flight);
    return true;
  }
  deliver(*flight, event, bytes);
  if (!fd_) return false;
  flight = lane_.find(origin_.generation, reader_.cell(), reader_.serial());
  if (draining_ || flight == nullptr || flight->sink_ == nullptr || !flight->sink_->full())
    return true;
  flight->stopped_link_ = this;
  return false;
}

void WorkerLink::deliver(Flight& flight, FrameEvent event, const core::Slice& bytes) {
  AnswerSink& sink = *flight.sink_;
  switch (event) {
    case FrameEvent::interim:
      return sink.on_interim(reader_.head());
    case FrameEvent::head:
      return sink.on_head(reader_.head());
    case FrameEvent::data: {
      const auto offset = static_cast<std::size_t>(reader_.data().data() - bytes.data());
      return sink.on_data(bytes.sub(offset, reader_.data().size()));
    }
    case FrameEvent::file:
      return deliver_file(flight);
    case FrameEvent::end:
      note_answer();
      sink.on_end();
      return lane_.release(flight);
    case FrameEvent::abort:
      sink.on_abort(reader_.abort_reason());
      return lane_.release(flight);
    case FrameEvent::more:
    case FrameEvent::bad:
      return;
  }
}

void WorkerLink::deliver_file(Flight& flight) {
  auto file = std::make_shared<core::Fd>(reader_.take_descriptor());
  struct stat facts {};
  if (::fstat(file->get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    lied();
    return;
  }
  flight.sink_->on_file({std::move(file), reader_.file().offset, reader_.file().length});
}

void WorkerLink::count_answer() {
  WorkerTally& tally = *origin_.tally;
  const std::uint64_t answers = tally.answers.fetch_add(1, std::memory_order_relaxed) + 1;
  if (answers == tally.most) lane_.report_due(origin_.worker, answers);
  if (tally.watched.load(std::memory_order_relaxed) && tally.watched.exchange(false))
    lane_.report_worked(origin_.worker);
}

// Who has answered once has come up well: its death starts no back-off.
void WorkerLink::note_answer() {
  if (!std::exchange(has_answered_, true)) lane_.report_answered(origin_.worker);
}

// Always false, for its callers' return.
bool WorkerLink::lied() {
  close();
  lane_.report_liar(origin_.worker);
  return false;
}

void WorkerLink::close() {
  watch_.close();
  fd_.reset();
}

}  // namespace portico::backend
