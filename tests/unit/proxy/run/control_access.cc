#include "proxy/run/control_access.h"

#include <catch2/catch.hpp>

using portico::run::ControlAccess;

namespace {

// Root's Portico: its front is user 33; the workers of two sites are users of their own, those of a
// third are the front's.
const ControlAccess::Users users{0, 33, {{"a", 1001}, {"b", 1002}, {"shared", 33}}};

}  // namespace

TEST_CASE("control access: root and the owner may do everything") {
  CHECK(ControlAccess(users, 0).to_everything());
  const ControlAccess::Users of_a_person{1000, std::nullopt, {}};
  CHECK(ControlAccess(of_a_person, 0).to_everything());
  CHECK(ControlAccess(of_a_person, 1000).to_everything());
  CHECK(ControlAccess(of_a_person, 1000).to_site("a"));
}

TEST_CASE("control access: a site's user may do what concerns that site, and no more") {
  const ControlAccess access(users, 1001);
  CHECK(access.to_site("a"));
  CHECK_FALSE(access.to_site("b"));
  CHECK_FALSE(access.to_site("unknown"));
  CHECK(access.to_anything());
  CHECK_FALSE(access.to_everything());
}

TEST_CASE("control access: the front's user may do nothing, also where a site runs as it") {
  const ControlAccess access(users, 33);
  CHECK_FALSE(access.to_site("shared"));
  CHECK_FALSE(access.to_anything());
}

TEST_CASE("control access: others, and those whom the kernel does not name, may do nothing") {
  CHECK_FALSE(ControlAccess(users, 1003).to_anything());
  CHECK_FALSE(ControlAccess(users, std::nullopt).to_anything());
}
