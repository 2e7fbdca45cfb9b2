// Bases: the processes that have imported what several sites share, one of a kind at a time.
//
// Shared by the ApplicationServices of a configuration; the supervisor's thread. A base starts when
// the first zygote is asked of it, and ends when the last one that came of it has ended. No site
// depends on one: whoever is refused starts an interpreter of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/host/base.h"
#include "backend/host/birth.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/process/backoff.h"

namespace portico::backend {

class Bases final : public core::Active {
 public:
  explicit Bases(core::Loop& loop) : Active(loop), timer_(*this) {}
  ~Bases() override;

  /// Orders a zygote with these ends; `owner` is woken when it is born or refused.
  std::unique_ptr<Birth> ask(core::Active& owner, const conf::Application& application,
                             const HostOptions& options, const Launch& launch,
                             EngineProcess::Ends ends);
  /// A child has ended. True: it was a base.
  bool child_ended(pid_t pid, int wait_status);
  /// No zygote any more.
  void stop();
  bool stopped() const;

  void advance() override;

 private:
  /// Why there is none of a kind, and when one is tried again.
  struct Trouble {
    BaseKind kind;
    process::Backoff backoff;
    core::Time until;
    std::string reason;
  };

  void place(Birth& birth, const BaseKind& kind);
  Base* find_or_start(const BaseKind& kind, std::string& reason);
  void hear(Base& base);
  void on_message(Base& base, const record::ControlMessage& heard);
  void on_imported(Base& base, const record::ControlMessage& heard);
  void on_born(Base& base, const record::ControlMessage& heard);
  void on_changed(Base& base, const record::ControlMessage& heard);
  void give_up(Base& base, const std::string& reason);
  void check(Base& base);
  void look_again();
  Trouble& trouble_of(const BaseKind& kind);

  const HostOptions* options_ = nullptr;
  std::vector<std::unique_ptr<Base>> bases_;
  std::vector<Trouble> troubles_;
  std::uint64_t last_serial_ = 0;
  unsigned last_number_ = 0;
  bool stopping_ = false;
  core::Timer timer_;
};

}  // namespace portico::backend
