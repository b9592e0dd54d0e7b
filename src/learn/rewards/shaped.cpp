// (1 - t/T) (0.1 compiled + 0.2 correct + log(before / after)); -1 for what does not build and -0.5 for what is wrong,
// both scaled by max(0.2, 1 - progress of training): at first the policy learns what works, later what is fast.
#include <algorithm>

#include "learn/reward.h"

namespace mtmc {
namespace {

Payment of(const RewardOptions& options, const Moment& moment) {
  const double scale = std::max(options.least_penalty, 1 - moment.progress);
  if (moment.standing == Standing::no_build) return {options.no_build * scale, 0};
  if (moment.standing == Standing::wrong) return {options.wrong * scale, 0};
  if (moment.revisited) return {};
  return paid_for_speed(options, moment, options.wrong * scale / 2);
}

}  // namespace

extern const RewardDef shaped_def;
const RewardDef shaped_def{"shaped", "gains by their logarithm, fading with the steps; penalties fade with training",
                           of};

}  // namespace mtmc
