// The part of ApplicationService for zygotes that come from a base: until they are born, and what
// is done where they are not.
#include <utility>

#include "backend/host/application_service.h"

namespace portico::backend {

void ApplicationService::await_birth(Release& release) {
  const Birth& birth = *release.zygote().birth();
  if (birth.state() == Birth::State::born) release.begin();
  if (birth.state() == Birth::State::refused) begin_alone(release, birth.reason());
}

// What ended may have done so because of where it came from. A site's own import that fails says
// so, and is tried as often as any.
bool ApplicationService::may_begin_alone(const Release& release) const {
  const bool is_awaited =
      &release == current_.get() || (is_next(release.number()) && !deploy_->over());
  return is_awaited && release.state() == Release::State::importing && release.shares_imports();
}

void ApplicationService::begin_alone(Release& release, std::string_view why) {
  const std::string text =
      "shares no imports: " + std::string(why) + "; its own Python imports everything";
  say(core::Level::warning, text);
  if (is_next(release.number())) deploy_->note(text);
  if (&release == current_.get())
    hangs_.expect(Hangs::zygote, loop().now() + application_.timeouts.start);
  Release::Failure failure;
  keep_output(release.begin_alone(*this, place_of(release), failure));
  if (!release.runs()) could_not_begin(release, failure);
}

/// What was to take the place of its first zygote could not be started.
void ApplicationService::could_not_begin(const Release& release, const Release::Failure& failure) {
  if (is_next(release.number())) return deploy_->fail(failure.reason);
  hangs_.forget(Hangs::zygote);
  past_.push_back(std::move(current_));
  fail(failure.cause, failure.reason);
}

/// Those that were given up before they had a process, whose end wait would tell.
void ApplicationService::bury_lost() {
  for (Release* one : releases()) {
    if (!one->is_lost()) continue;
    zygote_gone(*one, "was given up before it began");
    return wake();  // the list is another now
  }
}

}  // namespace portico::backend
