// A run's metrics as a picture: a small panel for each, against the updates.
#pragma once
#include <string>
#include <vector>

#include "base/json.h"

namespace mtmc::train {

// `lines`: objects with the number `update`; each other number is a panel. A whole SVG file.
std::string curves_svg(const std::vector<Json>& lines);

}  // namespace mtmc::train
