#include "proxy/run/front_thread.h"

#include <pthread.h>

#include <optional>
#include <string>
#include <utility>

#include "proxy/route/pools.h"
#include "proxy/route/probe.h"
#include "proxy/run/parts.h"

namespace portico::run {

/// Drains the server and stops the loop when that is done.
class FrontThread::Ending final : public core::Active {
 public:
  Ending(core::Loop& in, serve::Server& server) : Active(in), server_(server) {}

  void begin(core::Duration time) { server_.drain(loop().now() + time, *this); }
  void advance() override {
    if (server_.drained()) loop().stop();
  }

 private:
  serve::Server& server_;
};

FrontThread::FrontThread(unsigned index, Setup setup, core::Active& owner)
    : setup_(std::move(setup)), owner_(owner), loop_(core::Loop::Drive::by_events, index) {
  thread_ = std::thread([this] { run(); });
}

FrontThread::~FrontThread() { thread_.join(); }

void FrontThread::drain(core::Duration time) {
  struct Order {
    FrontThread& thread;
    core::Duration time;
  };
  loop_.post(
      [](void* argument) {
        const std::unique_ptr<Order> order(static_cast<Order*>(argument));
        Ending& ending = *order->thread.ending_;
        ending.begin(order->time);
        ending.wake();
      },
      new Order{*this, time}, [](void* argument) { delete static_cast<Order*>(argument); });
}

void FrontThread::run() {
  ::pthread_setname_np(::pthread_self(), ("front " + std::to_string(loop_.index())).c_str());
  setup_.applications.attach(loop_);
  serve();
  setup_.applications.detach(loop_);
  setup_.pools.end_thread(loop_);
  loop_.turn();  // what the server retired in its end is destroyed in its own thread
  ended_ = true;
  tell_owner();
}

void FrontThread::serve() {
  serve::Server server(loop_, std::move(setup_.root), setup_.counts);
  std::optional<route::Prober> prober;
  if (loop_.index() == 0) prober.emplace(loop_, setup_.pools);
  for (Listening& each : setup_.listeners) server.listen(std::move(each.socket), each.name);
  Ending ending(loop_, server);
  ending_ = &ending;
  loop_.run();
}

void FrontThread::tell_owner() {
  owner_.loop().post([](void* owner) { static_cast<core::Active*>(owner)->wake(); }, &owner_);
}

}  // namespace portico::run
