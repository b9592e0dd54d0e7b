// Programs that tests keep as text.
#pragma once
#include <string>
#include <vector>

#include "actions/action.h"
#include "ir/program.h"

namespace mtmc {

// A Program from its text; without kernels it stands for eager execution: one library kernel a node.
Program read_start(std::string source);
// The programs of a golden file (relative to tests/), without what the file says becomes of them.
std::vector<Program> programs_in(const std::string& file);

inline const Hardware kHardware;
// On which everything is legal that some target could print.
inline ActionContext context() { return {kHardware, *find_target("null"), false}; }

}  // namespace mtmc
