#include "conf/words.h"

#include <algorithm>
#include <cstdint>

namespace portico::conf {
namespace {

constexpr std::size_t shown_bytes = 60;        // most of a line of 100 stays for the message
constexpr std::size_t longest_typo = 64;       // longer words are not misspelt keys
constexpr std::size_t most_candidates = 1000;  // bounds the time of one message

void append_escaped(std::string& out, char c) {
  constexpr char hex[] = "0123456789abcdef";
  const auto byte = static_cast<std::uint8_t>(c);
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (byte < 0x20 || byte == 0x7f) {
    out += "\\x";
    out += hex[byte >> 4];
    out += hex[byte & 15];
  } else {
    out += c;
  }
}

/// Cuts without leaving half a UTF-8 sequence behind.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<std::uint8_t>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::size_t allowed_distance(std::string_view word) {
  if (word.size() < 2) return 0;
  return std::clamp<std::size_t>((word.size() + 1) / 3, 1, 3);
}

bool similar_length(std::string_view a, std::string_view b, std::size_t most) {
  return a.size() > b.size() ? a.size() - b.size() <= most : b.size() - a.size() <= most;
}

}  // namespace

std::string escaped(std::string_view text) {
  const std::string_view shown = cut(text, shown_bytes);
  std::string out;
  for (const char c : shown) append_escaped(out, c);
  return shown.size() < text.size() ? out + "..." : out;
}

std::string quoted(std::string_view text) { return "\"" + escaped(text) + "\""; }

std::vector<std::string_view> split_words(std::string_view words) {
  std::vector<std::string_view> out;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    out.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return out;
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  if (word.empty() || word.size() > longest_typo) return {};
  const std::size_t most = allowed_distance(word);
  std::string_view best;
  std::size_t best_distance = most + 1;
  for (std::size_t i = 0; i < std::min(candidates.size(), most_candidates); ++i) {
    if (!similar_length(word, candidates[i], most)) continue;
    const std::size_t distance = edit_distance(word, candidates[i]);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidates[i];
    }
  }
  return best;
}

}  // namespace portico::conf
