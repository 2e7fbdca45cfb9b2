// Release: one import of an application's code: a zygote with the channels to its workers. What the
// front knows of it is a generation (backend/front/generation.h), under the number of its channels.
//
// Owned by an ApplicationService (in use, or on its way out) or by a Deploy (on its way in); the
// supervisor's thread. It ends with its zygote: what is started anew is another one. Where the code
// lies is decided once, at its start: symlinks are followed then, so that whatever it imports later
// belongs to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/host/channels.h"
#include "backend/host/zygote.h"
#include "conf/config.h"
#include "proxy/core/loop.h"

namespace portico::backend {

/// The application with the symlinks in `directory` and `python` followed, but not the last part of
/// an interpreter's path: a virtual environment is known by it.
conf::Application resolve_code(const conf::Application& application);

/// A time that never comes.
inline constexpr core::Time no_deadline = core::Time::max();

class Release {
 public:
  /// unborn     a base has yet to make its zygote
  /// importing  the interpreter runs
  /// imported   it forks workers (without preload: it may, and they import)
  /// refused    the import failed, and it will end
  /// given_up   it was killed, or not made, before it had imported
  /// ended      wait has told its end, or there was nothing to end; workers of it may still live
  enum class State { unborn, importing, imported, refused, given_up, ended };

  /// Why one could not be started.
  struct Failure {
    std::string cause;   ///< "directory", "user" and so on, as the front is told
    std::string reason;  ///< a sentence for the log
  };
  struct Place {
    const HostOptions& options;
    process::SiteLog& log;   ///< outlives it and its output
    std::uint64_t number;    ///< of its channels; never used before
    unsigned front_threads;  ///< those of the front that will use it
  };

  /// Starts the interpreter. Null, with a failure: it could not be started. `owner` is woken when
  /// the zygote has said something.
  static std::unique_ptr<Release> start(core::Active& owner, const conf::Application& application,
                                        const Place& place, Failure& failure);
  ~Release();

  std::uint64_t number() const { return number_; }
  const conf::Application& application() const { return application_; }
  Channels& channels() { return channels_; }
  Zygote& zygote() { return *zygote_; }
  pid_t pid() const { return zygote_->pid(); }
  State state() const { return state_; }
  bool runs() const { return state_ != State::ended; }
  bool is_beginning() const { return state_ == State::unborn || state_ == State::importing; }
  /// There is no process whose end could be waited for.
  bool is_lost() const { return state_ == State::given_up && pid() == 0; }
  /// Its zygote comes from a base.
  bool shares_imports() const { return zygote_->birth() != nullptr; }
  /// Its process, while that runs; 0: there is none.
  pid_t base() const { return shares_imports() ? zygote_->birth()->base() : 0; }

  /// Its zygote is born: it begins to import.
  void begin();
  void imported() { state_ = State::imported; }
  void refused(core::Time now);
  std::unique_ptr<process::Output> ended();

  /// Forks of it would not do: it makes room for another zygote, which forks workers that import
  /// by themselves.
  ///
  /// Returns  the output of the one that is gone
  std::unique_ptr<process::Output> import_in_workers(core::Active& owner, const Place& place,
                                                     Failure& failure);
  bool preloads() const { return application_.preload != conf::Preload::never; }
  /// There will be no zygote from a base, or it has ended before it had imported: an interpreter of
  /// its own takes the place.
  ///
  /// Returns  the output of the one that is gone
  std::unique_ptr<process::Output> begin_alone(core::Active& owner, const Place& place,
                                               Failure& failure);

  /// New channels, for another front. False: there are none; the zygote is of no use any more.
  bool renew(const Place& place);
  /// No more forks; the zygote leaves after its last worker, or is killed at this time.
  void stop(core::Time end_by);
  void end_by(core::Time time) { end_by_ = std::min(end_by_, time); }
  core::Time end_by() const { return end_by_; }
  void kill();

  /// The front sends nothing there any more.
  void finished() { is_finished_ = true; }
  bool is_finished() const { return is_finished_; }

 private:
  /// Where a zygote comes from: a base where the application shares imports, or an interpreter of
  /// its own in any case.
  enum class Origin : std::uint8_t { base, own };

  Release(conf::Application application, Channels channels, std::uint64_t number)
      : application_(std::move(application)), channels_(std::move(channels)), number_(number) {}
  bool start_zygote(core::Active& owner, const Place& place, Origin origin, Failure& failure);
  std::unique_ptr<process::Output> start_anew(core::Active& owner, const Place& place,
                                              Origin origin, Failure& failure);

  conf::Application application_;  // where its code lies
  Channels channels_;
  std::uint64_t number_;
  unsigned front_threads_ = 0;
  std::unique_ptr<Zygote> zygote_;
  State state_ = State::importing;
  core::Time end_by_ = no_deadline;
  bool is_finished_ = false;
};

}  // namespace portico::backend
