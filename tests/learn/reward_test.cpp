// The order of the paper, decay and loops, over many drawn moments; figures of the default one by hand.
#include "learn/reward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/rng.h"

namespace mtmc {
namespace {

constexpr int kDraws = 2000;

double reward(const RewardDef& def, Moment moment, Standing standing, double after = 1) {
  moment.standing = standing, moment.after = after;
  return def.of({}, moment).reward;
}

Moment drawn(Rng& rng) {
  Moment moment{
      .steps = 1 + static_cast<int>(rng.below(12)), .progress = rng.uniform(), .before = 0.01 + rng.uniform()};
  moment.step = static_cast<int>(rng.below(moment.steps));
  return moment;
}

TEST(Reward, TheShapedOneIsWhatIsWrittenOfIt) {
  const RewardDef& shaped = *find_reward("shaped");
  const Moment second{.step = 2, .steps = 8, .progress = 0.5, .before = 0.8};
  EXPECT_DOUBLE_EQ(reward(shaped, second, Standing::right, 0.4), 0.75 * (0.1 + 0.2 + std::log(2)));
  EXPECT_DOUBLE_EQ(reward(shaped, second, Standing::no_build), -0.5);
  EXPECT_DOUBLE_EQ(reward(shaped, second, Standing::wrong), -0.25);
  EXPECT_DOUBLE_EQ(reward(shaped, {.step = 0, .steps = 8, .progress = 1}, Standing::no_build), -0.2);
  EXPECT_DOUBLE_EQ(reward(shaped, {.step = 7, .steps = 8, .progress = 0}, Standing::wrong), -0.5);
}

TEST(Reward, TheConstantOneForgetsTheProgress) {
  const RewardDef& constant = *find_reward("constant");
  for (const double progress : {0.0, 0.5, 1.0}) {
    EXPECT_DOUBLE_EQ(reward(constant, {.progress = progress}, Standing::no_build), -1);
    EXPECT_DOUBLE_EQ(reward(constant, {.progress = progress}, Standing::wrong), -0.5);
  }
}

// Stop is worth 0. Of the default one a step that is harmless earns its criteria, as the formula has it.
TEST(Reward, OfTheFrugalOneStopIsBestWhereNothingIsGained) {
  const RewardDef &frugal = *find_reward("frugal"), &shaped = *find_reward("shaped");
  Rng rng(3);
  for (int i = 0; i < kDraws; ++i) {
    Moment moment = drawn(rng);
    const double slower = moment.before * (1 + 1e2 * rng.uniform()), faster = moment.before * 0.98;
    EXPECT_LT(reward(frugal, moment, Standing::right, slower), 0);
    EXPECT_GT(reward(frugal, moment, Standing::right, faster), 0);
    EXPECT_EQ(reward(frugal, moment, Standing::right, faster), reward(shaped, moment, Standing::right, faster));
    moment.revisited = true;
    EXPECT_LT(reward(frugal, moment, Standing::right, faster), 0);
    EXPECT_EQ(reward(shaped, moment, Standing::right, faster), 0);
  }
  EXPECT_GT(reward(shaped, {.step = 1, .steps = 8}, Standing::right, 1.2), 0);
}

TEST(Reward, KeepsThePapersOrder) {
  for (const RewardDef* def : all_rewards()) {
    Rng rng(7);
    for (int i = 0; i < kDraws; ++i) {
      const Moment moment = drawn(rng);
      const double faster = moment.before * (0.01 + 0.98 * rng.uniform()),
                   slower = moment.before * (1.01 + 1e3 * rng.uniform());
      const double no_build = reward(*def, moment, Standing::no_build), wrong = reward(*def, moment, Standing::wrong);
      const double slow = reward(*def, moment, Standing::right, slower),
                   fast = reward(*def, moment, Standing::right, faster);
      EXPECT_LT(no_build, wrong) << def->name << " draw " << i;
      EXPECT_LT(wrong, slow) << def->name << " draw " << i;
      EXPECT_LT(slow, fast) << def->name << " draw " << i;
      EXPECT_LT(fast, reward(*def, moment, Standing::right, faster / 2)) << def->name << " draw " << i;
    }
  }
}

TEST(Reward, GrowsWithTheLogarithmOfTheGain) {
  for (const RewardDef* def : all_rewards()) {
    const Moment moment{.step = 3, .steps = 8};
    const double once = reward(*def, moment, Standing::right, 0.5), twice = reward(*def, moment, Standing::right, 0.25),
                 thrice = reward(*def, moment, Standing::right, 0.125);
    EXPECT_NEAR(twice - once, thrice - twice, 1e-12) << def->name;
  }
}

TEST(Reward, FadesWithTheSteps) {
  for (const RewardDef* def : all_rewards())
    for (int step = 0; step < 7; ++step)
      EXPECT_GT(reward(*def, {.step = step, .steps = 8}, Standing::right, 0.5),
                reward(*def, {.step = step + 1, .steps = 8}, Standing::right, 0.5))
          << def->name;
}

TEST(Reward, PaysNothingForAStateThatWasThere) {
  for (const RewardDef* def : all_rewards()) {
    const Payment payment = def->of({}, {.after = 0.1, .revisited = true});
    EXPECT_LE(payment.reward, 0) << def->name;
    EXPECT_EQ(payment.gain, 0) << def->name;
  }
}

// However an episode wanders between slow and fast states, the gains that it is paid for are no more than what its best
// state gained.
TEST(Reward, PaysNoGainTwice) {
  for (const RewardDef* def : all_rewards()) {
    Rng rng(11);
    for (int i = 0; i < kDraws; ++i) {
      double paid = 1, gains = 0, best = 1;
      for (int step = 0; step < 12; ++step) {
        const Moment moment{.step = step,
                            .steps = 12,
                            .progress = rng.uniform(),
                            .before = paid,
                            .after = std::exp(6 * rng.uniform() - 3),
                            .revisited = rng.below(4) == 0};
        const Payment payment = def->of({}, moment);
        gains += payment.gain, paid *= std::exp(-payment.gain), best = std::min(best, moment.after);
      }
      EXPECT_LE(gains, -std::log(best) + 1e-9) << def->name << " draw " << i;
    }
  }
}

TEST(Reward, OptionsAreReadByName) {
  const auto read = reward_options(Json::parse(R"({"gain": 2, "no_build": -3})"));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->gain, 2);
  EXPECT_EQ(read->no_build, -3);
  EXPECT_EQ(read->correct, RewardOptions{}.correct);
  EXPECT_FALSE(reward_options(Json::parse(R"({"gian": 2})")).ok());
  EXPECT_FALSE(reward_options(Json::parse(R"({"wrong": 0.1})")).ok());
  EXPECT_FALSE(reward_options(Json::parse(R"({"no_build": -0.1})")).ok());
}

}  // namespace
}  // namespace mtmc
