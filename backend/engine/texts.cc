#include "backend/engine/texts.h"

// The text of FOLDER/name.py in the module, from portico_name_begin to portico_name_end. A macro,
// since the assembler takes literals only.
#define PORTICO_TEXT(name)                         \
  asm(".pushsection .rodata\n"                     \
      ".global portico_" #name                     \
      "_begin\n"                                   \
      ".global portico_" #name                     \
      "_end\n"                                     \
      ".hidden portico_" #name                     \
      "_begin\n"                                   \
      ".hidden portico_" #name                     \
      "_end\n"                                     \
      "portico_" #name                             \
      "_begin:\n"                                  \
      ".incbin \"" PORTICO_ENGINE_FOLDER "/" #name \
      ".py\"\n"                                    \
      "portico_" #name                             \
      "_end:\n"                                    \
      ".byte 0\n"                                  \
      ".popsection\n");                            \
  extern "C" {                                     \
  extern const char portico_##name##_begin[];      \
  extern const char portico_##name##_end[];        \
  }

PORTICO_TEXT(boot)
PORTICO_TEXT(messages)
PORTICO_TEXT(references)
PORTICO_TEXT(audit)
PORTICO_TEXT(offer)
PORTICO_TEXT(base)
PORTICO_TEXT(portico)

namespace portico::engine {

const Text texts[] = {
    {"boot", portico_boot_begin, portico_boot_end},
    {"messages", portico_messages_begin, portico_messages_end},
    {"references", portico_references_begin, portico_references_end},
    {"audit", portico_audit_begin, portico_audit_end},
    {"offer", portico_offer_begin, portico_offer_end},
    {"base", portico_base_begin, portico_base_end},
    {"portico", portico_portico_begin, portico_portico_end},
    {nullptr, nullptr, nullptr},
};

}  // namespace portico::engine
