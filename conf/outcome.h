// A value read from the operator's text, or what is wrong with that text.
//
// The result of the room's small parsers (units, address, names). A value; no thread is bound to
// it.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace portico::conf {

/// Either `value` is set, or `problem` says what is wrong and what to write instead.
template <class T>
struct Outcome {
  std::optional<T> value;
  std::string problem;

  explicit operator bool() const { return value.has_value(); }
};

template <class T>
Outcome<T> found(T value) {
  return {std::move(value), {}};
}

template <class T>
Outcome<T> refused(std::string problem) {
  return {std::nullopt, std::move(problem)};
}

}  // namespace portico::conf
