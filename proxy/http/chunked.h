// The chunked coding: taking it apart as it comes, and writing it (RFC 9112 §7.1).
//
// Owned by the body source of a message; one thread. Data comes out as views of what went in. Sizes
// are 1*HEXDIG (at most 16), lines end with CRLF and nothing else, extensions are parsed, limited
// and never passed on, trailers are read into a Headers of their own and never merged.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/core/bytes.h"
#include "proxy/core/result.h"
#include "proxy/http/chunk_extension.h"
#include "proxy/http/head.h"
#include "proxy/http/head_gatherer.h"
#include "proxy/http/limits.h"

namespace portico::http {

/// Who sends the body: it decides the name of a fault (bad_chunk and head_too_large, or
/// bad_response and response_too_large).
enum class Sender : std::uint8_t { client, endpoint };

class ChunkedDecoder {
 public:
  enum class Step : std::uint8_t {
    more,  ///< the input is used up
    data,  ///< a part of the body
    end,   ///< the body is complete, trailers() too; what follows is left in the input
    fail,  ///< see error(); the connection cannot be used any longer
  };

  /// limits  of the trailer section: header_bytes and header_fields
  ChunkedDecoder(Sender sender, const ReadLimits& limits) : sender_(sender), limits_(limits) {}

  /// Takes from the front of `input` until there is something to say.
  ///
  /// room  the most bytes of data wanted at a time (> 0)
  /// data  with Step::data a view of the input, not empty
  Step next(core::Slice& input, std::size_t room, core::Slice& data);

  /// Bytes of the current chunk that are still to come: they may go another way (splice), and are
  /// then told by passed(). 0 outside a chunk's data.
  std::uint64_t due() const { return state_ == State::data ? left_ : 0; }
  void passed(std::uint64_t bytes);

  const Headers& trailers() const { return trailers_; }
  const core::Error& error() const { return error_; }

 private:
  /// size: hexadecimal digits; extension: after them up to CR; line_end: LF of that line; data:
  /// `left_` bytes; data_cr, data_lf: behind the data; trailers: after the last chunk; done,
  /// failed.
  enum class State : std::uint8_t {
    size,
    extension,
    line_end,
    data,
    data_cr,
    data_lf,
    trailers,
    done,
    failed
  };

  bool read_syntax(core::Slice& input);
  bool take(char c);
  bool take_size(char c);
  bool take_extension(char c);
  bool begin_data();
  bool expect(char c, char wanted, State next);
  Step read_data(core::Slice& input, std::size_t room, core::Slice& data);
  Step read_trailers(core::Slice& input);
  Step fail(core::Fault fault);

  Sender sender_;
  State state_ = State::size;
  std::uint8_t digits_ = 0;  ///< of the size so far
  ChunkExtension extension_;
  std::uint64_t left_ = 0;  ///< the size being read, then the bytes still to come
  ReadLimits limits_;
  HeadGatherer gatherer_;
  Headers trailers_;
  core::Error error_;
};

/// "1a2b\r\n": what stands before `size` (> 0) bytes of data.
void append_chunk_head(core::Buffer& out, std::uint64_t size);
/// What stands behind a chunk's data.
inline constexpr std::string_view chunk_end = "\r\n";
/// The last chunk, with trailers where there are some (null: none). A field that could not be
/// written safely is left out.
void append_last_chunk(core::Buffer& out, const Headers* trailers);

}  // namespace portico::http
