#include "proxy/core/list.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

namespace portico::core {
namespace {

struct Other;
struct Item : Link<Item>, Link<Other> {
  explicit Item(char letter) : name(letter) {}
  char name;
};
using Items = List<Item>;
using Others = List<Item, Other>;

std::string names(Items& list) {
  std::string out;
  list.for_each([&out](Item& item) { out += item.name; });
  return out;
}

bool linked(const Item& item) { return static_cast<const Link<Item>&>(item).linked(); }

}  // namespace

TEST_CASE("list: keeps the order of both ends") {
  Item a('a'), b('b'), c('c');
  Items list;
  CHECK(list.empty());
  list.push_back(b);
  list.push_back(c);
  list.push_front(a);
  CHECK(names(list) == "abc");
  CHECK(list.front().name == 'a');
  CHECK(list.back().name == 'c');
  CHECK(list.pop_front().name == 'a');
  CHECK_FALSE(linked(a));
  CHECK(names(list) == "bc");
}

TEST_CASE("list: a member that dies leaves it") {
  Items list;
  Item a('a');
  list.push_back(a);
  {
    Item b('b');
    list.push_back(b);
    CHECK(names(list) == "ab");
  }
  CHECK(names(list) == "a");
}

TEST_CASE("list: a list that dies leaves its members alone") {
  Item a('a');
  {
    Items list;
    list.push_back(a);
    CHECK(linked(a));
  }
  CHECK_FALSE(linked(a));
}

TEST_CASE("list: pushing a member again moves it; other lists do not mind") {
  Item a('a'), b('b');
  Items list;
  Items second;
  Others others;
  list.push_back(a);
  list.push_back(b);
  others.push_back(a);
  list.push_back(a);
  CHECK(names(list) == "ba");
  second.push_back(a);
  CHECK(names(list) == "b");
  CHECK(names(second) == "a");
  CHECK(others.front().name == 'a');
}

TEST_CASE("list: for_each may unlink the item it is given") {
  Item a('a'), b('b'), c('c');
  Items list;
  for (Item* item : {&a, &b, &c}) list.push_back(*item);
  list.for_each([](Item& item) {
    if (item.name != 'b') static_cast<Link<Item>&>(item).unlink();
  });
  CHECK(names(list) == "b");
}

TEST_CASE("list: taking another list's members empties it") {
  Item a('a'), b('b'), c('c');
  Items one;
  Items two;
  one.push_back(a);
  two.push_back(b);
  two.push_back(c);
  one.take(two);
  CHECK(names(one) == "abc");
  CHECK(two.empty());
}

}  // namespace portico::core
