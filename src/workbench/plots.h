// Pictures of a benchmark's rows, each a whole SVG file.
#pragma once
#include <string>

#include "workbench/score.h"

namespace mtmc {

// The certified speedups over eager in order, a line for each group: x is the task's place, y the speedup on a
// logarithmic axis.
std::string speedups_svg(const TaskRows& rows);

// Speedup over eager against the seconds that the search took, a dot for each certified task.
std::string seconds_svg(const TaskRows& rows);

}  // namespace mtmc
