#include "proxy/net/resolver.h"

#include <ares.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "proxy/core/timer.h"
#include "proxy/core/watch.h"

namespace portico::net {
namespace {

constexpr char servers_file[] = "/etc/resolv.conf";
// c-ares rounds to milliseconds: a little later saves a turn that finds nothing.
constexpr core::Duration timer_slack = std::chrono::milliseconds(1);

std::string_view reason(int status) {
  switch (status) {
    case ARES_ENOTFOUND:
      return "resolving a name that does not exist";
    case ARES_ENODATA:
      return "resolving a name that has no address";
    case ARES_EBADNAME:
      return "resolving a malformed name";
    case ARES_ETIMEOUT:
    case ARES_ECONNREFUSED:  // also when each server failed or refused
    case ARES_ESERVFAIL:
      return "resolving a name: no DNS server gives an answer";
    default:
      return "resolving a name";
  }
}

core::Duration smallest_ttl(const ares_addrinfo& info) {
  int ttl = info.nodes->ai_ttl;
  for (const auto* node = info.nodes; node != nullptr; node = node->ai_next)
    ttl = std::min(ttl, node->ai_ttl);
  for (const auto* alias = info.cnames; alias != nullptr; alias = alias->next)
    ttl = std::min(ttl, alias->ttl);
  return std::chrono::seconds(std::max(ttl, 0));
}

Answer answer_from(const ares_addrinfo& info, std::uint16_t port) {
  Answer answer;
  answer.ttl = smallest_ttl(info);
  for (const auto* node = info.nodes; node != nullptr; node = node->ai_next) {
    const Address address = Address::from(node->ai_addr, node->ai_addrlen);
    if (address.family() != Address::Family::none)
      answer.addresses.push_back(address.with_port(port));
  }
  return answer;
}

ares_addr_port_node server_node(const Address& address) {
  ares_addr_port_node node{};
  const std::string_view bytes = address.ip_bytes();
  node.family = bytes.size() == 4 ? AF_INET : AF_INET6;
  std::memcpy(&node.addr, bytes.data(), bytes.size());
  node.udp_port = node.tcp_port = address.port();
  return node;
}

std::timespec modified(const char* path) {
  struct stat status {};
  ::stat(path, &status);
  return status.st_mtim;
}

bool same(const std::timespec& a, const std::timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

/// Held by c-ares from the question to its callback, which c-ares makes exactly once and which
/// frees it; the lookup may be gone by then.
struct Resolver::Query {
  Ares* ares;
  Lookup* lookup;
};

/// Sockets belong to c-ares, which tells what to watch them for; we tell it what is ready.
class Resolver::Ares final : public core::Active {
 public:
  Ares(core::Loop& loop, const ResolverOptions& options);
  ~Ares() override;

  void ask(Query* query, const std::string& name);
  void advance() override;

 private:
  struct Socket final : core::ReadyListener {
    explicit Socket(Ares& owner) : ares(owner), watch(owner.loop(), *this) {}
    void on_ready(int readiness) noexcept override {
      ready |= readiness;
      ares.wake();
    }
    Ares& ares;
    int ready = 0;
    core::Watch watch;
  };

  static void on_socket(void* self, ares_socket_t fd, int reads, int writes) noexcept;
  static void on_answer(void* query, int status, int, ares_addrinfo* info) noexcept;
  void open();
  void close();
  void use_servers();
  void refresh();
  void process_ready();
  void arm_timer();

  const ResolverOptions& options_;
  ares_channel channel_ = nullptr;
  std::timespec servers_read_{};  // when the file of servers had changed last
  std::size_t under_way_ = 0;
  std::map<ares_socket_t, Socket> sockets_;
  core::Timer timer_;
};

Resolver::Ares::Ares(core::Loop& loop, const ResolverOptions& options)
    : Active(loop), options_(options), timer_(*this) {
  static std::once_flag once;
  std::call_once(once, [] { ares_library_init(ARES_LIB_INIT_ALL); });
  open();
}

Resolver::Ares::~Ares() { close(); }

void Resolver::Ares::open() {
  servers_read_ = modified(servers_file);
  char lookups[] = "b";  // DNS alone: the hosts file is read by HostsFile
  ares_options options{};
  options.timeout = static_cast<int>(
      std::chrono::duration_cast<std::chrono::milliseconds>(options_.try_wait).count());
  options.tries = options_.tries;
  options.lookups = lookups;
  options.sock_state_cb = &Ares::on_socket;
  options.sock_state_cb_data = this;
  const int set = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;
  if (ares_init_options(&channel_, &options, set) != ARES_SUCCESS) channel_ = nullptr;
  if (channel_ != nullptr && !options_.servers.empty()) use_servers();
}

void Resolver::Ares::close() {
  if (channel_ != nullptr) ares_destroy(channel_);
  channel_ = nullptr;
}

void Resolver::Ares::use_servers() {
  std::vector<ares_addr_port_node> nodes;
  for (const Address& server : options_.servers) nodes.push_back(server_node(server));
  for (std::size_t i = 1; i < nodes.size(); ++i) nodes[i - 1].next = &nodes[i];
  ares_set_servers_ports(channel_, nodes.data());
}

// c-ares reads the file of servers only when a channel is made.
void Resolver::Ares::refresh() {
  if (under_way_ != 0 || !options_.servers.empty()) return;
  if (channel_ != nullptr && same(modified(servers_file), servers_read_)) return;
  close();
  open();
}

void Resolver::Ares::ask(Query* query, const std::string& name) {
  refresh();
  ++under_way_;
  if (channel_ == nullptr) return on_answer(query, ARES_ENOTINITIALIZED, 0, nullptr);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = ARES_AI_NOSORT;  // sorting connects a socket for each address
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, &Ares::on_answer, query);
  arm_timer();
}

void Resolver::Ares::on_answer(void* argument, int status, int, ares_addrinfo* info) noexcept {
  const std::unique_ptr<Query> query(static_cast<Query*>(argument));
  --query->ares->under_way_;
  Lookup* lookup = query->lookup;
  if (lookup != nullptr && status == ARES_SUCCESS && info->nodes != nullptr) {
    lookup->finish(answer_from(*info, lookup->port_));
  } else if (lookup != nullptr) {
    lookup->fail(reason(status == ARES_SUCCESS ? ARES_ENODATA : status));
  }
  if (info != nullptr) ares_freeaddrinfo(info);
}

void Resolver::Ares::on_socket(void* self, ares_socket_t fd, int reads, int writes) noexcept {
  auto& ares = *static_cast<Ares*>(self);
  if (reads == 0 && writes == 0) {
    ares.sockets_.erase(fd);
    return;
  }
  const auto [at, made] = ares.sockets_.try_emplace(fd, ares);
  if (made) at->second.watch.open(fd);
  at->second.watch.want((reads != 0 ? core::readable : 0) | (writes != 0 ? core::writable : 0));
}

void Resolver::Ares::advance() {
  process_ready();
  if (channel_ != nullptr && timer_.due())
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  arm_timer();
}

// c-ares may close and open sockets meanwhile: what is ready is noted first.
void Resolver::Ares::process_ready() {
  std::vector<std::pair<ares_socket_t, int>> ready;
  for (auto& [fd, socket] : sockets_) {
    if (const int readiness = std::exchange(socket.ready, 0); readiness != 0)
      ready.emplace_back(fd, readiness);
  }
  for (const auto& [fd, readiness] : ready) {
    ares_process_fd(channel_, (readiness & core::readable) != 0 ? fd : ARES_SOCKET_BAD,
                    (readiness & core::writable) != 0 ? fd : ARES_SOCKET_BAD);
  }
}

void Resolver::Ares::arm_timer() {
  timeval wait{};
  if (channel_ == nullptr || ares_timeout(channel_, nullptr, &wait) == nullptr) {
    timer_.clear();
    return;
  }
  timer_.set_after(std::chrono::seconds(wait.tv_sec) + std::chrono::microseconds(wait.tv_usec) +
                   timer_slack);
}

Resolver::Resolver(core::Loop& loop, ResolverOptions options)
    : options_(std::move(options)),
      hosts_(options_.hosts_file),
      ares_(std::make_unique<Ares>(loop, options_)) {}

Resolver::~Resolver() = default;

core::Loop& Resolver::loop() const { return ares_->loop(); }

Lookup::Lookup(Resolver& resolver, core::Active& owner, const std::string& name, std::uint16_t port)
    : owner_(owner), port_(port) {
  Answer answer;
  if (const auto address = Address::parse_ip(name, port)) answer.addresses.push_back(*address);
  for (const Address& address : resolver.hosts_.find(name))
    answer.addresses.push_back(address.with_port(port));
  if (!answer.addresses.empty()) {
    finish(std::move(answer));
    return;
  }
  query_ = new Resolver::Query{resolver.ares_.get(), this};
  resolver.ares_->ask(query_, name);
}

Lookup::~Lookup() {
  if (query_ != nullptr) query_->lookup = nullptr;
}

core::Result<std::optional<Answer>> Lookup::take() const {
  if (error_.fault != core::Fault::none) return error_;
  return answer_;
}

void Lookup::finish(Answer answer) {
  query_ = nullptr;
  answer_ = std::move(answer);
  owner_.wake();
}

void Lookup::fail(std::string_view doing) {
  query_ = nullptr;
  error_ = {core::Fault::name_unresolved, 0, doing};
  owner_.wake();
}

}  // namespace portico::net
