// InterpreterProbe: asks an interpreter, in a process of its own, where its shared library is: what
// the front needs to run an embedded application.
//
// Owned by an EmbeddedService, or by the check of `portico check`; the thread of the owner's loop.
// The interpreter may be the site's own file, so it runs as the site's user, and what it says is
// only a path that the front, without privileges, loads. Design §7, "Embedded mode".
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/process/identity.h"
#include "proxy/process/output.h"

namespace portico::backend {

class InterpreterProbe final : public core::Active {
 public:
  struct Finding {
    std::string library;  ///< the path of libpython; empty when it cannot be embedded
    std::string problem;  ///< then: why, and what to do
  };

  /// owner     is woken when there is a finding
  /// identity  whom the interpreter becomes; null: it stays as we are
  InterpreterProbe(core::Active& owner, const conf::Application& application,
                   const process::Identity* identity);
  ~InterpreterProbe() override { give_up(); }

  /// What the interpreter said; nothing: wait.
  const std::optional<Finding>& finding() const { return finding_; }
  pid_t pid() const { return pid_; }
  void give_up();  ///< kills the child, whose end wait tells
  /// wait has told that it has ended.
  void ended() { pid_ = 0; }

  void advance() override;

 private:
  void start(const process::Identity* identity);
  void take_line(std::string_view line);
  void conclude(Finding finding);

  core::Active& owner_;
  conf::Application application_;
  std::string python_;
  pid_t pid_ = 0;
  std::unique_ptr<process::Output> output_;
  std::string answer_;
  std::optional<Finding> finding_;
  core::Timer deadline_;
};

/// What an interpreter's answer means: the line that the probe's program prints. Pure.
InterpreterProbe::Finding finding_of(std::string_view answer, const std::string& python);

}  // namespace portico::backend
