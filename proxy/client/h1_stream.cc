#include "proxy/client/h1_stream.h"

#include <utility>

#include "proxy/client/connections.h"
#include "proxy/client/h1_client.h"

namespace portico::client {

H1Stream::H1Stream(Connections& connections, std::unique_ptr<H1Client> client)
    : connections_(connections), client_(std::move(client)) {}

H1Stream::~H1Stream() {
  if (client_) connections_.give_back(std::move(client_));
}

void H1Stream::start(const Request& request, core::Active& owner) {
  client_->start(request, owner);
}

Stream::Event H1Stream::next() { return client_->next(); }

http::ResponseHead H1Stream::take_head() { return client_->take_head(); }

std::unique_ptr<net::Transport> H1Stream::take_transport() {
  std::unique_ptr<net::Transport> transport = client_->take_transport();
  connections_.loop().retire(std::move(client_));
  return transport;
}

const core::Error& H1Stream::error() const { return client_->error(); }

Stream::Facts H1Stream::facts() const { return client_->facts(); }

// Trailers are views that the connection keeps: with them it stays until nobody looks any more.
http::Pull H1Stream::pull(std::size_t room, core::Active& reader) {
  if (!client_) return {core::Flow::end, {}, nullptr, {}};
  http::Pull pull = client_->pull(room, reader);
  if (client_->complete()) {
    client_->told_complete();
    if (!client_->has_trailers()) give_back();
  }
  return pull;
}

void H1Stream::give_back() { connections_.give_back(std::move(client_)); }

}  // namespace portico::client
