// Status lines and header names that have been checked before, found by identity: an application
// gives the same constants again and again.
//
// Direct-mapped, 64 entries; each holds a reference, so that an address stays its object's. Used
// under the GIL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/engine/python.h"

namespace portico::engine {

class CheckedTexts {
 public:
  struct Entry {
    PyObject* object;
    std::string_view text;  ///< what is to be sent; memory of the object, or static
    std::uint16_t number;   ///< what the check has found out
  };

  /// The entry of a str, or null.
  const Entry* find(PyObject* object) const {
    const Entry& entry = entries_[place(object)];
    return entry.object == object ? &entry : nullptr;
  }
  void keep(PyObject* object, std::string_view text, std::uint16_t number) {
    Entry& entry = entries_[place(object)];
    PyObject* old = entry.object;
    Py_INCREF(object);
    entry = {object, text, number};
    Py_XDECREF(old);
  }

 private:
  static constexpr std::size_t entry_count = 64;
  static std::size_t place(PyObject* object) {
    return reinterpret_cast<std::uintptr_t>(object) / 16 % entry_count;
  }
  Entry entries_[entry_count];
};

}  // namespace portico::engine
