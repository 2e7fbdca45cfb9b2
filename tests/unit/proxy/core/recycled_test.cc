#include "proxy/core/recycled.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace portico::core {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_nothing = true;
#else
constexpr bool keeps_nothing = false;
#endif

constexpr std::size_t usual = 4;
template <typename T>
using Strings = std::vector<T, RecyclingAllocator<T, usual>>;

}  // namespace

TEST_CASE("recycled: a container's usual room is used again, other sizes come and go") {
  const void* first = nullptr;
  {
    Strings<std::string> strings;
    strings.reserve(usual);
    first = strings.data();
    strings.assign(usual, "a text that is too long for the object itself");
  }
  Strings<std::string> again;
  again.reserve(usual);
  CHECK((again.data() == first || keeps_nothing));
  again.assign(usual, "one");
  again.push_back("more than is usual");
  CHECK(again.capacity() > usual);
  CHECK(again.back() == "more than is usual");
  const Strings<std::string> copy = again;
  CHECK(copy == again);
}

}  // namespace portico::core
