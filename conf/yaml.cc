#include "conf/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <optional>
#include <sstream>
#include <unordered_map>

#include "conf/text_check.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

// Stands in for the "*" of an unquoted wildcard while yaml-cpp reads on: a control character, which
// text_check keeps out of what the operator writes.
constexpr char wildcard_mark = '\x1a';
// Each unquoted wildcard costs another reading; further ones are reported after these are mended.
constexpr int most_readings = 20;

Mark to_mark(const YAML::Mark& mark) {
  if (mark.is_null()) return {1, 1};
  return {static_cast<unsigned>(mark.line) + 1, static_cast<unsigned>(mark.column) + 1};
}

/// Thrown through yaml-cpp to stop it early; caught in this file.
struct Stop {};

/// Builds the tree from yaml-cpp's events.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(Yaml& out) : out_(out) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    begin(mark, anchor, "", Node::Kind::null);
    end();
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    stop(mark, "an alias is not supported; write the value out, or quote it if it is a wildcard");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node& node = begin(mark, anchor, tag, Node::Kind::scalar);
    // yaml-cpp makes single bytes of "\N" and "\_" (U+0085 and U+00A0).
    if (!is_utf8(value)) {
      out_.problems.push_back(
          {to_mark(mark),
           R"(the escapes "\N" and "\_" are not supported; write "\x85" or "\xa0")"});
    }
    node.is_quoted = tag == "!";
    node.text = value;
    if (!node.is_quoted && value.starts_with(wildcard_mark)) node.text.front() = '*';
    end();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor, tag, Node::Kind::sequence);
  }
  void OnSequenceEnd() override { end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor, tag, Node::Kind::mapping);
  }
  void OnMapEnd() override { end(); }

 private:
  /// A node whose end has not come yet, and for a mapping the key that waits for its value.
  struct Open {
    Node node;
    std::optional<Node> key;
    std::unordered_map<std::string, Mark> keys;
  };

  [[noreturn]] void stop(const YAML::Mark& mark, std::string what) {
    out_.problems.push_back({to_mark(mark), std::move(what)});
    throw Stop{};
  }

  Node& begin(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& tag,
              Node::Kind kind) {
    if (anchor != 0) stop(mark, "an anchor is not supported; write the value where it is needed");
    if (!tag.empty() && tag != "?" && tag != "!") {
      stop(mark, "the tag " + quoted(tag) + " is not supported; leave it out");
    }
    if (open_.size() == deepest_nesting) {
      stop(mark, "nested deeper than " + std::to_string(deepest_nesting) +
                     " levels; nothing here needs that");
    }
    Open& open = open_.emplace_back();
    open.node.kind = kind;
    open.node.mark = to_mark(mark);
    return open.node;
  }

  void end() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    if (open_.empty()) {
      out_.root = std::move(node);
    } else if (open_.back().node.kind == Node::Kind::sequence) {
      open_.back().node.items.push_back(std::move(node));
    } else {
      end_in_mapping(open_.back(), std::move(node));
    }
  }

  void end_in_mapping(Open& mapping, Node node) {
    if (!mapping.key) {
      mapping.key = std::move(node);
    } else {
      // yaml-cpp places a value that is not written at whatever comes next.
      const bool is_absent =
          node.kind == Node::Kind::null && node.mark.line > mapping.key->mark.line;
      if (is_absent) node.mark = mapping.key->mark;
      add_entry(mapping, std::move(node));
      mapping.key.reset();
    }
  }

  void add_entry(Open& mapping, Node value) {
    const Node& key = *mapping.key;
    if (key.kind != Node::Kind::scalar) {
      out_.problems.push_back(
          {key.mark, "this key is not a word; write a name (\"null\" and \"~\" in quotes)"});
      return;
    }
    const auto [first, is_new] = mapping.keys.emplace(key.text, key.mark);
    if (!is_new) {
      out_.problems.push_back({key.mark, "the key " + quoted(key.text) + " stands in line " +
                                             std::to_string(first->second.line) +
                                             " already; write it once"});
      return;
    }
    mapping.node.entries.push_back({std::move(*mapping.key), std::move(value)});
  }

  Yaml& out_;
  std::vector<Open> open_;
};

/// A syntax error as yaml-cpp tells it.
struct Fault {
  YAML::Mark mark;
  std::string message;
};

/// Reads the text once. A fault of the syntax comes back; all else is in `out`.
std::optional<Fault> read_once(const std::string& text, Yaml& out) {
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Builder builder(out);
    if (!parser.HandleNextDocument(builder)) return std::nullopt;
    Yaml rest;
    Builder second(rest);
    if (parser.HandleNextDocument(second)) {
      out.problems.push_back({rest.root.mark, "a second document; write one document in a file"});
    }
  } catch (const Stop&) {
    out.root = Node{};
  } catch (const YAML::Exception& e) {
    out.root = Node{};
    return Fault{e.mark, e.msg};
  }
  return std::nullopt;
}

/// The offset in `text` that the fault points at; npos when it points nowhere.
std::size_t offset_of(const std::string& text, const YAML::Mark& mark) {
  const auto offset = static_cast<std::size_t>(mark.pos);
  return mark.pos < 0 || offset >= text.size() ? std::string::npos : offset;
}

struct Wildcard {
  std::size_t offset;
  Mark mark;
};

/// The unquoted "*" that the fault is about, if it is. One that stands alone is told at the byte
/// behind it.
std::optional<Wildcard> unquoted_wildcard(const std::string& text, const Fault& fault) {
  const std::size_t at = offset_of(text, fault.mark);
  const Mark mark = to_mark(fault.mark);
  if (at == std::string::npos) return std::nullopt;
  if (text[at] == '*') return Wildcard{at, mark};
  const bool bare =
      at > 0 && text[at - 1] == '*' && fault.message == YAML::ErrorMsg::ALIAS_NOT_FOUND;
  if (!bare) return std::nullopt;
  return Wildcard{at - 1, {mark.line, mark.column - 1}};
}

/// The line around `offset`, from its first byte up to `offset`.
std::string_view line_before(const std::string& text, std::size_t offset) {
  const std::size_t end = std::min(offset, text.size());
  const std::size_t newline = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
  return std::string_view(text).substr(start, end - start);
}

/// The word that starts at `offset`, for a message.
std::string word_at(const std::string& text, std::size_t offset) {
  const std::size_t end = text.find_first_of(" \t\r\n,]}", offset);
  std::string word = text.substr(offset, end == std::string::npos ? end : end - offset);
  if (word.ends_with(':')) word.pop_back();
  return word;
}

YamlProblem explain(const std::string& text, const Fault& fault) {
  const Mark mark = to_mark(fault.mark);
  const std::size_t at = offset_of(text, fault.mark);
  if (at != std::string::npos && text[at] == '&') {
    return {mark, "an anchor is not supported; quote the value if it starts with \"&\""};
  }
  if (at != std::string::npos && (text[at] == '\t' || line_before(text, at).starts_with('\t'))) {
    return {{mark.line, 1}, "a tab in the indentation; indent with spaces"};
  }
  if (at != std::string::npos && (text[at] == '@' || text[at] == '`' || text[at] == '%')) {
    return {mark, "a value cannot start with \"" + std::string(1, text[at]) + "\"; quote it"};
  }
  return {mark,
          "not valid YAML (" + escaped(fault.message) + "); mend the line or the one before it"};
}

/// Reads again and again while the fault is an unquoted "*", so that one reading finds everything
/// else that is wrong.
void read_past_wildcards(std::string text, Yaml& out) {
  std::vector<YamlProblem> wildcards;
  for (int reading = 0;; ++reading) {
    out = Yaml{};
    const auto fault = read_once(text, out);
    if (!fault) break;
    const auto wildcard = unquoted_wildcard(text, *fault);
    if (!wildcard || reading == most_readings) {
      out.problems.push_back(explain(text, *fault));
      break;
    }
    const std::string word = word_at(text, wildcard->offset);
    wildcards.push_back(
        {wildcard->mark, "an unquoted \"*\" starts an alias in YAML; write " + quoted(word)});
    text[wildcard->offset] = wildcard_mark;
  }
  out.problems.insert(out.problems.end(), wildcards.begin(), wildcards.end());
}

}  // namespace

Yaml parse_yaml(std::string_view text) {
  Yaml out;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (auto problem = check_text(text)) {
    out.problems.push_back(std::move(*problem));
    return out;
  }
  read_past_wildcards(std::string(text), out);
  return out;
}

}  // namespace portico::conf
