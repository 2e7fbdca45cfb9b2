#include "conf/shared_imports.h"

#include <algorithm>
#include <utility>

#include "conf/names.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

// All of them travel in one control message (32 KiB, record/control.h), with room to spare.
constexpr std::size_t most_modules = 100;

void read_module(Reader& reader, const Node& node, std::vector<std::string>& into) {
  const std::string* text = reader.word(node, "a module such as \"django.template\"");
  const auto module = text ? reader.accept(node, parse_module(*text)) : std::nullopt;
  if (!module) return;
  if (std::find(into.begin(), into.end(), *module) != into.end())
    return reader.refuse(node, "the module " + quoted(*module) +
                                   " stands here already; write it "
                                   "once");
  into.push_back(*module);
}

}  // namespace

void read_shared_imports(Reader& reader, const Node* node, std::vector<std::string>& into) {
  if (node == nullptr) return;
  into.clear();
  if (node->kind == Node::Kind::sequence && node->items.empty()) return;
  for (const Node* item : reader.list(*node, "modules such as [django, django.template]"))
    read_module(reader, *item, into);
  if (into.size() > most_modules)
    reader.refuse(*node, "more than " + std::to_string(most_modules) +
                             " modules; write the packages alone that import the others");
}

}  // namespace portico::conf
