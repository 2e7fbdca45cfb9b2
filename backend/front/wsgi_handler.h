// WsgiHandler: a route whose requests an application answers. Immutable; shared by the front
// threads.
#pragma once

#include <memory>
#include <string>

#include "backend/front/application.h"
#include "conf/config.h"
#include "proxy/serve/handler.h"

namespace portico::backend {

class WsgiHandler final : public serve::Handler {
 public:
  WsgiHandler(std::shared_ptr<Application> application, const conf::Route& route);

  std::unique_ptr<serve::Task> start(serve::Exchange& exchange) const override;

 private:
  std::shared_ptr<Application> application_;
  conf::Route route_;
  std::string script_name_;
};

}  // namespace portico::backend
