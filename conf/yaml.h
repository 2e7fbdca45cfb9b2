// A YAML text as a tree of our own, with the place of every value.
//
// The only room with yaml-cpp (house rule 12): its exceptions end in yaml.cc. The tree keeps what
// yaml-cpp's own throws away: whether a scalar was quoted, and where every key stands. Pure; any
// thread. A subset of YAML is accepted: one document; no anchors, aliases or tags, hence no alias
// bombs. Documented in portico.yaml(5), "The file".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace portico::conf {

/// No configuration that a person wrote is larger; 20,000 sites of three lines fit.
inline constexpr std::size_t longest_text = 1 << 20;
/// Ours needs eight; the limit keeps recursion over the tree shallow.
inline constexpr std::size_t deepest_nesting = 32;

/// Counted from 1, the column in bytes.
struct Mark {
  unsigned line = 0;
  unsigned column = 0;
};

struct Entry;

/// One value. A mapping has entries, a sequence has items, a scalar has text.
struct Node {
  enum class Kind : std::uint8_t { null, scalar, sequence, mapping };

  Kind kind = Kind::null;
  bool is_quoted = false;  ///< a scalar in quotes: "true" is text, true is a truth value
  std::string text;
  std::vector<Node> items;
  std::vector<Entry> entries;  ///< in order of writing, each key once
  Mark mark;
};

/// One line of a mapping. The key is always a scalar.
struct Entry {
  Node key;
  Node value;
};

struct YamlProblem {
  Mark mark;
  std::string what;
};

/// The tree and everything that is wrong with the text as YAML. The tree is empty (null) when the
/// text cannot be read to its end; unquoted wildcards and duplicate keys do not hinder that.
struct Yaml {
  Node root;
  std::vector<YamlProblem> problems;
};

/// Never throws; ends for every input, in time linear in its size but for quotes to be added.
Yaml parse_yaml(std::string_view text);

}  // namespace portico::conf
