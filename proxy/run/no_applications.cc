#include "proxy/run/no_applications.h"

#include "proxy/serve/exchange.h"

namespace portico::run {
namespace {

class Unavailable final : public serve::Handler {
 public:
  std::unique_ptr<serve::Task> start(serve::Exchange& exchange) const override {
    exchange.fail({core::Fault::site_unavailable, 0, "looking for the application"});
    return nullptr;
  }
};

}  // namespace

std::shared_ptr<const serve::Handler> NoApplications::handler(const conf::Application&,
                                                              const conf::Route&) {
  return std::make_shared<Unavailable>();
}

void NoApplications::hear(std::string_view, std::string_view, std::vector<core::Fd>) {}
ApplicationFacts NoApplications::facts(std::string_view) const { return {}; }
void NoApplications::attach(core::Loop&) {}
void NoApplications::detach(core::Loop&) {}

}  // namespace portico::run
