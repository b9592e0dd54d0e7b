// Def-use data flow through the steps of a function.
#pragma once
#include <utility>
#include <vector>

#include "source/facts.h"

namespace mtmc {

// Positions of steps (earlier, later) of which the later reads what the earlier computes, and no third step stands
// between them in the flow: what may be one kernel, by the same law as two kernels of a Program (actions/flow.h).
// Names, views and memory (steps without ops) are walked through. Ascending.
std::vector<std::pair<int, int>> producer_consumer_pairs(const std::vector<SourceStep>& steps);

}  // namespace mtmc
