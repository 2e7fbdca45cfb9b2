// An intrusive doubly linked list: no allocation, O(1) removal, members unlink themselves when they
// die. One thread.
#pragma once

#include <cstddef>

namespace portico::core {

template <typename T, typename Tag>
class List;

/// Base of a member. `Tag` tells the lists apart that one object may be in.
template <typename Tag>
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() { unlink(); }

  bool linked() const { return next_ != nullptr; }
  void unlink() {
    if (next_ == nullptr) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = nullptr;
  }

 private:
  template <typename T, typename U>
  friend class List;
  Link* previous_ = nullptr;
  Link* next_ = nullptr;
};

template <typename T, typename Tag = T>
class List {
 public:
  List() { root_.previous_ = root_.next_ = &root_; }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() {
    while (!empty()) root_.next_->unlink();
    root_.previous_ = root_.next_ = nullptr;
  }

  bool empty() const { return root_.next_ == &root_; }
  T& front() { return static_cast<T&>(*root_.next_); }
  T& back() { return static_cast<T&>(*root_.previous_); }

  void push_back(T& item) { insert_before(root_, item); }
  void push_front(T& item) { insert_before(*root_.next_, item); }
  T& pop_front() {
    T& first = front();
    static_cast<Link<Tag>&>(first).unlink();
    return first;
  }

  /// Calls f(item) for each; f may unlink the item it is given, no other.
  template <typename F>
  void for_each(F&& f) {
    for (Link<Tag>* at = root_.next_; at != &root_;) {
      Link<Tag>* next = at->next_;
      f(static_cast<T&>(*at));
      at = next;
    }
  }

  /// Moves every member of `other` to the end of this list.
  void take(List& other) {
    while (!other.empty()) push_back(other.pop_front());
  }

 private:
  static void insert_before(Link<Tag>& place, Link<Tag>& item) {
    item.unlink();
    item.previous_ = place.previous_;
    item.next_ = &place;
    place.previous_->next_ = &item;
    place.previous_ = &item;
  }

  Link<Tag> root_;
};

}  // namespace portico::core
