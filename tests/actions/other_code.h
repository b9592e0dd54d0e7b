// Whether a step can change what a target prints.
#pragma once
#include <algorithm>
#include <string>

#include "actions/action.h"
#include "base/check.h"
#include "ir/program.h"

namespace mtmc {

inline std::string code_of(const Program& program, const ActionContext& context) {
  ModuleShell shell;
  shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  for (const Value& value : program.values)
    if (value.kind == ValueKind::input) shell.arguments.push_back(value.name);
  const auto code = context.target.emit(program, context.hardware, shell);
  MTMC_CHECK(code.ok(), code.error().message());
  return code->text;
}

// `after` prints something else than `before`, or would with some of the numbers that may be measured now.
inline bool can_print_other_code(const std::string& before, const Program& after, const ActionContext& context) {
  if (code_of(after, context) != before) return true;
  for (size_t k = 0; k < after.kernels.size(); ++k)
    for (const Numbers& numbers : context.target.candidates(after, after.kernels[k], context.hardware)) {
      Program other = after;
      other.kernels[k].numbers = numbers;
      if (code_of(other, context) != before) return true;
    }
  return false;
}

}  // namespace mtmc
