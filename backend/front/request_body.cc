#include "backend/front/request_body.h"

#include <algorithm>

#include "backend/record/record.h"

namespace portico::backend {
namespace {

// One pull's room: as much as a transport reads at a time for a long body.
constexpr std::size_t pull_bytes = 128 * 1024;

}  // namespace

http::Flow RequestBody::collect(http::BodySource& source, core::Active& reader) {
  for (;;) {
    http::Pull pull = source.pull(pull_bytes, reader);
    if (pull.flow == http::Flow::fail) error_ = pull.error;
    if (pull.flow != http::Flow::data) return pull.flow;
    if (auto placed = place(std::move(pull.piece)); !placed) {
      error_ = placed.error();
      return http::Flow::fail;
    }
  }
}

bool RequestBody::fits_memory(const core::Piece& piece) {
  const auto* slice = std::get_if<core::Slice>(&piece);
  return slice != nullptr && file_ == nullptr &&
         memory_.size() + slice->size() <= record::max_inline_body_bytes &&
         share_.take(slice->size());
}

core::Result<void> RequestBody::place(core::Piece piece) {
  if (fits_memory(piece)) {
    memory_.append(std::get<core::Slice>(piece).view());
    return {};
  }
  const bool small = size() + core::length(piece) <= spool_.options().threshold;
  if (file_ == nullptr || (!small && !on_disk_)) {
    const auto place = small ? SpoolFile::Place::memory : SpoolFile::Place::disk;
    if (auto moved = move_to_file(place); !moved) return moved;
  }
  return file_->append(piece);
}

// Also moves what lies in a memfd to the disk once it has outgrown memory.
core::Result<void> RequestBody::move_to_file(SpoolFile::Place place) {
  auto opened = SpoolFile::open(spool_, place);
  if (!opened) return opened.error();
  std::unique_ptr<SpoolFile> old = std::move(file_);
  file_ = std::move(*opened);
  on_disk_ = place == SpoolFile::Place::disk;
  if (old != nullptr) {
    return file_->append(core::FileRange{old->descriptor(), 0, old->size()});
  }
  if (auto moved = file_->append(memory_); !moved) return moved;
  share_.give(share_.held());
  std::string().swap(memory_);
  return {};
}

}  // namespace portico::backend
