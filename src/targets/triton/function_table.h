// The Triton functions of a module. Layers that are alike print functions that differ in names only: the module has one
// of them, which is read, compiled and loaded once.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mtmc::triton {

class FunctionTable {
 public:
  struct Place {
    std::string marker;  // where in `text` the lines of a kernel begin
    int lines = 0;
  };
  // Adds the functions of a kernel, each once, unless all of them are those of a kernel that is here already: `calls`,
  // its statements, then call that one's, and its place is there. What is no row of functions alone is added whole.
  // `signatures`, by name: functions with others are others, whatever their texts (TritonKernel).
  Place add(const std::string& text, const std::map<std::string, std::string>& signatures, std::string& calls);
  const std::string& text() const { return text_; }

 private:
  struct Functions {
    std::vector<std::string> names;
    Place place;
  };

  Place append(const std::string& text);

  std::string text_;
  std::map<std::string, Functions> kernels_;  // by the texts of their functions without names
};

// A function's text without its own name and comments, the names that it binds numbered as they come.
std::string without_names(std::string_view function);

}  // namespace mtmc::triton
