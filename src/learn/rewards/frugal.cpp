// As `shaped`, and a step has to be worth it: compiling and being right add to what is faster only, and what is not, or
// was there, costs a little. `stop`, which is worth 0, is then the best action exactly where nothing is left to gain;
// with `shaped` a harmless step is worth more.
#include <algorithm>
#include <cmath>

#include "learn/reward.h"

namespace mtmc {
namespace {

constexpr double kFaster = 1.01;  // times as fast: less is luck
constexpr double kFee = 0.02;

Payment of(const RewardOptions& options, const Moment& moment) {
  const double scale = std::max(options.least_penalty, 1 - moment.progress);
  if (moment.standing == Standing::no_build) return {options.no_build * scale, 0};
  if (moment.standing == Standing::wrong) return {options.wrong * scale, 0};
  const double fee = std::min(kFee, -options.wrong * scale / 5);  // a slow kernel stays worth more than a wrong one
  if (moment.revisited) return {-fee, 0};
  if (moment.before > kFaster * moment.after) return paid_for_speed(options, moment, options.wrong * scale / 2);
  RewardOptions gain_only = options;
  gain_only.compiled = gain_only.correct = 0;
  Payment payment = paid_for_speed(gain_only, moment, options.wrong * scale / 2);
  payment.reward -= fee;
  return payment;
}

}  // namespace

extern const RewardDef frugal_def;
const RewardDef frugal_def{"frugal", "as shaped; what gains nothing costs a little, so that stop is worth more", of};

}  // namespace mtmc
