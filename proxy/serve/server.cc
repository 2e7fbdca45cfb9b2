#include "proxy/serve/server.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "proxy/core/text.h"
#include "proxy/net/socket.h"
#include "proxy/net/tcp.h"
#include "proxy/serve/h1_session.h"
#include "proxy/serve/listener.h"

namespace portico::serve {
namespace {

constexpr std::string_view refusal =
    "HTTP/1.1 503 Service Unavailable\r\n"
    "Content-Type: text/plain\r\n"
    "Content-Length: 44\r\n"
    "Retry-After: 1\r\n"
    "Connection: close\r\n"
    "\r\n"
    "Too many connections. Please try again soon\n";

core::Fd open_reserve() { return core::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

// A root of its own count for this thread: exchanges that pin and release it do not contend with
// those of other threads for one cache line.
std::shared_ptr<const Root> own_count(std::shared_ptr<const Root> root) {
  const Root* bare = root.get();
  return std::shared_ptr<const Root>(bare, [kept = std::move(root)](const Root*) {});
}

}  // namespace

Server::Server(core::Loop& loop, std::shared_ptr<const Root> root,
               std::shared_ptr<ConnectionCounts> counts)
    : core::Active(loop),
      root_(own_count(std::move(root))),
      counts_(std::move(counts)),
      reserve_(open_reserve()),
      deadline_(*this) {}

Server::~Server() {
  close_listeners();
  while (!sessions_.empty()) {
    const std::unique_ptr<Session> session(&sessions_.front());
    forget(*session);
  }
}

void Server::listen(core::Fd listening, std::string_view name) {
  const auto kept = names_.emplace(name).first;
  listeners_.push_back(std::make_unique<Listener>(*this, std::move(listening), *kept));
}

void Server::close_listener(std::string_view name) {
  for (auto at = listeners_.begin(); at != listeners_.end();) {
    const auto next = std::next(at);
    if ((*at)->name() == name) retire_listener(at);
    at = next;
  }
}

void Server::close_listeners() {
  while (!listeners_.empty()) retire_listener(listeners_.begin());
}

void Server::retire_listener(std::list<std::unique_ptr<Listener>>::iterator at) {
  loop().retire(std::move(*at));
  listeners_.erase(at);
}

void Server::serve_with(std::shared_ptr<const Root> root) { root_ = own_count(std::move(root)); }

void Server::drain(core::Time deadline, core::Active& owner) {
  draining_ = true;
  close_listeners();
  drain_owner_.aim(owner);
  deadline_.set(deadline);
  sessions_.for_each([](Session& session) { session.drain(); });
  if (sessions_.empty()) drain_owner_.fire();
}

void Server::advance() {
  if (!deadline_.due()) return;
  deadline_.clear();
  sessions_.for_each([](Session& session) { session.abort(); });
}

void Server::accept_client(core::Fd fd, const net::Address& client, const Listener& listener) {
  const ConnectionLimits& limits = root_->connections;
  Connection connection{client, listener.address(), false, listener.name()};
  if (client.family() == net::Address::Family::local) connection.user = net::peer_user(fd.get());
  const ConnectionCounts::Counting how = counting(connection);
  if (counts_->crowded(limits)) close_longest_idle();
  const auto verdict = counts_->enter(client, how, limits, connection.user.value_or(0));
  if (verdict != ConnectionCounts::Verdict::admitted) return refuse(fd);
  open(std::make_unique<net::SocketTransport>(loop(), std::move(fd)), std::move(connection), how);
}

void Server::adopt(std::unique_ptr<net::Transport> transport, Connection connection) {
  constexpr auto how = ConnectionCounts::Counting::anonymous;
  counts_->enter(connection.client, how, {SIZE_MAX, SIZE_MAX});
  open(std::move(transport), std::move(connection), how);
}

void Server::open(std::unique_ptr<net::Transport> transport, Connection connection,
                  ConnectionCounts::Counting counting) {
  counters_.accepted.add(1);
  counters_.open.add(1);
  // Owned by the list until ended().
  Session* session = new H1Session(*this, std::move(transport), std::move(connection), counting);
  sessions_.push_back(*session);
  if (draining_) session->drain();
  session->wake();  // its first bytes have often arrived already
}

ConnectionCounts::Counting Server::counting(const Connection& connection) const {
  const net::Address& client = connection.client;
  if (connection.user && root_->connections.per_user != 0)
    return ConnectionCounts::Counting::by_user;
  const auto holds = [&client](const net::Network& network) { return network.contains(client); };
  const bool anonymous = client.ip_bytes().empty() ||
                         std::any_of(root_->uncounted.begin(), root_->uncounted.end(), holds);
  return anonymous ? ConnectionCounts::Counting::anonymous : ConnectionCounts::Counting::by_client;
}

void Server::close_longest_idle() {
  if (idle_.empty()) return;
  Session& session = idle_.front();
  now_busy(session);
  session.drain();
}

// Short, and without state: whoever hoards connections shall not be able to hoard these.
void Server::refuse(const core::Fd& fd) {
  counters_.refused.add(1);
  ::send(fd.get(), refusal.data(), refusal.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(fd.get(), SHUT_WR);
  std::array<char, 4096> unread;  // what lies unread would turn the closing into a reset
  ::recv(fd.get(), unread.data(), unread.size(), MSG_DONTWAIT);
}

void Server::refuse_with_reserve(int listening) {
  counters_.pauses.add(1);
  reserve_.reset();
  core::Fd client(::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (client) refuse(client);
  client.reset();  // before the reserve takes its place
  reserve_ = open_reserve();
}

void Server::now_idle(Session& session) {
  if (static_cast<core::Link<IdleSession>&>(session).linked()) return;
  idle_.push_back(session);
  counters_.idle.add(1);
}

void Server::now_busy(Session& session) {
  core::Link<IdleSession>& place = session;
  if (!place.linked()) return;
  place.unlink();
  counters_.idle.add(-1);
}

void Server::exchange_began() { counters_.exchanges.add(1); }

void Server::exchange_ended() {
  counters_.exchanges.add(-1);
  counters_.served.add(1);
}

void Server::forget(Session& session) {
  now_busy(session);
  static_cast<core::Link<OpenSession>&>(session).unlink();
  const Connection& connection = session.connection();
  counts_->leave(connection.client, session.counting(), connection.user.value_or(0));
  counters_.open.add(-1);
}

void Server::ended(Session& session) {
  forget(session);
  loop().retire(std::unique_ptr<core::Active>(&session));
  for (const auto& listener : listeners_) listener->resume();
  if (drained()) drain_owner_.fire();
}

std::string_view Server::date() {
  using std::chrono::system_clock;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec != date_second_) {
    date_second_ = now.tv_sec;
    date_ = core::http_date(system_clock::from_time_t(now.tv_sec));
  }
  return date_;
}

}  // namespace portico::serve
