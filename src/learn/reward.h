// What a step is worth to training: a rule over what the judge said of it. To add one: src/learn/rewards/NAME.cpp
// defining `extern const RewardDef NAME_def`; a generated table finds it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace mtmc {

// How far a step's code came.
enum class Standing { no_build, wrong, right };

// One step, as a reward sees it.
struct Moment {
  int step = 0, steps = 8;  // t and T: steps taken before this one, and the most there may be
  double progress = 0;      // of training, 0 to 1
  Standing standing = Standing::right;
  // Times of one call, in units of eager's. `before` is what the gains that were paid for so far amount to: the time
  // before the step, unless a loss was not paid in full. Such a loss is not earned back.
  double before = 1, after = 1;
  bool revisited = false;  // a state in which this episode has been
};

struct Payment {
  double reward = 0;
  double gain = 0;  // the logarithm of before / after, as far as it was paid for
};

struct RewardOptions {
  double compiled = 0.1, correct = 0.2, gain = 1;  // what each criterion adds
  double no_build = -1, wrong = -0.5;              // penalties at the beginning of training
  double least_penalty = 0.2;                      // what is left of them at its end
  bool operator==(const RewardOptions&) const = default;
};
// {"compiled": 0.1, ...}: what is not named keeps its value. An Error: an unknown name, or values with which a wrong
// kernel is worth no less than a right one.
Result<RewardOptions> reward_options(const Json& json);

struct RewardDef {
  std::string_view name, doc;
  Payment (*of)(const RewardOptions& options, const Moment& moment);
};

const RewardDef* find_reward(std::string_view name);
std::vector<const RewardDef*> all_rewards();

// Help for those who write one. What a kernel that compiled and is right earns: decay * (compiled + correct + gain *
// log(before / after)), and never so little that a wrong one would be worth as much as that, `floor`.
Payment paid_for_speed(const RewardOptions& options, const Moment& moment, double floor);
// 1 - t/T.
double decay(const Moment& moment);

}  // namespace mtmc
