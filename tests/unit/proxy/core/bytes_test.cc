#include "proxy/core/bytes.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace portico::core {

TEST_CASE("slice: a literal owns nothing, a copy owns its bytes") {
  const Slice literal = Slice::literal("text");
  CHECK(literal.view() == "text");
  std::string source = "source";
  const Slice copy = Slice::copy(source);
  source = "gone!!";
  CHECK(copy.view() == "source");
  CHECK(Slice::copy("").empty());
  CHECK(Slice().empty());
}

TEST_CASE("slice: bytes live as long as any slice of them") {
  Slice tail;
  {
    const Slice whole = Slice::copy("head tail");
    tail = whole.sub(5);
  }
  CHECK(tail.view() == "tail");
  const Slice other = tail;
  tail = Slice();
  CHECK(other.view() == "tail");
}

TEST_CASE("slice: taking and dropping the front cuts, without a copy") {
  Slice slice = Slice::copy("abcdef");
  const char* bytes = slice.data();
  const Slice front = slice.take_front(2);
  CHECK(front.view() == "ab");
  CHECK(front.data() == bytes);
  slice.drop_front(1);
  CHECK(slice.view() == "def");
  CHECK(slice.take_front(100).view() == "def");
  CHECK(slice.empty());
}

TEST_CASE("slice: moving leaves an empty one, assigning to oneself changes nothing") {
  Slice from = Slice::copy("x");
  Slice to = std::move(from);
  CHECK(from.empty());
  CHECK(to.view() == "x");
  const Slice& same = to;
  to = same;
  CHECK(to.view() == "x");
}

TEST_CASE("buffer: appends, and hands out what came since the last take") {
  Buffer buffer;
  CHECK(buffer.empty());
  CHECK(buffer.view().empty());
  CHECK(buffer.take().empty());
  buffer.append("one ");
  buffer.append('t');
  buffer.append("");
  buffer.append_decimal(0);
  buffer.append_decimal(18446744073709551615u);
  const Slice first = buffer.take();
  CHECK(first.view() == "one t018446744073709551615");
  buffer.append("two");
  CHECK(buffer.take().view() == "two");
  CHECK(first.view() == "one t018446744073709551615");
}

TEST_CASE("buffer: growing moves what is not taken and leaves what is") {
  Buffer buffer(8);
  buffer.append("taken");
  const Slice taken = buffer.take();
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    buffer.append("0123456789");
    expected += "0123456789";
  }
  CHECK(taken.view() == "taken");
  CHECK(buffer.view() == expected);
  CHECK(buffer.size() == expected.size());
}

TEST_CASE("buffer: bytes written to its room count when it is told") {
  Buffer buffer;
  buffer.reserve(100);
  REQUIRE(buffer.room_bytes() >= 100);
  std::memcpy(buffer.room(), "hello", 5);
  CHECK(buffer.empty());
  buffer.grew(5);
  CHECK(buffer.view() == "hello");
  Buffer other = std::move(buffer);
  CHECK(other.view() == "hello");
  CHECK(buffer.empty());
}

TEST_CASE("block: blocks of both kept sizes can be made, freed and made again") {
  for (const std::size_t size : {block_bytes, large_block_bytes, std::size_t{1}}) {
    std::vector<Block*> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(Block::make(size));
    for (Block* block : blocks) {
      CHECK(block->capacity() == size);
      std::memset(block->bytes(), 'x', size);
      block->release();
    }
    Block* again = Block::make(size);
    again->retain();
    again->release();
    again->bytes()[size - 1] = 'y';
    again->release();
  }
}

TEST_CASE("block: a thread's last slices may die after its store of blocks") {
  std::thread([] {
    thread_local Slice late;  // made before the store, hence destroyed after it
    late = Slice();
    Block* block = Block::make(block_bytes);
    late = Slice::within(*block, {block->bytes(), 1});
    block->release();
    Block::make(block_bytes)->release();
  }).join();
}

TEST_CASE("bytes: small copies of a thread share a block, large ones have their own") {
  const Slice first = Slice::copy("abc");
  const Slice second = Slice::copy("defg");
  CHECK(first.view() == "abc");
  CHECK(second.data() == first.data() + first.size());
  const std::string much(1000, 'x');
  const Slice large = Slice::copy(much);
  CHECK(large.view() == much);
  CHECK(Slice::copy("h").data() == second.data() + second.size());
}

TEST_CASE(
    "bytes: the shared buffer goes on in a new block when one is full; what was taken stays") {
  std::vector<Slice> taken;
  for (int i = 0; i < 1000; ++i)
    taken.push_back(Slice::copy(std::to_string(i) + std::string(90, '.')));
  for (int i = 0; i < 1000; ++i)
    REQUIRE(taken[static_cast<std::size_t>(i)].view().starts_with(std::to_string(i) + "."));
}

}  // namespace portico::core
