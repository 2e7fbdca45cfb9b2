// The texts of boot.py and portico.py inside the module, each between portico_..._begin and
// portico_..._end.
asm(".pushsection .rodata\n"
    ".global portico_boot_begin, portico_boot_end, portico_offer_begin, portico_offer_end\n"
    ".hidden portico_boot_begin, portico_boot_end, portico_offer_begin, portico_offer_end\n"
    "portico_boot_begin:\n"
    ".incbin \"" PORTICO_ENGINE_FOLDER
    "/boot.py\"\n"
    "portico_boot_end:\n"
    ".byte 0\n"
    "portico_offer_begin:\n"
    ".incbin \"" PORTICO_ENGINE_FOLDER
    "/portico.py\"\n"
    "portico_offer_end:\n"
    ".byte 0\n"
    ".popsection\n");
