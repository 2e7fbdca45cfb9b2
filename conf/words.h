// Words for messages: quoting what the operator wrote, and finding what was probably meant.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace portico::conf {

/// Control characters, quotes and backslashes escaped and at most 60 bytes shown, so that a message
/// stays one line whatever the file holds.
std::string escaped(std::string_view text);

/// escaped() in double quotes.
std::string quoted(std::string_view text);

/// Splits at single spaces: "a b" is {"a", "b"}, "" is {}.
std::vector<std::string_view> split_words(std::string_view words);

/// "a, b or c"; "" of nothing.
std::string listed(const std::vector<std::string_view>& words);

/// The least number of letters to insert, drop, replace or swap with their neighbour that makes
/// `a` into `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the smallest edit distance, if that is at most about a third of the word's
/// length (and from 1 to 3; 0 for a single letter); empty otherwise. Looks at the first 1000
/// candidates only.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace portico::conf
