// The null target: no compiler and nothing that runs. Its code is the Program's own text; its times come from the cost
// model. For tests, and for training's own tests.
#include <algorithm>

#include "base/text.h"
#include "targets/frame.h"
#include "targets/target.h"

namespace mtmc {
namespace {

void widen(LineRange& range, int line) {
  if (range.first == 0) range = {line, line};
  range = {std::min(range.first, line), std::max(range.last, line)};
}

Result<Code> emit(const Program& program, const Hardware&, const ModuleShell& shell) {
  Code code;
  code.text = "# " + shell.description + "\n";
  int line = 1;
  for (const std::string& text : split(print(program), '\n')) {
    ++line;
    code.text += text.empty() ? "\n" : "# " + text + "\n";
    const std::string_view trimmed = trim(text);
    if (!trimmed.starts_with("%")) continue;
    for (const std::string& id : split(trimmed.substr(0, trimmed.find(" = ")), ',')) {
      const std::string digits(trim(id).substr(1));
      widen(code.values[std::stoi(digits)], line);
    }
  }
  for (const Kernel& kernel : program.kernels)
    for (const ValueId id : kernel.values)
      for (const int at : {code.values[id].first, code.values[id].last}) widen(code.kernels[kernel.name], at);
  code.build_unit = print(program);
  return code;
}

Status supports(const Program& program, const Kernel& kernel) { return can_generate(program, kernel.values); }

std::vector<std::map<std::string, int64_t>> candidates(const Program&, const Kernel& kernel, const Hardware&) {
  if (!kernel.has("tiled")) return {};
  return {{{"tile", 64}}, {{"tile", 32}}, {{"tile", 128}}};
}

}  // namespace

extern const TargetDef null_def;
const TargetDef null_def{"null", "nothing runs: code is the Program's text, times come from the cost model", emit,
                         supports, candidates};

}  // namespace mtmc
