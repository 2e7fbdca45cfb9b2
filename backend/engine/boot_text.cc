// The text of boot.py inside the module, between portico_boot_begin and portico_boot_end.
asm(".pushsection .rodata\n"
    ".global portico_boot_begin\n"
    ".hidden portico_boot_begin\n"
    "portico_boot_begin:\n"
    ".incbin \"" PORTICO_BOOT_FILE
    "\"\n"
    ".global portico_boot_end\n"
    ".hidden portico_boot_end\n"
    "portico_boot_end:\n"
    ".byte 0\n"
    ".popsection\n");
