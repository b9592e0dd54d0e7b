// The clipped surrogate of PPO (Schulman et al. 2017), which GRPO shares: what becomes of advantages.
#pragma once
#include <vector>

#include "train/algorithm.h"
#include "train/rollout.h"

namespace mtmc::train {

// The settings that `improve_policy` reads, for an algorithm's table.
std::vector<Setting> policy_settings(double rate);
Status check_policy_settings(const Lesson& lesson);

// Some epochs of steps over the decisions of a rollout, in minibatches that are drawn from those of all processes.
// `advantages` by place. Minimises -min(r A, clip(r) A) - entropy bonus + KL to the reference, exact over the valid
// actions. Ends early where the policy has moved by more than `target-kl`, estimated as the mean of (r - 1) - log r
// (k3, Schulman 2020) before each step. Tells of it.
Result<Metrics> improve_policy(Lesson& lesson, const Rollout& rollout, const std::vector<double>& advantages,
                               int64_t update);

}  // namespace mtmc::train
