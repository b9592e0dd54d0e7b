// What the rows of a suite of functions amount to: each is called in several ways, by tests that are not ours.
#pragma once
#include <string>

#include "workbench/score.h"

namespace mtmc {

// A Markdown table and lists by name: who is not called, not strictly right, excluded, and why.
// Rows hold `called`, `executed`, `strict`, `reconstructed`, `excluded`, `golden_fails`, `reason`, see
// docs/TRITONBENCH.md.
std::string function_table(const TaskRows& rows);

}  // namespace mtmc
