#include "proxy/route/request_id.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace portico::route {

TEST_CASE("request id: 32 lower-case hexadecimal digits") {
  const std::string id(new_request_id().view());
  CHECK(id.size() == 32);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(random_name().size() == 16);
}

TEST_CASE("request id: none comes twice, not even in two threads") {
  std::vector<std::string> ids[2];
  const auto make = [](std::vector<std::string>& out) {
    for (int i = 0; i < 2000; ++i) out.emplace_back(new_request_id().view());
  };
  std::thread other([&] { make(ids[1]); });
  make(ids[0]);
  other.join();
  std::set<std::string> all(ids[0].begin(), ids[0].end());
  all.insert(ids[1].begin(), ids[1].end());
  CHECK(all.size() == 4000);
}

TEST_CASE("request id: only short and plain ones of a trusted proxy are acceptable") {
  CHECK(acceptable_request_id("a"));
  CHECK(acceptable_request_id("Root=1-67891233-abcdef012345678912345678"));
  CHECK(acceptable_request_id("4bf92f35-77b3:4da6.a3ce/929d+0e0e_4736@z"));
  CHECK(acceptable_request_id(std::string(128, 'x')));
  CHECK_FALSE(acceptable_request_id(""));
  CHECK_FALSE(acceptable_request_id(std::string(129, 'x')));
  for (const char* bad : {"a b", "a\"b", "a<b", "a\nb", "a\x7f", "\xc3\xa9", "a;b", "a,b", "a\\b"})
    CHECK_FALSE(acceptable_request_id(bad));
}

}  // namespace portico::route
