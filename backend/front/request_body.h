// RequestBody: a request's body, collected whole before the request is handed to a worker.
//
// Owned by a WsgiCall; its thread. Small bodies stay in memory and travel inside the record, larger
// ones go to a memfd or, beyond spool.threshold or where the budget of memory is used up, to an
// unlinked file, and travel as a descriptor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backend/front/spool.h"
#include "proxy/core/loop.h"
#include "proxy/http/body.h"

namespace portico::backend {

class RequestBody {
 public:
  explicit RequestBody(Spool& spool) : spool_(spool), share_(spool) {}

  /// How many bytes the client has announced.
  void expect(std::uint64_t length) { expected_ = length; }

  /// Pulls what there is. end: the body is whole; wait: `reader` is woken; fail: see error().
  http::Flow collect(http::BodySource& source, core::Active& reader);
  const core::Error& error() const { return error_; }

  std::uint64_t size() const { return file_ ? file_->size() : memory_.size(); }
  bool in_memory() const { return file_ == nullptr; }
  /// Moves a body that lies in memory behind a descriptor, where a record has no room for it.
  core::Result<void> leave_memory();
  std::string_view bytes() const { return memory_; }
  const SpoolFile& file() const { return *file_; }

 private:
  core::Result<void> place(core::Piece piece);
  void keep(std::string_view bytes);
  bool fits_memory(const core::Piece& piece);
  core::Result<void> to_memfd(const core::Piece& piece);
  core::Result<void> to_disk(const core::Piece& piece);
  core::Result<void> move_to(SpoolFile::Place place);

  Spool& spool_;
  MemoryShare share_;
  std::uint64_t expected_ = 0;
  std::string memory_;
  std::unique_ptr<SpoolFile> file_;
  core::Error error_;
};

}  // namespace portico::backend
