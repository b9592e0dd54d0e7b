#include "learn/reward.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/check.h"

#include "learn_rewards.h"

namespace mtmc {

const RewardDef* find_reward(std::string_view name) {
  for (const RewardDef* def : kRewards)
    if (def->name == name) return def;
  return nullptr;
}

std::vector<const RewardDef*> all_rewards() { return {std::begin(kRewards), std::end(kRewards)}; }

Result<RewardOptions> reward_options(const Json& json) {
  constexpr const char* kDoing = "reading the options of a reward";
  constexpr const char* kNames = "numbers for compiled, correct, gain, no_build, wrong, least_penalty";
  RewardOptions o;
  if (!json.is_object()) return Error{kDoing, "not an object", json.dump(), kNames};
  for (const auto& [name, value] : json.items()) {
    double* field = name == "compiled"        ? &o.compiled
                    : name == "correct"       ? &o.correct
                    : name == "gain"          ? &o.gain
                    : name == "no_build"      ? &o.no_build
                    : name == "wrong"         ? &o.wrong
                    : name == "least_penalty" ? &o.least_penalty
                                              : nullptr;
    if (field == nullptr || !value.is_number())
      return Error{kDoing, "no such option", name + " " + value.dump(), kNames};
    *field = value.get<double>();
  }
  const bool ordered = o.no_build < o.wrong && o.wrong < 0 && o.compiled >= 0 && o.correct >= 0 && o.gain > 0 &&
                       o.least_penalty > 0 && o.least_penalty <= 1;
  if (!ordered)
    return Error{kDoing, "the values are out of order", json.dump(),
                 "no_build < wrong < 0 <= compiled, correct; 0 < gain; 0 < least_penalty <= 1"};
  return o;
}

double decay(const Moment& moment) {
  MTMC_CHECK(moment.step >= 0 && moment.step < moment.steps, "a step beyond the last one");
  return 1 - static_cast<double>(moment.step) / moment.steps;
}

Payment paid_for_speed(const RewardOptions& options, const Moment& moment, double floor) {
  MTMC_CHECK(moment.before > 0 && moment.after > 0, "a right kernel takes some time");
  const double share = decay(moment), bonus = options.compiled + options.correct;
  const double least = (floor / share - bonus) / options.gain;  // the gain at which the reward is the floor
  const double gain = std::max(least, std::log(moment.before / moment.after));
  return {share * (bonus + options.gain * gain), gain};
}

}  // namespace mtmc
