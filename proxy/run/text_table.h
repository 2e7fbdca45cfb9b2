// TextTable: rows of cells, aligned for people. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace portico::run {

/// What a cell says of itself by its colour on a terminal.
enum class Tint : std::uint8_t { plain, heading, good, fair, bad };

/// The text, in colours or not.
std::string tinted(std::string_view text, Tint tint, bool coloured);

/// Whether standard output is a terminal, and nobody has said NO_COLOR (no-color.org).
bool wants_colours();

class TextTable {
 public:
  struct Cell {
    std::string text;
    Tint tint = Tint::plain;
  };

  void row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  /// Each row on a line of its own behind `indent`; columns as wide as their widest cell, two
  /// blanks apart, none at a line's end.
  void append_to(std::string& out, std::string_view indent, bool coloured) const;

 private:
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace portico::run
