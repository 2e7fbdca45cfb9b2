#include "backend/front/wsgi_handler.h"

#include "backend/front/wsgi_call.h"

namespace portico::backend {

WsgiHandler::WsgiHandler(std::shared_ptr<Application> application, const conf::Route& route)
    : application_(std::move(application)),
      route_(route),
      script_name_(application_->options().script_name) {}

std::unique_ptr<serve::Task> WsgiHandler::start(serve::Exchange& exchange) const {
  auto call = std::make_unique<WsgiCall>(exchange, *application_, route_, script_name_);
  call->begin();
  return call;
}

}  // namespace portico::backend
