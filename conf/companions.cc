#include "conf/companions.h"

#include <algorithm>
#include <utility>

#include "conf/deploy_keys.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

// It stands in log lines and tables.
constexpr std::size_t longest_name = 32;

bool is_name(std::string_view text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !text.empty() && text.size() <= longest_name &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace

void read_companions(Reader& reader, const Node& node, Application& into) {
  for (const Entry& entry :
       reader.named(node, "names and commands: {queue: [python, manage.py, qcluster]}")) {
    if (!is_name(entry.key.text)) {
      reader.refuse(entry.key, quoted(entry.key.text) +
                                   " is no name for a process; write up to 32 letters, digits, "
                                   "\"-\", \"_\" or \".\"");
    }
    std::vector<std::string> words = read_command(reader, entry.value);
    if (!words.empty())
      into.companions.push_back({entry.key.text, std::move(words), reader.at(entry.key)});
  }
}

}  // namespace portico::conf
