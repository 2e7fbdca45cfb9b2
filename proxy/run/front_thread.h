// FrontThread: one thread of the front with its loop and its server.
//
// Owned by the front's main thread, which makes it, starts it and joins it. The server lives and
// dies in the thread itself, since its bytes belong to it. Design §3, "run".
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/serve/root.h"
#include "proxy/serve/server.h"

namespace portico::route {
class Pools;
class Prober;
}  // namespace portico::route

namespace portico::run {

class Applications;

/// A bound socket for one front thread, and its name in the configuration.
struct Listening {
  std::string name;
  core::Fd socket;
};

class FrontThread {
 public:
  /// What a thread serves with; the references outlive it.
  struct Setup {
    std::shared_ptr<const serve::Root> root;
    std::shared_ptr<serve::ConnectionCounts> counts;
    std::vector<Listening> listeners;
    route::Pools& pools;
    Applications& applications;
  };

  /// owner  of the main thread: woken when ended() has become true
  FrontThread(unsigned index, Setup setup, core::Active& owner);
  ~FrontThread();  ///< joins; the thread must have ended or have been told to drain

  /// No new clients; what runs is finished within `time`, else cut; then the thread ends. From the
  /// main thread.
  void drain(core::Duration time);
  bool ended() const { return ended_; }

 private:
  class Ending;

  void run();
  void serve();
  void tell_owner();

  Setup setup_;
  core::Active& owner_;
  core::Loop loop_;
  Ending* ending_ = nullptr;  // while the thread serves
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace portico::run
