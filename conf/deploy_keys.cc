#include "conf/deploy_keys.h"

#include "conf/settings.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

bool is_empty_list(const Node& node) {
  return node.kind == Node::Kind::sequence && node.items.empty();
}

void read_hooks(Reader& reader, const Node& node, Application& into) {
  into.before_deploy_where = reader.at(node);
  if (is_empty_list(node)) return;
  for (const Node* item : reader.list(node, "a list of commands, each a list of words")) {
    std::vector<std::string> words = read_command(reader, *item);
    if (!words.empty()) into.before_deploy.push_back(std::move(words));
  }
}

void read_warm(Reader& reader, const Node& node, Application& into) {
  constexpr std::string_view wanted = "paths such as [/, /healthz]";
  into.warm.clear();
  if (is_empty_list(node)) return;
  for (const Node* item : reader.list(node, wanted)) {
    const std::string* text = reader.word(*item, wanted);
    const auto target = text ? reader.accept(*item, parse_probe_target(*text)) : std::nullopt;
    if (target) into.warm.push_back(*target);
  }
}

}  // namespace

std::vector<std::string> read_command(Reader& reader, const Node& node) {
  constexpr std::string_view remedy =
      "write a command as a list of its words: [python, manage.py, migrate]";
  std::vector<std::string> words;
  const bool is_list = node.kind == Node::Kind::sequence && !node.items.empty();
  bool is_sound = is_list;
  for (const Node& item : node.items) {
    is_sound =
        is_sound && item.kind == Node::Kind::scalar && item.text.find('\0') == std::string::npos;
    words.push_back(item.text);
  }
  if (is_sound && !words.front().empty()) return words;
  reader.refuse(node, std::string(remedy));
  return {};
}

void read_deploy_keys(Reader& reader, const Mapping& mapping, Application& into) {
  reader.read_path(mapping.find("touch"), into.touch);
  reader.read_bool(mapping.find("reload"), into.reload);
  if (const Node* node = mapping.find("before_deploy")) read_hooks(reader, *node, into);
  if (const Node* node = mapping.find("warm")) read_warm(reader, *node, into);
}

}  // namespace portico::conf
