#include "proxy/net/read_arena.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

namespace portico::net {
namespace {

core::Slice read(ReadArena& arena, std::size_t wanted, std::string_view bytes) {
  const ReadArena::Room room = arena.offer(wanted);
  REQUIRE(room.size >= bytes.size());
  REQUIRE(room.size <= wanted);
  std::memcpy(room.bytes, bytes.data(), bytes.size());
  return arena.take(bytes.size());
}

}  // namespace

TEST_CASE("read arena: small reads share a block and do not overlap") {
  ReadArena arena;
  const core::Slice first = read(arena, core::block_bytes, "first");
  const core::Slice second = read(arena, core::block_bytes, "second");
  CHECK(first.view() == "first");
  CHECK(second.view() == "second");
  CHECK(second.data() == first.data() + first.size());
}

TEST_CASE("read arena: a block that is nearly full is followed by a fresh one") {
  ReadArena arena;
  const std::string much(core::block_bytes - 1000, 'x');
  const core::Slice first = read(arena, core::block_bytes, much);
  CHECK(arena.offer(core::block_bytes).size == core::block_bytes);
  CHECK(first.view() == much);
}

TEST_CASE("read arena: a small room is honoured") {
  ReadArena arena;
  CHECK(arena.offer(3).size == 3);
  CHECK(arena.offer(ReadArena::largest_read * 2).size == ReadArena::largest_read);
}

TEST_CASE("read arena: few bytes of a large read are copied, many are not") {
  ReadArena arena;
  const char* block = arena.offer(ReadArena::largest_read).bytes;
  const core::Slice few = read(arena, ReadArena::largest_read, "few");
  CHECK(few.data() != block);
  CHECK(few.view() == "few");
  const std::string much(ReadArena::largest_read / 2, 'y');
  const core::Slice many = read(arena, ReadArena::largest_read, much);
  CHECK(many.data() == block);
  CHECK(arena.offer(ReadArena::largest_read).bytes != block);
  CHECK(many.view() == much);
}

}  // namespace portico::net
