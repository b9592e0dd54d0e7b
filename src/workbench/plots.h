// Pictures of a benchmark's rows, each a whole SVG file.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "workbench/score.h"

namespace mtmc {

// The certified speedups over eager in order, a line for each group: x is the task's place, y the speedup on a
// logarithmic axis.
std::string speedups_svg(const TaskRows& rows);

// Speedups over eager as they grow, a line for each name: its first point stands at x = 1.
std::string growth_svg(const std::map<std::string, std::vector<double>>& lines, const std::string& x_name);

// Speedup over eager against the seconds that the search took, a dot for each certified task.
std::string seconds_svg(const TaskRows& rows);

}  // namespace mtmc
