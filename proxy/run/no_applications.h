// NoApplications: stands in for WSGI applications in a front that has no part for them; every such
// site answers 503.
//
// Owned by the front; stateless, any thread.
#pragma once

#include "proxy/run/parts.h"

namespace portico::run {

class NoApplications final : public Applications {
 public:
  std::shared_ptr<const serve::Handler> handler(const conf::Application& application,
                                                const conf::Route& route) override;
  void hear(std::string_view service, std::string_view text, std::vector<core::Fd> fds) override;
  ApplicationFacts facts(std::string_view service) const override;
  void attach(core::Loop& loop) override;
  void detach(core::Loop& loop) override;
};

}  // namespace portico::run
