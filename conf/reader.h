// Reads values out of one file's tree, and writes down what is wrong with them.
//
// Every read_...() leaves its target alone, so that the default or the inherited value stays, when
// there is nothing to read (null pointer) or when what stands there is refused. Lives as long as
// one load(); the thread of its caller.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conf/keys.h"
#include "conf/load.h"
#include "conf/options.h"
#include "conf/outcome.h"
#include "conf/yaml.h"

namespace portico::conf {

/// One file and the list that problems go to. Both outlive it.
class Reader {
 public:
  Reader(const Source& source, std::vector<Problem>& problems)
      : source_(source), problems_(problems) {}

  Position at(const Node& node) const { return {source_.name, node.mark.line, node.mark.column}; }
  void refuse(const Node& node, std::string what) {
    problems_.push_back({at(node), std::move(what)});
  }

  /// Gives the outcome's value, or writes its problem down.
  template <class T>
  std::optional<T> accept(const Node& node, Outcome<T> outcome) {
    if (!outcome) refuse(node, outcome.problem);
    return std::move(outcome.value);
  }

  /// A scalar's text; null, with a problem, for anything else. `wanted` ends the message.
  const std::string* word(const Node& node, std::string_view wanted);

  void read_duration(const Node* node, milliseconds& into);
  void read_bool(const Node* node, bool& into);
  void read_unsigned(const Node* node, unsigned least, unsigned most, unsigned& into);
  /// "/absolute", or relative to the file's directory; comes out absolute, without a last slash.
  void read_path(const Node* node, std::string& into);

  template <class Owner>
  void read_amount(const Node* node, const AmountOption<Owner>& option, Owner& into) {
    into.*option.member = amount(node, option.unit, option.least, option.most, into.*option.member);
  }

  template <class Value, std::size_t N>
  void read_choice(const Node* node, const std::array<Choice<Value>, N>& choices, Value& into) {
    std::vector<std::string_view> words;
    words.reserve(N);
    for (const auto& choice : choices) words.push_back(choice.word);
    const std::size_t at = node == nullptr ? N : choice_index(*node, words);
    if (at < N) into = choices[at].value;
  }

  /// The items of a sequence; a single scalar or mapping counts as a list of one. Empty, with a
  /// problem, for an empty list.
  std::vector<const Node*> list(const Node& node, std::string_view wanted);

  /// The entries of a mapping whose keys are names, not options. Empty, with a problem, for
  /// anything else but null.
  const std::vector<Entry>& named(const Node& node, std::string_view wanted);

 private:
  std::uint64_t amount(const Node* node, Unit unit, std::uint64_t least, std::uint64_t most,
                       std::uint64_t current);
  std::size_t choice_index(const Node& node, const std::vector<std::string_view>& words);

  const Source& source_;
  std::vector<Problem>& problems_;
};

/// A mapping whose keys are options of a section. Making one reports unknown keys at once; a node
/// of another kind is reported too, and counts as an empty mapping. Null is an empty mapping: what
/// is left when every line under a key is commented out.
class Mapping {
 public:
  Mapping(Reader& reader, const Node& node, const Section& section);

  /// The value of a key; null when it is not written.
  const Node* find(std::string_view key) const;
  /// The key itself, for the place of a message. `key` must be written.
  const Node& key(std::string_view key) const;
  bool empty() const { return entries_.empty(); }
  /// Whether a key was refused: then what seems missing may only be misspelt.
  bool has_unknown() const { return has_unknown_; }

 private:
  void check_keys(Reader& reader, const Section& section);

  const std::vector<Entry>& entries_;
  bool has_unknown_ = false;
};

}  // namespace portico::conf
