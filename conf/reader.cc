#include "conf/reader.h"

#include <algorithm>

#include "conf/units.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

const std::vector<Entry> no_entries;

std::string_view kind_name(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "a single value";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::mapping:
      return "a mapping";
  }
  return "";
}

std::string instead_of(const Node& node, std::string_view wanted) {
  return std::string(kind_name(node)) + " stands here; write " + std::string(wanted);
}

/// Lexically: "a//b/../c/" is "a/c". Symbolic links are the machine's business.
std::string clean_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
  }
  std::string out;
  for (const std::string_view part : parts) out += "/" + std::string(part);
  return out.empty() ? "/" : out;
}

bool is_word_of(std::string_view words, std::string_view word) {
  const auto all = split_words(words);
  return std::find(all.begin(), all.end(), word) != all.end();
}

std::string unknown_key(std::string_view key, const Section& section) {
  if (is_word_of(section.later, key)) {
    return quoted(key) + " is not available in this version; take it out";
  }
  if (is_word_of(section.top_only, key)) {
    return quoted(key) + " concerns the whole server; write it at the top of the main file";
  }
  const auto known = split_words(section.known);
  const std::string_view near = nearest(key, known);
  return "unknown key " + quoted(key) + " " + std::string(section.place) + "; write " +
         (near.empty() ? listed(known) : quoted(near));
}

}  // namespace

const std::string* Reader::word(const Node& node, std::string_view wanted) {
  if (node.kind != Node::Kind::scalar) {
    refuse(node, instead_of(node, wanted));
  } else if (node.text.empty()) {
    refuse(node, "an empty text; write " + std::string(wanted));
  } else if (node.text.find('\0') != std::string::npos) {
    refuse(node, "a text with a NUL; write " + std::string(wanted));
  } else {
    return &node.text;
  }
  return nullptr;
}

void Reader::read_duration(const Node* node, milliseconds& into) {
  const std::string* text = node == nullptr ? nullptr : word(*node, "a duration such as \"10s\"");
  if (text == nullptr) return;
  if (const auto value = accept(*node, parse_duration(*text))) into = *value;
}

void Reader::read_bool(const Node* node, bool& into) {
  if (node == nullptr) return;
  const bool plain = node->kind == Node::Kind::scalar && !node->is_quoted;
  if (plain && (node->text == "true" || node->text == "false")) {
    into = node->text == "true";
  } else {
    refuse(*node, node->kind == Node::Kind::scalar
                      ? quoted(node->text) + " is not a truth value; write true or false"
                      : instead_of(*node, "true or false"));
  }
}

void Reader::read_unsigned(const Node* node, unsigned least, unsigned most, unsigned& into) {
  into = static_cast<unsigned>(amount(node, Unit::number, least, most, into));
}

void Reader::read_path(const Node* node, std::string& into) {
  const std::string* text = node == nullptr ? nullptr : word(*node, "a path");
  if (text == nullptr) return;
  into = clean_path(text->front() == '/' ? *text : source_.directory + "/" + *text);
}

std::uint64_t Reader::amount(const Node* node, Unit unit, std::uint64_t least, std::uint64_t most,
                             std::uint64_t current) {
  const bool bytes = unit == Unit::bytes;
  const std::string_view wanted = bytes ? "a size such as \"32KiB\"" : "a whole number";
  const std::string* text = node == nullptr ? nullptr : word(*node, wanted);
  if (text == nullptr) return current;
  const auto value = accept(*node, bytes ? parse_size(*text) : parse_number(*text, least, most));
  if (!value) return current;
  if (*value < least || *value > most) {
    const std::string bound =
        *value < least ? "at least " + size_text(least) : "at most " + size_text(most);
    refuse(*node, quoted(*text) + " does not fit; write " + bound);
    return current;
  }
  return *value;
}

std::size_t Reader::choice_index(const Node& node, const std::vector<std::string_view>& words) {
  const std::string* text = word(node, listed(words));
  if (text == nullptr) return words.size();
  const auto at = std::find(words.begin(), words.end(), *text);
  if (at == words.end()) {
    const std::string_view near = nearest(*text, words);
    refuse(node, quoted(*text) + " is not known here; write " +
                     (near.empty() ? listed(words) : quoted(near)));
  }
  return static_cast<std::size_t>(at - words.begin());
}

std::vector<const Node*> Reader::list(const Node& node, std::string_view wanted) {
  std::vector<const Node*> out;
  if (node.kind == Node::Kind::scalar || node.kind == Node::Kind::mapping) return {&node};
  for (const Node& item : node.items) out.push_back(&item);
  if (out.empty()) {
    const bool is_list = node.kind == Node::Kind::sequence;
    refuse(node,
           is_list ? "an empty list; write " + std::string(wanted) : instead_of(node, wanted));
  }
  return out;
}

const std::vector<Entry>& Reader::named(const Node& node, std::string_view wanted) {
  if (node.kind == Node::Kind::mapping) return node.entries;
  if (node.kind != Node::Kind::null) refuse(node, instead_of(node, wanted));
  return no_entries;
}

Mapping::Mapping(Reader& reader, const Node& node, const Section& section)
    : entries_(reader.named(node, "keys and values: " + listed(split_words(section.known)))) {
  check_keys(reader, section);
}

const Node* Mapping::find(std::string_view key) const {
  for (const Entry& entry : entries_) {
    if (entry.key.text == key) return &entry.value;
  }
  return nullptr;
}

const Node& Mapping::key(std::string_view key) const {
  return std::find_if(entries_.begin(), entries_.end(),
                      [&](const Entry& entry) { return entry.key.text == key; })
      ->key;
}

void Mapping::check_keys(Reader& reader, const Section& section) {
  for (const Entry& entry : entries_) {
    if (is_word_of(section.known, entry.key.text)) continue;
    reader.refuse(entry.key, unknown_key(entry.key.text, section));
    has_unknown_ = true;
  }
}

}  // namespace portico::conf
