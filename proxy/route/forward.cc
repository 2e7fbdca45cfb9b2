#include "proxy/route/forward.h"

#include <utility>

#include "proxy/route/forward_task.h"

namespace portico::route {
namespace {

class Forward final : public serve::Handler {
 public:
  explicit Forward(ForwardTo to) : to_(std::move(to)) {}

  std::unique_ptr<serve::Task> start(serve::Exchange& exchange) const override {
    auto task = std::make_unique<ForwardTask>(exchange, to_);
    task->begin();
    return task;
  }

 private:
  ForwardTo to_;
};

}  // namespace

std::shared_ptr<const serve::Handler> make_forward(const conf::Route& route,
                                                   std::shared_ptr<LivePool> pool, Pools& pools) {
  return std::make_shared<Forward>(ForwardTo{route.timeouts, std::move(pool), pools});
}

}  // namespace portico::route
