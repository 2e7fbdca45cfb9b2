// Chunk extensions: checked by grammar, limited, and forgotten (RFC 9112 §7.1.1).
//
// Owned by a ChunkedDecoder; one thread. No I/O, no memory of its own.
#pragma once

#include <cstdint>

namespace portico::http {

/// Follows `*( ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] BWS )`, a byte at a time.
class ChunkExtension {
 public:
  /// The first ";" of a chunk's line has been seen.
  void begin();
  /// Takes the next byte before CR. False: not by the grammar, or too much.
  bool take(char c);
  /// Whether the line may end here.
  bool may_end() const;
  /// A chunk of `size` bytes allows for some more extensions.
  void earned(std::uint64_t size);

 private:
  /// before_name: after ";"; name; after_name: blanks behind it; before_value: after "="; token: a
  /// bare value; quoted, escaped: within quotes; after_value: behind a value.
  enum class State : std::uint8_t {
    before_name,
    name,
    after_name,
    before_value,
    token,
    quoted,
    escaped,
    after_value
  };

  bool take_by_state(char c);
  bool move(State state);
  bool delimiter(char c);

  State state_ = State::before_name;
  std::uint16_t line_ = 0;       ///< bytes in this chunk's line
  std::uint16_t budget_ = 4096;  ///< bytes that all further lines may have
};

}  // namespace portico::http
