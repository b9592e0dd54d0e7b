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
  // Adds the functions of a kernel but for those that are here already: `calls`, its statements, then call these. Where
  // all are, its place is that of its last one. What is no row of functions alone is added whole. `signatures`, by
  // name: functions with others are others, whatever their texts (TritonKernel).
  Place add(const std::string& text, const std::map<std::string, std::string>& signatures, std::string& calls);
  const std::string& text() const { return text_; }

 private:
  struct Function {
    std::string name;
    Place place;  // of the kernel that it came with
  };

  Place append(const std::string& text);

  std::string text_;
  std::map<std::string, Function> functions_;  // by their texts without names
};

// A function's text without its own name and comments, the names that it binds numbered as they come.
std::string without_names(std::string_view function);

}  // namespace mtmc::triton
