#include "proxy/run/deploy_body.h"

#include <memory>
#include <utility>

namespace portico::run {

using process::Progress;

/// Speaks for one deploy, as long as somebody listens.
class DeployBody::Voice final : public Progress {
 public:
  Voice(DeployBody& body, std::string_view service) : body_(&body), service_(service) {}
  ~Voice() override { ended(Outcome::failed, "Portico has ended"); }

  void said(std::string_view line) override {
    if (body_ != nullptr) body_->say(service_, line);
  }
  void ended(Outcome outcome, std::string_view why) override {
    if (DeployBody* body = std::exchange(body_, nullptr); body != nullptr)
      body->ended(service_, outcome, why);
  }
  void nobody_listens() { body_ = nullptr; }

 private:
  DeployBody* body_;
  std::string service_;
};

DeployBody::~DeployBody() {
  if (voice_ != nullptr) voice_->nobody_listens();
}

// A deploy may end before it has begun: then the next one is begun at the next pull.
http::Pull DeployBody::pull(std::size_t room, core::Active& reader) {
  while (text_.empty() && voice_ == nullptr && !waiting_.empty()) begin_next();
  const bool is_over = voice_ == nullptr && waiting_.empty();
  if (is_over && !std::exchange(has_concluded_, true))
    text_ += is_well_ ? deploy_done : deploy_failed;
  if (!text_.empty()) {
    const core::Slice piece = core::Slice::copy(std::string_view(text_).substr(0, room));
    text_.erase(0, piece.size());
    return {http::Flow::data, piece, nullptr, {}};
  }
  if (is_over) return {http::Flow::end, {}, nullptr, {}};
  bell_.await(hearer_, reader);
  return {http::Flow::wait, {}, nullptr, {}};
}

void DeployBody::begin_next() {
  process::Service* service = waiting_.front();
  waiting_.erase(waiting_.begin());
  auto voice = std::make_unique<Voice>(*this, service->name());
  voice_ = voice.get();
  service->deploy(std::move(voice));
}

// What a site's commands write is shown on a terminal: controls do not reach it.
void DeployBody::say(std::string_view service, std::string_view line) {
  text_.append(service).append(": ");
  for (const char c : line)
    text_.push_back(static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c);
  text_.push_back('\n');
  bell_.ring();
}

void DeployBody::ended(std::string_view service, Progress::Outcome outcome, std::string_view why) {
  voice_ = nullptr;
  const bool well = outcome == Progress::Outcome::done;
  is_well_ = is_well_ && well;
  say(service, well ? "the new code serves" : std::string(why) + "; the old code stays");
}

}  // namespace portico::run
