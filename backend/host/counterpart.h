// Counterpart: what an application's service says to the application in the front.
//
// Owned by an ApplicationService; the supervisor's thread. It knows the words and nothing else:
// record/README.md, "Control messages", has them. While there is no front it says nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backend/host/channels.h"
#include "backend/host/site_service.h"
#include "backend/host/workers.h"
#include "backend/record/control.h"
#include "proxy/process/service.h"

namespace portico::backend {

/// Whether a generation is used at once, or asked first and switched to later.
enum class Standing : std::uint8_t { in_use, standby };

class Counterpart {
 public:
  explicit Counterpart(std::string application) : application_(std::move(application)) {}

  void attach(process::FrontLink& link) { link_ = &link; }
  void detach() { link_ = nullptr; }
  bool present() const { return link_ != nullptr; }
  unsigned front_threads() const { return link_ == nullptr ? 0 : link_->front_threads(); }

  /// Gives the front its end of the queue, which is closed here.
  void queue(std::uint64_t generation, Channels& channels, Standing standing);
  void switch_to(std::uint64_t generation);
  void drop(std::uint64_t generation);
  void warm(std::uint64_t generation, const std::string& target);
  void worker(const Worker& worker, unsigned threads, const WorkerEnds& ends);
  void ready(const Worker& worker);
  void leaving(const Worker& worker);
  void watch(std::uint16_t worker);  ///< its next answer is told
  void gone(std::uint16_t worker, std::string_view why);
  void target(unsigned workers);  ///< so many there are to be, until it says otherwise
  /// cause  of failed: "directory", "interpreter", "import" or "exit"
  void state(SiteState state, const std::string& cause);

 private:
  void tell(const record::ControlMessage& message, std::span<const int> fds = {});

  std::string application_;
  process::FrontLink* link_ = nullptr;
};

}  // namespace portico::backend
