#include "proxy/run/control.h"

#include "proxy/run/control_routes.h"

namespace portico::run {
namespace {

using namespace std::chrono_literals;

// Our own requests are short; a caller has no business to be slow. A log that is followed is an
// answer that waits for lines, which is not limited.
serve::ExchangeLimits exchange_limits() {
  serve::ExchangeLimits limits;
  limits.body_bytes = 64 * 1024;
  limits.body_wait = limits.send_wait = 10s;
  limits.header_wait = limits.idle_wait = 5s;
  return limits;
}

std::shared_ptr<const serve::Root> make_root(Controlled& portico) {
  auto root = std::make_shared<serve::Root>();
  root->handler = std::make_shared<ControlHandler>(portico);
  root->head = {.header_bytes = 8 * 1024, .target_bytes = 2 * 1024, .header_fields = 50};
  root->limits = exchange_limits();
  // One user's connections leave room for the others', so that nobody locks root out.
  root->connections = {.total = 256, .per_client = 1, .per_user = 8};
  return root;
}

}  // namespace

Control::Control(core::Loop& loop, core::Fd listening, Controlled& portico)
    : server_(loop, make_root(portico), std::make_shared<serve::ConnectionCounts>()) {
  server_.listen(std::move(listening), "control");
}

}  // namespace portico::run
