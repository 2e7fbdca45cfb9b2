// H1Stream: a Stream over an HTTP/1.1 connection, which it holds for one request.
//
// Owned as every Stream; one thread. As soon as the response is complete the connection goes back
// to the thread's Connections, which keep or close it.
#pragma once

#include <memory>

#include "proxy/client/stream.h"
#include "proxy/core/recycled.h"

namespace portico::client {

class Connections;
class H1Client;

class H1Stream final : public Stream, public core::Recycled<H1Stream> {
 public:
  H1Stream(Connections& connections, std::unique_ptr<H1Client> client);
  ~H1Stream() override;

  void start(const Request& request, core::Active& owner) override;
  Event next() override;
  http::ResponseHead take_head() override;
  std::unique_ptr<net::Transport> take_transport() override;
  const core::Error& error() const override;
  Facts facts() const override;
  http::Pull pull(std::size_t room, core::Active& reader) override;

 private:
  void give_back();

  Connections& connections_;
  std::unique_ptr<H1Client> client_;  // null once the response is complete
};

}  // namespace portico::client
