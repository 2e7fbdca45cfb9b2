// DeployBody: the answer's body that has services deployed, one after the other, and tells line by
// line how it goes. Its last line is "done" or "failed".
//
// Owned by its exchange; one thread. A caller that leaves in the middle stops nothing that has
// begun; what has not begun does not begin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/core/bell.h"
#include "proxy/http/body.h"
#include "proxy/process/progress.h"
#include "proxy/process/service.h"

namespace portico::run {

inline constexpr std::string_view deploy_done = "done\n";
inline constexpr std::string_view deploy_failed = "failed\n";

class DeployBody final : public http::BodySource {
 public:
  /// services  outlive the body
  explicit DeployBody(std::vector<process::Service*> services) : waiting_(std::move(services)) {}
  DeployBody(const DeployBody&) = delete;
  DeployBody& operator=(const DeployBody&) = delete;
  ~DeployBody() override;

  http::Pull pull(std::size_t room, core::Active& reader) override;

 private:
  class Voice;

  void begin_next();
  void say(std::string_view service, std::string_view line);
  void ended(std::string_view service, process::Progress::Outcome outcome, std::string_view why);

  std::vector<process::Service*> waiting_;  // in order
  Voice* voice_ = nullptr;                  // of the deploy that runs; the service owns it
  std::string text_;                        // told, and not yet pulled
  bool is_well_ = true;
  bool has_concluded_ = false;
  core::Bell bell_;
  core::Bell::Hearer hearer_;
};

}  // namespace portico::run
