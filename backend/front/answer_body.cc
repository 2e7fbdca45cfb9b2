#include "backend/front/answer_body.h"

#include <algorithm>

namespace portico::backend {
namespace {

// One answer's bytes in memory before the file: several ordinary pages, and more than a fast client
// ever leaves behind.
constexpr std::uint64_t memory_bytes = 256 * 1024;

}  // namespace

AnswerBody::AnswerBody(Owner& owner, Spool& spool, std::uint64_t limit)
    : owner_(&owner), spool_(spool), limit_(limit), share_(spool) {}

AnswerBody::~AnswerBody() {
  if (owner_ != nullptr) owner_->body_dropped();
}

void AnswerBody::add(core::Slice bytes) {
  held_ += bytes.size();
  const bool in_budget = in_memory_ + bytes.size() <= memory_bytes && share_.take(bytes.size());
  if (in_budget) {
    keep(std::move(bytes));
  } else if (!to_file(bytes)) {
    full_ = true;
    keep(std::move(bytes));
  }
  note_level();
  reader_.fire();
}

void AnswerBody::keep(core::Slice bytes) {
  in_memory_ += bytes.size();
  pieces_.emplace_back(std::move(bytes));
}

bool AnswerBody::to_file(const core::Slice& bytes) {
  if (file_ == nullptr) {
    auto opened = SpoolFile::open(spool_, SpoolFile::Place::disk);
    if (!opened) return false;
    file_ = std::move(*opened);
  }
  const std::uint64_t at = file_->size();
  if (!file_->append(bytes.view())) return false;
  auto* last = pieces_.empty() ? nullptr : std::get_if<core::FileRange>(&pieces_.back());
  if (last != nullptr && last->file == file_->descriptor() && last->offset + last->length == at) {
    last->length += bytes.size();
  } else {
    pieces_.emplace_back(core::FileRange{file_->descriptor(), at, bytes.size()});
  }
  return true;
}

void AnswerBody::add(core::FileRange range) {
  pieces_.emplace_back(std::move(range));
  reader_.fire();
}

void AnswerBody::settle(http::Flow ending, core::Error error) {
  if (ending_ != http::Flow::wait) return;
  ending_ = ending;
  error_ = error;
  reader_.fire();
}

// A file only grows: once it has reached the limit it must run empty before a new one begins.
void AnswerBody::note_level() {
  if (held_ >= limit_ || (file_ != nullptr && file_->size() >= limit_)) full_ = true;
}

void AnswerBody::forget_file() {
  if (file_ != nullptr && held_ == in_memory_) file_.reset();
}

// Half empty, with nothing in memory beyond the budget.
bool AnswerBody::has_room_again() const {
  const bool file_spent = file_ != nullptr && file_->size() >= limit_;
  return held_ <= limit_ / 2 && in_memory_ <= share_.held() && !file_spent;
}

http::Pull AnswerBody::pull(std::size_t room, core::Active& reader) {
  http::Pull pull;
  if (pieces_.empty()) {
    pull.flow = ending_;
    pull.error = error_;
    if (ending_ == http::Flow::wait) reader_.aim(reader);
    return pull;
  }
  pull.flow = http::Flow::data;
  pull.piece = take_front(room);
  if (full_ && has_room_again()) {
    full_ = false;
    if (owner_ != nullptr) owner_->body_drained();
  }
  return pull;
}

core::Piece AnswerBody::take_front(std::size_t room) {
  core::Piece& front = pieces_.front();
  if (auto* slice = std::get_if<core::Slice>(&front)) {
    core::Slice part = slice->take_front(room);
    held_ -= part.size();
    in_memory_ -= part.size();
    if (share_.held() > in_memory_) share_.give(share_.held() - in_memory_);
    if (slice->empty()) pieces_.pop_front();
    return part;
  }
  auto& range = std::get<core::FileRange>(front);
  core::FileRange part{range.file, range.offset, std::min<std::uint64_t>(room, range.length)};
  const bool ours = file_ != nullptr && range.file == file_->descriptor();
  if (ours) held_ -= part.length;
  range.offset += part.length;
  range.length -= part.length;
  if (range.length == 0) pieces_.pop_front();
  if (ours) forget_file();
  return part;
}

}  // namespace portico::backend
