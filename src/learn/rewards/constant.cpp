// The other reading of the paper's "rewards increase progressively while penalties decrease gradually": along the
// criteria, not along training. -1 for what does not build; what builds and is wrong has met one criterion and pays
// less; both all through training.
#include "learn/reward.h"

namespace mtmc {
namespace {

Payment of(const RewardOptions& options, const Moment& moment) {
  if (moment.standing == Standing::no_build) return {options.no_build, 0};
  if (moment.standing == Standing::wrong) return {options.wrong, 0};
  if (moment.revisited) return {};
  return paid_for_speed(options, moment, options.wrong / 2);
}

}  // namespace

extern const RewardDef constant_def;
const RewardDef constant_def{"constant",
                             "the same with penalties that are smaller for each criterion met, and constant", of};

}  // namespace mtmc
