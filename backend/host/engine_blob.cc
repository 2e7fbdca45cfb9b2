#include "backend/host/engine_blob.h"

// Laid into the executable by backend/engine/engine_blob.cc.
extern "C" {
extern const char portico_engine_begin[];
extern const char portico_engine_end[];
extern const char portico_loader_begin[];
extern const char portico_loader_end[];
}

namespace portico::backend {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view engine_image() { return between(portico_engine_begin, portico_engine_end); }

std::string_view boot_source() { return between(portico_loader_begin, portico_loader_end); }

}  // namespace portico::backend
