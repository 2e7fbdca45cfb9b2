#include "proxy/client/connections.h"

#include <algorithm>
#include <utility>

#include "proxy/client/destination.h"
#include "proxy/client/h1_client.h"
#include "proxy/client/h1_stream.h"

namespace portico::client {

Connections::Connections(core::Loop& loop, std::size_t cap) : loop_(loop), cap_(cap) {}

Connections::~Connections() { close_idle(); }

std::unique_ptr<Stream> Connections::reuse(const Destination& destination) {
  const auto found = idle_.find(&destination);
  if (found == idle_.end()) return nullptr;
  Idle& idle = found->second;
  while (!idle.empty()) {
    std::unique_ptr<H1Client> client = std::move(idle.back());
    idle.pop_back();
    if (client->quiet()) return std::make_unique<H1Stream>(*this, std::move(client));
    loop_.retire(std::move(client));
  }
  return nullptr;
}

std::unique_ptr<Stream> Connections::open(std::shared_ptr<Destination> destination,
                                          std::unique_ptr<net::Transport> transport) {
  return std::make_unique<H1Stream>(
      *this, std::make_unique<H1Client>(*this, std::move(destination), std::move(transport)));
}

void Connections::give_back(std::unique_ptr<H1Client> client) {
  if (!client->reusable() || !client->quiet()) return loop_.retire(std::move(client));
  Idle& idle = idle_[client->destination().get()];
  if (idle.size() >= cap_) return loop_.retire(std::move(client));
  client->rest();
  idle.push_back(std::move(client));
}

void Connections::lost(H1Client& client) {
  client.destination()->closed_idle(loop_.now() - client.idle_since(), loop_.now());
  close(client);
}

void Connections::expired(H1Client& client) { close(client); }

void Connections::close(H1Client& client) {
  const auto entry = idle_.find(client.destination().get());
  if (entry == idle_.end()) return;
  Idle& idle = entry->second;
  const auto at = std::find_if(idle.begin(), idle.end(),
                               [&client](const auto& one) { return one.get() == &client; });
  if (at == idle.end()) return;
  loop_.retire(std::move(*at));
  idle.erase(at);
  if (idle.empty()) idle_.erase(entry);
}

std::size_t Connections::idle(const Destination& destination) const {
  const auto found = idle_.find(&destination);
  return found == idle_.end() ? 0 : found->second.size();
}

void Connections::close_idle() {
  for (auto& [destination, idle] : idle_)
    for (auto& client : idle) loop_.retire(std::move(client));
  idle_.clear();
}

}  // namespace portico::client
