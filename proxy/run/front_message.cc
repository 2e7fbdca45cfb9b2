#include "proxy/run/front_message.h"

namespace portico::run {
namespace {

std::string_view cut(std::string_view& text, char at) {
  const auto end = text.find(at);
  const auto front = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return front;
}

}  // namespace

std::string format_message(const FrontMessage& message) {
  std::string text(message.verb);
  text.append(" ").append(message.argument).append("\n").append(message.body);
  return text;
}

FrontMessage parse_message(std::string_view text) {
  std::string_view line = cut(text, '\n');
  const auto verb = cut(line, ' ');
  return {verb, line, text};
}

}  // namespace portico::run
