// Output: reads what a child writes to its standard output and error, and hands it on line by line.
//
// Owned by the service whose child it is; its thread. A child never waits for us longer than a turn
// of the loop: what is too much is read and dropped (see lines.h). It outlives the child, since
// children of the child may still write; it wakes its owner at the end of file.
#pragma once

#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/core/watch.h"
#include "proxy/process/lines.h"

namespace portico::process {

class Output final : public core::Active, public core::ReadyListener {
 public:
  /// The pipe that a child writes into, and our end of it; both close-on-exec, ours non-blocking.
  struct Ends {
    core::Fd ours;
    core::Fd childs;
  };
  static core::Result<Ends> pipe();

  /// sink  is called for each line; what it gets is raw: escape it (core::log does) or not
  Output(core::Active& owner, core::Fd pipe, Lines::Sink sink, LineRules rules = {});
  ~Output() override;

  bool ended() const { return !pipe_; }

 private:
  void advance() override;
  void on_ready(int readiness) noexcept override;
  void finish();

  core::Active& owner_;
  core::Fd pipe_;
  core::Watch watch_;
  Lines lines_;
};

}  // namespace portico::process
