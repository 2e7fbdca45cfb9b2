#include "backend/front/generation.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

namespace portico::backend {
namespace {

using core::Error;
using core::Fault;

constexpr std::string_view mapping = "mapping the claim cells";

bool sealed(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

}  // namespace

core::Result<std::shared_ptr<Generation>> Generation::open(std::uint64_t number, core::Fd queue,
                                                           core::Fd cells, unsigned front_threads) {
  struct stat facts {};
  if (::fstat(cells.get(), &facts) != 0) return Error{Fault::internal, errno, mapping};
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  const bool enough = bytes >= record::Cells::bytes_for(front_threads) && front_threads != 0;
  if (!enough || !sealed(cells.get())) return Error{Fault::internal, EINVAL, mapping};
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, cells.get(), 0);
  if (memory == MAP_FAILED) return Error{Fault::internal, errno, mapping};
  return std::shared_ptr<Generation>(
      new Generation(number, std::move(queue), memory, bytes, front_threads));
}

Generation::Generation(std::uint64_t number, core::Fd queue, void* memory, std::size_t bytes,
                       unsigned front_threads)
    : number_(number),
      queue_(std::move(queue)),
      memory_(memory),
      bytes_(bytes),
      cells_(memory, bytes),
      cells_per_thread_(static_cast<std::uint32_t>(cells_.count() / front_threads)),
      senders_(front_threads) {}

Generation::~Generation() { ::munmap(memory_, bytes_); }

bool Generation::finish() {
  if (senders_.fetch_sub(1) != 1) return false;
  ::shutdown(queue_.get(), SHUT_WR);
  return true;
}

}  // namespace portico::backend
