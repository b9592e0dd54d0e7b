// The processors that this process may use: fewer than the machine has where it was begun on some of them only.
#pragma once
#include <vector>

namespace mtmc {

// Their numbers as the system counts them, in order; never empty.
const std::vector<int>& usable_cores();

}  // namespace mtmc
