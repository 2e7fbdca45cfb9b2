// From the arguments of start_response or early_hints to the payload of a head or interim frame,
// checked on the way.
//
// Pure but for the Python exception it raises, so that the application sees its mistake inside its
// own call. Under the GIL. Source: PEP 3333 "The start_response() Callable", RFC 9110 §5; what is
// refused and why: tests/session/engine.
#pragma once

#include <cstdint>

#include "backend/engine/python.h"
#include "backend/record/frame.h"

namespace portico::engine {

/// What the engine must know of a head.
struct HeadFacts {
  std::uint16_t status = 0;
  bool length_known = false;         ///< the application gave a Content-Length
  std::uint64_t content_length = 0;  ///< valid with length_known
};

/// Writes begin_head and the fields of a head frame (but not finish_head).
/// status   "3DIGIT SP reason" or "3DIGIT", 200 to 599
/// headers  a list of 2-tuples of str
/// False: a TypeError or ValueError is set, which names the offender; the buffer's content is then
/// worthless.
bool write_head(PyObject* status, PyObject* headers, record::FrameWriter& writer, HeadFacts& facts);

/// Writes a whole interim frame: 103 with these fields. False as above; Content-Length has no place
/// there.
bool write_hints(PyObject* headers, record::FrameWriter& writer);

}  // namespace portico::engine
