#include "backend/host/counterpart.h"

namespace portico::backend {
namespace {

using record::ControlMessage;

ControlMessage message(std::string_view verb) { return {std::string(verb), {}}; }

ControlMessage about(std::string_view verb, std::uint64_t worker) {
  return message(verb).set("worker", worker);
}

}  // namespace

void Counterpart::tell(const ControlMessage& text, std::span<const int> fds) {
  if (link_ != nullptr) link_->tell(application_, record::format_control(text), fds);
}

void Counterpart::queue(std::uint64_t generation, Channels& channels, Standing standing) {
  const int fds[] = {channels.front_queue.get(), channels.cells.get()};
  ControlMessage text = message("queue").set("generation", generation);
  if (standing == Standing::standby) text.set("standby", std::uint64_t{1});
  tell(text, fds);
  channels.front_queue.reset();
}

void Counterpart::switch_to(std::uint64_t generation) {
  tell(message("switch").set("generation", generation));
}

void Counterpart::drop(std::uint64_t generation) {
  tell(message("drop").set("generation", generation));
}

void Counterpart::warm(std::uint64_t generation, const std::string& target) {
  tell(message("warm").set("generation", generation).set("target", target));
}

void Counterpart::worker(const Worker& worker, unsigned threads, const WorkerEnds& ends) {
  for (Announcement& part : announcements(worker.number, threads, ends))
    tell(part.message.set("generation", worker.generation).set("most", worker.most_answers),
         part.fds);
}

void Counterpart::ready(const Worker& worker) {
  tell(about("ready", worker.number).set("pid", static_cast<std::uint64_t>(worker.pid)));
}

void Counterpart::leaving(const Worker& worker) { tell(about("leaving", worker.number)); }

void Counterpart::watch(std::uint16_t worker) { tell(about("watch", worker)); }

void Counterpart::target(unsigned workers) {
  tell(message("target").set("workers", std::uint64_t{workers}));
}

void Counterpart::gone(std::uint16_t worker, std::string_view why) {
  tell(about("gone", worker).set("why", std::string(why)));
}

void Counterpart::state(SiteState state, const std::string& cause) {
  ControlMessage text = message("state");
  if (state == SiteState::starting) text.set("state", "starting");
  if (state == SiteState::sleeping) text.set("state", "sleeping");
  if (state == SiteState::ready) text.set("state", "ready");
  if (state == SiteState::failed) text.set("state", "failed").set("cause", cause);
  tell(text);
}

}  // namespace portico::backend
