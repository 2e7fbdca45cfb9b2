#include "backend/front/request_body.h"

#include <algorithm>
#include <cerrno>

#include "backend/record/record.h"

namespace portico::backend {
namespace {

// One pull's room: as much as a transport reads at a time for a long body.
constexpr std::size_t pull_bytes = 128 * 1024;
// Then the other exchanges of the thread have their turn: 2 MiB at most.
constexpr int pulls_a_turn = 16;

}  // namespace

http::Flow RequestBody::collect(http::BodySource& source, core::Active& reader) {
  for (int i = 0; i < pulls_a_turn; ++i) {
    http::Pull pull = source.pull(pull_bytes, reader);
    if (pull.flow == http::Flow::fail) error_ = pull.error;
    if (pull.flow != http::Flow::data) return pull.flow;
    if (auto placed = place(std::move(pull.piece)); !placed) {
      error_ = placed.error();
      return http::Flow::fail;
    }
  }
  reader.wake();
  return http::Flow::wait;
}

core::Result<void> RequestBody::place(core::Piece piece) {
  if (fits_memory(piece)) {
    keep(std::get<core::Slice>(piece).view());
    return {};
  }
  const bool on_disk = file_ != nullptr && file_->place() == SpoolFile::Place::disk;
  if (on_disk) return file_->append(piece);
  const bool small = size() + core::length(piece) <= spool_.options().threshold;
  return small ? to_memfd(piece) : to_disk(piece);
}

// Room for all of it at once, as soon as enough of it is there to be worth that.
void RequestBody::keep(std::string_view bytes) {
  const std::uint64_t whole = std::min<std::uint64_t>(expected_, record::max_inline_body_bytes);
  if (memory_.capacity() < whole && memory_.size() + bytes.size() >= whole / 4)
    memory_.reserve(whole);
  memory_.append(bytes);
}

bool RequestBody::fits_memory(const core::Piece& piece) {
  const auto* slice = std::get_if<core::Slice>(&piece);
  const std::uint64_t most =
      std::min<std::uint64_t>(record::max_inline_body_bytes, spool_.options().threshold);
  return slice != nullptr && file_ == nullptr && memory_.size() + slice->size() <= most &&
         share_.take(slice->size());
}

// Where memory is used up, by many bodies together, a small one goes to the disk as well.
core::Result<void> RequestBody::to_memfd(const core::Piece& piece) {
  if (file_ == nullptr && !move_to(SpoolFile::Place::memory)) return to_disk(piece);
  const auto appended = file_->append(piece);
  if (!appended && appended.error().os == EDQUOT) return to_disk(piece);
  return appended;
}

core::Result<void> RequestBody::to_disk(const core::Piece& piece) {
  if (auto moved = move_to(SpoolFile::Place::disk); !moved) return moved;
  return file_->append(piece);
}

core::Result<void> RequestBody::leave_memory() {
  if (move_to(SpoolFile::Place::memory)) return {};
  return move_to(SpoolFile::Place::disk);
}

// What there is moves along: out of memory, or from a memfd to the disk.
core::Result<void> RequestBody::move_to(SpoolFile::Place place) {
  auto opened = SpoolFile::open(spool_, place);
  if (!opened) return opened.error();
  core::Result<void> moved;
  if (file_ != nullptr) {
    moved = (*opened)->append(core::FileRange{file_->descriptor(), 0, file_->size()});
  } else {
    moved = (*opened)->append(memory_);
  }
  if (!moved) return moved;
  file_ = std::move(*opened);
  share_.give(share_.held());
  std::string().swap(memory_);
  return {};
}

}  // namespace portico::backend
