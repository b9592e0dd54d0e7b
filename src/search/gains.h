// What the cost model expects of a state's actions. What counts is what the Program can become (see Forecaster) and,
// half as much, what it gains at once. The model cannot tell good loop orders from bad ones and errs about library
// calls and about what launches cost the host: such actions on the kernels that take the time, and graphs, are worth a
// measurement all the same.
#pragma once
#include <vector>

#include "actions/action.h"
#include "search/prospect.h"

namespace mtmc {

constexpr double kWorthwhile = 0.02;  // what `stop` stands for
// The same where a single walk is made, which loses nothing by going on: the model errs by more. On the 360 tasks for
// training of datasets/h100 walks that end at 0.02 and at -0.02 reach 87 and 89 % of the best known.
constexpr double kStopsWalk = -0.02;

// For each proposal the logarithm of how many times faster the Program is expected to get; -1 for what is refused,
// kWorthwhile for `stop`. On all cores.
std::vector<double> expected_gains(const Program& program, const std::vector<Proposal>& proposals,
                                   const ActionContext& context, Forecaster& forecaster);

// The same by a policy whose scores begin at `prior` times what the cost model expects (docs/TRAINING.md): `stop`, the
// last, stands for kStopsWalk.
std::vector<double> gains_of_scores(const std::vector<double>& scores, double prior);

}  // namespace mtmc
