#include "backend/host/engine_blob.h"

asm(".pushsection .rodata\n"
    ".balign 16\n"
    "portico_engine_begin:\n"
    ".incbin \"" PORTICO_ENGINE_FILE
    "\"\n"
    "portico_engine_end:\n"
    ".byte 0\n"
    "portico_loader_begin:\n"
    ".incbin \"" PORTICO_LOADER_FILE
    "\"\n"
    "portico_loader_end:\n"
    ".byte 0\n"
    ".global portico_engine_begin\n"
    ".global portico_engine_end\n"
    ".global portico_loader_begin\n"
    ".global portico_loader_end\n"
    ".popsection\n");

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
