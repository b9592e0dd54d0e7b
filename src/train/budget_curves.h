// What methods find with equal numbers of measurements: walks through a task's tree are repeated from the start until
// so many states were seen. A state counts once, refused or not; the start does not, nor does what had no code.
#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "train/evaluate.h"

namespace mtmc::train {

// The policy's likeliest walk, then walks drawn from it; the same of the cost model alone (softmax of the prior's
// weight times what it expects); random walks; the steepest, which measures all that a state's actions lead to; and
// searches, which go by what was measured (guided_search.h).
constexpr const char* kMethods[] = {"policy",    "cost model",  "random",    "steepest",       "tree policy",
                                    "tree cost", "beam policy", "beam cost", "descent policy", "descent cost"};

struct BudgetCurve {
  std::vector<double> gain;  // [n - 1]: of the best of n states, mean of log(start / best time)
  double states = 0;         // how many were found on average, at most as many as were wanted
};

struct TaskCurves {
  double known = 0;                 // log(start / best time that is known within the steps)
  std::vector<BudgetCurve> curves;  // in the order of kMethods
};

// Of each task of the request, `samples` and `random` times. A method that meets nothing new in kInVain walks has seen
// all that it will. `sharpness`: the weight of what the cost model expects. `methods`: those
// that are wanted, none: all; the others' curves are empty.
constexpr int kInVain = 100;
Result<std::vector<TaskCurves>> budget_curves(const EvaluationRequest& request, size_t states, double sharpness,
                                              const std::vector<std::string>& methods = {});

// The geometric mean over tasks of the share of the best known that a method's best of n states reaches.
double share_of_known(const std::vector<TaskCurves>& tasks, size_t method, size_t n);
// A line for each method: that share after 1, 2, 4, ... states, and how many it needs for 95 %.
std::string curve_table(const std::vector<TaskCurves>& tasks);
// The speedups behind it: {"states": [1, 2, 4, ...], "random": [...], ...}.
Json to_json(const TaskCurves& task);

}  // namespace mtmc::train
