#include "proxy/client/dialer.h"

#include "proxy/net/connector.h"

namespace portico::client {
namespace {

class NetDial final : public Dial {
 public:
  NetDial(core::Active& owner, const net::Address& address, core::Duration limit)
      : connector_(owner, address, limit) {}
  core::Result<std::unique_ptr<net::Transport>> take() override { return connector_.take(); }

 private:
  net::Connector connector_;
};

}  // namespace

std::unique_ptr<Dial> NetDialer::dial(core::Active& owner, const net::Address& address,
                                      core::Duration limit) {
  return std::make_unique<NetDial>(owner, address, limit);
}

}  // namespace portico::client
