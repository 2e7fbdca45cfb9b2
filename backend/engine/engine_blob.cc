// The module and loader.py as bytes of the executable; backend/host/engine_blob.cc hands them out.
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
