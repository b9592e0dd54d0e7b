// Lines of C++, indented by the blocks that are open: what the printers of this folder write.
#pragma once
#include <string>
#include <vector>

#include "base/text.h"

namespace mtmc {

class BlockLines {
 protected:
  explicit BlockLines(int depth = 0) : depth_(depth) {}

  void line(const std::string& text) { lines_.push_back(text.empty() ? "" : std::string(2 * depth_, ' ') + text); }
  void open(const std::string& text) {
    line(text + " {");
    ++depth_;
  }
  void close(const std::string& tail = "}") {
    --depth_;
    line(tail);
  }
  std::string all_lines() const { return join(lines_, "\n") + "\n"; }

  int depth_;

 private:
  std::vector<std::string> lines_;
};

}  // namespace mtmc
