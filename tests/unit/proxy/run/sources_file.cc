#include "proxy/run/sources_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

using namespace portico;

namespace {

core::Fd file_of(std::string_view text) {
  core::Fd file(::memfd_create("test", MFD_CLOEXEC));
  REQUIRE(::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  return file;
}

}  // namespace

TEST_CASE("sources file: names, directories and texts come out as they went in") {
  conf::Sources sources;
  sources.files.push_back({"portico.yaml", "/etc/portico", std::string("a: 1\n3:x\0\n", 10)});
  sources.files.push_back({"", "/", ""});
  sources.files.push_back({"sites.d/b.yaml", "/srv", std::string(300'000, 'x')});
  const auto sealed = run::seal_sources(sources);
  REQUIRE(sealed);
  for (int reader = 0; reader < 2; ++reader) {
    const auto out = run::unseal_sources(sealed->get());
    REQUIRE(out);
    REQUIRE(out->files.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(out->files[i].name == sources.files[i].name);
      CHECK(out->files[i].directory == sources.files[i].directory);
      CHECK(out->files[i].text == sources.files[i].text);
    }
  }
}

TEST_CASE("sources file: nobody can change it any more") {
  const auto sealed = run::seal_sources({{{"a", "/", "text"}}, {}});
  REQUIRE(sealed);
  CHECK(::pwrite(sealed->get(), "x", 1, 0) == -1);
  CHECK(errno == EPERM);
  CHECK(::ftruncate(sealed->get(), 0) == -1);
}

TEST_CASE("sources file: anything else is refused") {
  for (const auto* text : {"1", "x:abc", "1:a1:b", "1:a1:b5:c", "1:a1:b1:cz", "-1:a1:b1:c",
                           "18446744073709551615:a1:b1:c"}) {
    const core::Fd file = file_of(text);
    INFO(text);
    CHECK_FALSE(run::unseal_sources(file.get()));
  }
}
