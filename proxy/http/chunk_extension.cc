#include "proxy/http/chunk_extension.h"

#include <algorithm>

#include "proxy/http/chars.h"

namespace portico::http {
namespace {

constexpr std::uint16_t longest_line = 256;     // signatures in use have about 90 bytes
constexpr std::uint16_t largest_budget = 4096;  // see earned()
constexpr std::uint64_t bytes_per_earned = 64;  // of data, for one byte of extension

constexpr bool blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

void ChunkExtension::begin() {
  state_ = State::before_name;
  line_ = 1;
}

bool ChunkExtension::take(char c) {
  if (++line_ > longest_line || budget_ == 0) return false;
  --budget_;
  return take_by_state(c);
}

bool ChunkExtension::take_by_state(char c) {
  switch (state_) {
    case State::before_name:
      return blank(c) || (chars::is(c, chars::token) && move(State::name));
    case State::name:
      if (chars::is(c, chars::token)) return true;
      return blank(c) ? move(State::after_name) : delimiter(c);
    case State::after_name:
      return blank(c) || delimiter(c);
    case State::before_value:
      if (c == '"') return move(State::quoted);
      return blank(c) || (chars::is(c, chars::token) && move(State::token));
    case State::token:
      if (chars::is(c, chars::token)) return true;
      return blank(c) ? move(State::after_value) : (c == ';' && move(State::before_name));
    case State::quoted:
      if (c == '"') return move(State::after_value);
      return chars::is(c, chars::quoted) || (c == '\\' && move(State::escaped));
    case State::escaped:
      return chars::is(c, chars::value) && move(State::quoted);
    case State::after_value:
      return blank(c) || (c == ';' && move(State::before_name));
  }
  return false;
}

bool ChunkExtension::may_end() const {
  return state_ == State::name || state_ == State::token || state_ == State::after_value;
}

// Extensions that cost more than the data they come with are an attack (CVE-2023-39326).
void ChunkExtension::earned(std::uint64_t size) {
  const std::uint64_t more = size / bytes_per_earned;
  budget_ = static_cast<std::uint16_t>(std::min<std::uint64_t>(largest_budget, budget_ + more));
}

bool ChunkExtension::move(State state) {
  state_ = state;
  return true;
}

bool ChunkExtension::delimiter(char c) {
  if (c == '=') return move(State::before_value);
  return c == ';' && move(State::before_name);
}

}  // namespace portico::http
