// Arbitrary bytes as a configuration: loading ends, never crashes, and says nothing twice; what
// loads without a problem is printed and loaded again to the same value.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "conf/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace conf = portico::conf;
  const std::string text(data, data + size);
  const conf::Loaded loaded = conf::load({{{"fuzz.yaml", "/srv", text}}, {}});
  for (const conf::Problem& problem : loaded.problems) {
    if (conf::text(problem).find('\n') != std::string::npos) std::abort();
  }
  if (!loaded.problems.empty()) return 0;
  const std::string printed = conf::effective(loaded.config);
  const conf::Loaded again = conf::load({{{"printed.yaml", "/", printed}}, {}});
  const bool fits = printed.size() < (1U << 20);
  if (fits && (!again.problems.empty() || !(again.config == loaded.config))) std::abort();
  return 0;
}
