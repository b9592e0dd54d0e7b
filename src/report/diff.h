// Line differences (Myers, "An O(ND) difference algorithm and its variations", 1986).
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mtmc {

struct DiffLine {
  enum class Kind { same, removed, added };
  Kind kind = Kind::same;
  int before = 0, after = 0;  // line numbers from 1; 0 where the side has no such line
  std::string text;
};

// The whole of both texts as one list of lines.
std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after);

// The changed parts with `context` equal lines around each; empty when the texts are equal.
std::vector<std::vector<DiffLine>> hunks(const std::vector<DiffLine>& lines, int context = 3);

// "@@ -3,4 +3,5 @@" blocks for a terminal; `colour` adds ANSI codes.
std::string unified_diff(std::string_view before, std::string_view after, bool colour = false);

}  // namespace mtmc
