// Loading a text in a test, and its problems as lines.
#pragma once

#include <string>
#include <vector>

#include "conf/load.h"

namespace portico::conf::testing {

/// The main file "main.yaml" in /etc/portico, and further ones as included.
inline Loaded load_texts(const std::vector<std::string>& texts) {
  Sources sources;
  for (const std::string& text : texts) {
    const std::size_t number = sources.files.size();
    const std::string name = number == 0 ? "main.yaml" : "part" + std::to_string(number) + ".yaml";
    sources.files.push_back({name, "/etc/portico", text});
  }
  return load(sources);
}

inline Loaded load_text(const std::string& text) { return load_texts({text}); }

inline std::vector<std::string> lines(const std::vector<Problem>& problems) {
  std::vector<std::string> out;
  for (const Problem& problem : problems) out.push_back(text(problem));
  return out;
}

}  // namespace portico::conf::testing
