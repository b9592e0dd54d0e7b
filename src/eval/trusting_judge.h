// The judge that trusts: for candidates that nobody doubts, such as those of our own coder, when thousands of them are
// measured for a policy to learn from.
//
// Draws, truth, budgets and the rules for results are those of a screen; so are memory, sweeps and rehearsals around a
// timed call. But one process holds the task, its truth and eager, and imports one candidate after the other: no walls,
// no clock from outside, no weights that change, no second process. A candidate that meant harm would be believed; so
// it certifies nothing, and its verdicts carry an evaluator of their own.
#pragma once
#include <memory>

#include "eval/judge_options.h"

namespace mtmc {

// `options.trusts` is set. Baselines other than eager are not timed.
std::unique_ptr<Judge> make_trusting_judge(const JudgeOptions& options);

}  // namespace mtmc
