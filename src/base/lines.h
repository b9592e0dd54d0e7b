// Lines of a text.
#pragma once
#include <string>

namespace mtmc {

struct LineRange {
  int first = 0, last = 0;  // 1-based, inclusive; 0: none
  bool operator==(const LineRange&) const = default;
};

// "line 22" or "lines 22-31".
inline std::string to_string(LineRange lines) {
  const std::string first = std::to_string(lines.first);
  return lines.first == lines.last ? "line " + first : "lines " + first + "-" + std::to_string(lines.last);
}

}  // namespace mtmc
