// The part of ApplicationService for workers that import by themselves: because the operator wants
// it so, or because what the import left behind forbids to fork.
#include <utility>

#include "backend/host/application_service.h"

namespace portico::backend {
namespace {

// What a worker whose import failed may take to end: threads that it began may hold it for ever.
constexpr auto failed_import_grace = std::chrono::seconds(5);

// What it leads to.
std::string describe_unfit(const conf::Application& application, std::string_view unfit) {
  const std::string found =
      "importing " + application.reference + " leaves behind " + std::string(unfit);
  if (application.preload == conf::Preload::always)
    return found +
           ": workers are forked all the same (preload: always), share or miss it, and may wait "
           "for "
           "ever for a lock that a thread held";
  return found +
         ": workers forked from there would share or miss it, so each worker imports by itself, "
         "which costs memory and time. Begin such things in a function under @portico.post_fork, "
         "or write \"preload: false\"; \"preload: always\" where it is known to survive a fork";
}

}  // namespace

// Once for each finding: the same code is started again and again while it fails otherwise.
void ApplicationService::tell_unfit(const Release& release, std::string_view unfit) {
  if (std::exchange(told_unfit_, unfit) == unfit) return;
  const std::string text = describe_unfit(application_, unfit);
  say(core::Level::warning, text);
  if (is_next(release.number())) deploy_->note(text);
}

void ApplicationService::import_in_workers(Release& release) {
  Release::Failure failure;
  keep_output(release.import_in_workers(*this, place_of(release), failure));
  if (!release.runs()) could_not_begin(release, failure);
}

// Where others of this release serve, it is one worker's matter; else the code cannot run.
void ApplicationService::on_import_failed(Worker& worker, std::string_view reason) {
  Release* release = find_release(worker.generation);
  if (release == nullptr || release->preloads() || worker.state != Worker::State::starting) return;
  if (workers_.serving(release->number()) > 1) {
    say(core::Level::error, "worker " + std::to_string(worker.number) + " could not import " +
                                application_.reference + ": " + std::string(reason));
    return on_leaving(worker);
  }
  worker.state = Worker::State::leaving;
  hangs_.expect(worker.number, loop().now() + failed_import_grace);
  on_refused(*release, reason);
  release->stop(no_deadline);
}

// It came to its end while it imported, and no other one serves: as when a zygote does.
bool ApplicationService::is_import_gone(const Worker& worker) const {
  return worker.state == Worker::State::starting && is_present(worker) && !current_->preloads() &&
         current_->state() == Release::State::imported && workers_.serving(current_->number()) == 0;
}

void ApplicationService::import_gone(const Worker& worker, std::string_view why) {
  const std::string what = "importing " + application_.reference;
  worker.is_overdue ? refuse("import", what + " hung")
                    : refuse("exit", what + ": its worker " + std::string(why));
  current_->refused(loop().now());
  current_->stop(no_deadline);
}

}  // namespace portico::backend
