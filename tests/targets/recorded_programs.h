// The recorded programs of tests/ops, one operator each, with leaves for them.
#pragma once
#include <vector>

#include "ir/program.h"

namespace mtmc::testing {

std::vector<Program> recorded_programs();
// Indices and truth values are 0 or 1, which every recorded shape has; whole divisors are 1 or 2.
std::vector<std::vector<double>> random_leaves(const Program& program, uint64_t seed);
// Empty when `got` is `wanted` up to rounding; else what differs.
std::string difference(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance);

}  // namespace mtmc::testing
