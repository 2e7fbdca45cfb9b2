// The engine inside the executable: the extension module's bytes, and the program text that an
// interpreter starts with. Laid in by backend/engine/engine_blob.cc at build time; immutable; any
// thread.
#pragma once

#include <string_view>

namespace portico::backend {

/// The shared object `_portico.abi3.so`: to be written to a sealed memfd (or a file) for the
/// interpreter to load.
std::string_view engine_image();

/// The text for `PYTHON -c TEXT ENGINE CONTROL`. ENGINE: the number of a descriptor of the image,
/// or its path; CONTROL: the number of the zygote's control socket. Short: it is seen in `ps`, as
/// is anything behind CONTROL, which is ignored (name the site there).
std::string_view boot_source();

}  // namespace portico::backend
