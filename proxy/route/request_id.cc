#include "proxy/route/request_id.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace portico::route {
namespace {

constexpr std::size_t id_length = 32;
constexpr std::size_t name_length = 16;
constexpr std::size_t longest_id = 128;

constexpr std::array<std::array<char, 2>, 256> make_hex_pairs() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> pairs{};
  for (std::size_t byte = 0; byte < pairs.size(); ++byte)
    pairs[byte] = {digits[byte >> 4], digits[byte & 15]};
  return pairs;
}
constexpr auto hex_pairs = make_hex_pairs();

// Random bytes of one thread; the kernel is asked once for 256 IDs.
class Supply {
 public:
  /// Writes 2 * bytes characters.
  void hex(char* at, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) at = std::copy_n(hex_pairs[next()].data(), 2, at);
  }

 private:
  unsigned char next() {
    if (at_ == store_.size()) refill();
    return store_[at_++];
  }

  // getrandom(2) fails for no reason that a process could survive (it is not asked early at boot).
  void refill() {
    std::size_t filled = 0;
    while (filled < store_.size()) {
      const ssize_t got = ::getrandom(store_.data() + filled, store_.size() - filled, 0);
      if (got < 0 && errno != EINTR) std::abort();
      if (got > 0) filled += static_cast<std::size_t>(got);
    }
    at_ = 0;
  }

  std::array<unsigned char, 4096> store_{};
  std::size_t at_ = 4096;
};

Supply& supply() {
  thread_local Supply mine;
  return mine;
}

bool plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-_.:+/=@").find(c) != std::string_view::npos;
}

}  // namespace

core::Slice new_request_id() {
  core::Buffer& out = core::Buffer::shared();
  out.reserve(id_length);
  supply().hex(out.room(), id_length / 2);
  out.grew(id_length);
  return out.take();
}

std::string random_name() {
  std::string name(name_length, '0');
  supply().hex(name.data(), name_length / 2);
  return name;
}

bool acceptable_request_id(std::string_view id) {
  return !id.empty() && id.size() <= longest_id && std::all_of(id.begin(), id.end(), plain);
}

}  // namespace portico::route
