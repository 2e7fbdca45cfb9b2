// wsgi.file_wrapper: wraps a file for an answer. A real regular file travels as a descriptor; any
// other is read.
//
// The type is a constant of every environ; its instances belong to the application. Under the GIL.
// Source: PEP 3333 "Optional Platform-Specific File Handling".
#pragma once

#include <cstdint>

#include "backend/engine/python.h"

namespace portico::engine {

/// Makes the type; false with an exception.
bool make_file_wrapper_type();

/// The type: borrowed.
PyObject* file_wrapper_type();

/// A range of a regular file.
struct WrappedFile {
  int descriptor;  ///< the application's: valid until close()
  std::uint64_t offset;
  std::uint64_t length;  ///< from the file's current position to its present end
};

/// Whether an application's result is a wrapper of ours around a real regular file whose bytes are
/// what read() would give. Not so for files that decompress, decode, or are otherwise more than
/// their descriptor. Raises nothing.
bool wrapped_file(PyObject* result, WrappedFile& file);

}  // namespace portico::engine
