// Recycled: storage for objects of one class that come and go with every request, kept by the
// thread that freed it.
//
// Derive a final class from Recycled<itself>: new and delete of it then cost a list's push and pop.
// An object may die in another thread than the one that made it; its storage stays there. Under the
// address sanitizer nothing is kept, so that a use after free is seen.
#pragma once

#include <cstddef>
#include <new>

namespace portico::core {

template <typename T>
class Recycled {
 public:
  static void* operator new(std::size_t size) {
    Node* node = size == sizeof(T) ? store().pop() : nullptr;
    return node != nullptr ? node : ::operator new(size);
  }
  static void operator delete(void* storage, std::size_t size) {
    if (size != sizeof(T) || !store().push(storage)) ::operator delete(storage);
  }

 protected:
  Recycled() = default;
  ~Recycled() = default;

 private:
  // How many a thread keeps: those of a busy turn.
  static constexpr unsigned most_kept = 256;
  struct Node {
    Node* next;
  };

  class Store {
   public:
    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    ~Store() {
      while (Node* node = pop()) ::operator delete(node);
      count_ = most_kept;  // an object may die after this, at the end of its thread
    }
    Node* pop() {
      Node* node = first_;
      if (node != nullptr) {
        first_ = node->next;
        --count_;
      }
      return node;
    }
    bool push(void* storage) {
#if defined(__SANITIZE_ADDRESS__)
      return false;
#endif
      if (count_ >= most_kept) return false;
      first_ = new (storage) Node{first_};
      ++count_;
      return true;
    }

   private:
    Node* first_ = nullptr;
    unsigned count_ = 0;
  };

  static Store& store() {
    static thread_local Store mine;
    return mine;
  }
};

/// For containers that take room for `Count` elements of T at once: that much is recycled.
template <typename T, std::size_t Count>
class RecyclingAllocator {
 public:
  using value_type = T;
  template <typename U>
  struct rebind {  // NOLINT(readability-identifier-naming): the name that allocator_traits wants
    using other = RecyclingAllocator<U, Count>;
  };

  T* allocate(std::size_t count) {
    if (count == Count) return reinterpret_cast<T*>(new Room);
    return static_cast<T*>(::operator new(count * sizeof(T)));
  }
  void deallocate(T* at, std::size_t count) {
    if (count == Count) return delete reinterpret_cast<Room*>(at);
    ::operator delete(at);
  }
  bool operator==(const RecyclingAllocator&) const = default;

 private:
  struct Room final : Recycled<Room> {
    alignas(T) std::byte bytes[Count * sizeof(T)];
  };
};

}  // namespace portico::core
