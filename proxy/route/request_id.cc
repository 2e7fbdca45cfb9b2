#include "proxy/route/request_id.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace portico::route {
namespace {

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
  /// Overwrites the last 2 * bytes characters.
  void hex(std::string& out, std::size_t bytes) {
    char* at = out.data() + out.size() - 2 * bytes;
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

std::string random_hex(std::size_t bytes) {
  std::string text(2 * bytes, '0');
  supply().hex(text, bytes);
  return text;
}

bool plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-_.:+/=@").find(c) != std::string_view::npos;
}

}  // namespace

std::string new_request_id() { return random_hex(16); }

std::string random_name() { return random_hex(8); }

bool acceptable_request_id(std::string_view id) {
  return !id.empty() && id.size() <= longest_id && std::all_of(id.begin(), id.end(), plain);
}

}  // namespace portico::route
