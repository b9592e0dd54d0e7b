#include "eval/stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/rng.h"

namespace mtmc {
namespace {

TEST(Stats, median_and_spread_ignore_one_outlier) {
  const Timing timing = summarize({3, 1, 2, 100, 2});
  EXPECT_DOUBLE_EQ(timing.median_ms, 2);
  EXPECT_DOUBLE_EQ(timing.spread_ms, 1);
  EXPECT_EQ(timing.samples_ms, (std::vector<double>{3, 1, 2, 100, 2})) << "the order measured is kept";
}

TEST(Stats, quantiles_interpolate) {
  EXPECT_DOUBLE_EQ(quantile({1, 2}, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1.0), 4);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.25), 7);
}

TEST(Stats, a_shift_is_seen_through_strays) {
  std::vector<double> samples, others;
  Rng rng(7);
  for (int i = 0; i < 20; ++i) {
    const auto stray = [&] { return rng.below(3) == 0 ? 4.0 : 0.0; };
    others.push_back(0.5 + 0.01 * rng.uniform() + stray()), samples.push_back(0.7 + 0.01 * rng.uniform() + stray());
  }
  const Shift shift = shift_of(samples, others, 2);
  EXPECT_NEAR(shift.middle, 0.2, 0.02);
  EXPECT_NEAR(shift.low, 0.18, 0.03) << "their quartiles are four apart";
  EXPECT_LT(shift_of(samples, others, 3.29).low, shift.low);
  EXPECT_DOUBLE_EQ(shift_of({3}, {1}, 3.29).low, 2) << "no surer than the fewest samples allow";
}

TEST(Stats, chance_is_fishers) {
  // A lady who tells four cups of tea from four others is right by chance once in 70 times.
  EXPECT_NEAR(chance_of_so_many(4, 4, 0, 4), 1.0 / 70, 1e-12);
  EXPECT_NEAR(chance_of_so_many(3, 4, 1, 4), 17.0 / 70, 1e-12);
  EXPECT_NEAR(chance_of_so_many(0, 4, 4, 4), 1, 1e-12);
}

// --- intervals ------------------------------------------------------------------------------------------------------

Timing of(const std::vector<double>& samples_ms) { return summarize(samples_ms); }

// Ten rounds whose ratios are 1 to 10.
Speedup one_to_ten(double level) {
  return speedup_of(of({4, 1, 3, 2, 10, 9, 5, 8, 6, 7}), of(std::vector<double>(10, 1)), level);
}

TEST(Speedup, IsThePairedMedianBetweenOrderStatistics) {
  const Speedup screen = one_to_ten(0.95), certify = one_to_ten(0.99);
  EXPECT_DOUBLE_EQ(screen.median, std::sqrt(30)) << "in the middle of 5 and 6, the same seen from either side";
  EXPECT_DOUBLE_EQ(screen.low, 2)
      << "fewer than 2 of 10 coins show heads in 1.1 % of all throws, fewer than 3 in 5.5 %";
  EXPECT_DOUBLE_EQ(screen.high, 9);
  EXPECT_DOUBLE_EQ(certify.low, 1);
  EXPECT_DOUBLE_EQ(certify.high, 10);
}

TEST(Speedup, FortyRoundsLeaveElevenOutsideOnEachSide) {
  std::vector<double> eager;
  for (int i = 1; i <= 40; ++i) eager.push_back(i);
  const Speedup speedup = speedup_of(of(eager), of(std::vector<double>(40, 1)), 0.99);
  EXPECT_DOUBLE_EQ(speedup.low, 12);  // as in any table of the sign test: 11 of 40 at 1 %, two-sided
  EXPECT_DOUBLE_EQ(speedup.high, 29);
}

TEST(Speedup, TooFewRoundsVouchForNothing) {
  const Speedup seven = speedup_of(of(std::vector<double>(7, 3)), of(std::vector<double>(7, 1)), 0.99);
  EXPECT_DOUBLE_EQ(seven.median, 3);
  EXPECT_EQ(seven.low, 0);
  EXPECT_EQ(seven.high, std::numeric_limits<double>::infinity());
  EXPECT_EQ(claim(seven), Claim::unclear);
  const Speedup eight = speedup_of(of(std::vector<double>(8, 3)), of(std::vector<double>(8, 1)), 0.99);
  EXPECT_DOUBLE_EQ(eight.low, 3);
}

TEST(Speedup, SeenFromTheOtherSideIsTheReciprocal) {
  const Timing a = of({4, 1, 3, 2, 10, 9, 5, 8}), b = of({2, 2, 3, 7, 1, 4, 6, 5});
  const Speedup there = speedup_of(a, b, 0.95), back = speedup_of(b, a, 0.95);
  EXPECT_NEAR(there.median * back.median, 1, 1e-12);
  EXPECT_NEAR(there.low * back.high, 1, 1e-12);
}

TEST(Speedup, ADriftOfTheWholeMachineCancels) {
  std::vector<double> eager, candidate;
  for (int i = 0; i < 30; ++i) candidate.push_back(1 + 0.1 * i), eager.push_back(2 * candidate.back());
  const Speedup speedup = speedup_of(of(eager), of(candidate));
  EXPECT_NEAR(speedup.low, 2, 1e-12);
  EXPECT_NEAR(speedup.high, 2, 1e-12);
}

// --- busy machines --------------------------------------------------------------------------------------------------

// What one call takes: `work` ms on a machine whose state lives on from call to call.
using Machine = std::function<double(double work, int round)>;

Machine jittery(Rng& rng) {
  return [&](double work, int) { return work * (0.95 + 0.1 * rng.uniform()); };
}
Machine bimodal(Rng& rng) {  // a neighbour holds the other half of the core in two of five calls
  return [&](double work, int) { return work * (rng.below(5) < 2 ? 2.2 : 1) * (0.95 + 0.1 * rng.uniform()); };
}
Machine bursts(Rng& rng) {  // others come for about six calls and take all they can get
  return [&, left = 0](double work, int) mutable {
    if (left == 0 && rng.below(15) == 0) left = 1 + static_cast<int>(rng.below(12));
    if (left == 0) return work * (0.97 + 0.06 * rng.uniform());
    --left;
    return work * (1 + 30 * rng.uniform());
  };
}
Machine drifting(Rng& rng) {  // it warms up, and slows down for good
  return [&](double work, int round) { return work * (1 + 0.03 * round) * (0.9 + 0.2 * rng.uniform()); };
}

struct Series {
  std::vector<double> eager, candidate;
  void add(const Machine& machine, Rng& rng, double times, int rounds) {
    for (; rounds > 0; --rounds) {
      const int round = static_cast<int>(eager.size());
      const bool first = rng.below(2) == 0;  // the judge draws the order, too
      if (first) eager.push_back(machine(times, round));
      candidate.push_back(machine(1, round));
      if (!first) eager.push_back(machine(times, round));
    }
  }
  Speedup speedup(Tier tier) const { return speedup_of(of(eager), of(candidate), level_of(tier)); }
};

// All rounds that the judge would measure.
Series measured(const Machine& machine, Rng& rng, double times, Tier tier, int planned) {
  Series series;
  for (int more = planned; more > 0; more = further_rounds(of(series.eager), of(series.candidate), tier, planned, 0))
    series.add(machine, rng, times, more);
  return series;
}

struct Kind {
  const char* name;
  Machine (*machine)(Rng&);
};

class BusyMachine : public ::testing::TestWithParam<Kind> {};

// Nearly: looking at the interval to decide whether to go on costs a little.
TEST_P(BusyMachine, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  constexpr int kRuns = 1000;
  for (const auto& [tier, planned] : {std::pair{Tier::screen, 10}, std::pair{Tier::certify, 30}}) {
    Rng rng(7);
    const Machine machine = GetParam().machine(rng);
    int held = 0, claimed = 0;
    for (int run = 0; run < kRuns; ++run) {
      const Speedup same = measured(machine, rng, 1, tier, planned).speedup(tier);
      held += same.low <= 1 && same.high >= 1;
      claimed += headline(same) > 1;
    }
    EXPECT_GE(held, kRuns * (1 - 1.4 * (1 - level_of(tier)))) << GetParam().name << " " << to_string(tier);
    EXPECT_LE(claimed, kRuns * (1 - level_of(tier)) / 2 + 8) << "the same module is no speedup";
  }
}

TEST_P(BusyMachine, WhatIsFourTimesAsFastIsSeenToBeFaster) {
  Rng rng(3);
  const Machine machine = GetParam().machine(rng);
  int seen = 0, over = 0;
  for (int run = 0; run < 100; ++run) {
    const Speedup four = measured(machine, rng, 4, Tier::certify, 30).speedup(Tier::certify);
    seen += headline(four) > 1, over += headline(four) > 4.4;
  }
  EXPECT_GE(seen, 99) << GetParam().name;
  EXPECT_LE(over, 1) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Speedup, BusyMachine,
                         ::testing::Values(Kind{"jittery", jittery}, Kind{"bimodal", bimodal}, Kind{"bursts", bursts},
                                           Kind{"drifting", drifting}),
                         [](const auto& kind) { return std::string(kind.param.name); });

// --- how long measuring pays ----------------------------------------------------------------------------------------

TEST(FurtherRounds, AnIdleMachineNeedsNone) {
  Rng rng(1);
  Series series;
  series.add([&](double work, int) { return work * (1 + 0.01 * rng.uniform()); }, rng, 1.5, 10);
  EXPECT_EQ(further_rounds(of(series.eager), of(series.candidate), Tier::screen, 10, 0), 0);
}

TEST(FurtherRounds, GoOnWhileTheIntervalShrinksAndEndAtTheLimit) {
  Rng rng(5);
  for (const Tier tier : {Tier::screen, Tier::certify}) {
    int longer = 0;
    for (int run = 0; run < 50; ++run) {
      const size_t rounds = measured(bimodal(rng), rng, 3, tier, 20).eager.size();
      EXPECT_LE(rounds, static_cast<size_t>(most_rounds(tier, 20)));
      longer += rounds > 20;
    }
    EXPECT_GT(longer, 25) << to_string(tier);
  }
}

TEST(FurtherRounds, DoNotPayForWhatIsSlower) {
  Rng rng(5);
  Series series;
  series.add(bimodal(rng), rng, 0.1, 20);
  ASSERT_FALSE(narrow(series.speedup(Tier::screen)));
  EXPECT_EQ(further_rounds(of(series.eager), of(series.candidate), Tier::screen, 20, 0), 0);
}

TEST(FurtherRounds, DoNotPayWhereTheyOnlyMakeItWider) {
  std::vector<double> eager, candidate(40, 1);
  for (int i = 0; i < 40; ++i) eager.push_back(i < 20 ? 2 + 0.01 * i : i % 2 ? 0.1 : 60);
  EXPECT_EQ(further_rounds(of(eager), of(candidate), Tier::certify, 30, 0), 0);
}

TEST(TakeLonger, AddsToEveryCallAndToWhatIsSaidOfThem) {
  Verdict verdict;
  verdict.tier = Tier::screen;
  verdict.times["candidate"] = of(std::vector<double>(9, 0.5)), verdict.times["eager"] = of(std::vector<double>(9, 1));
  verdict.time_ms = 0.5, verdict.speedup["eager"] = exactly(2);
  take_longer(verdict, 0.3);
  EXPECT_DOUBLE_EQ(*verdict.time_ms, 0.8);
  EXPECT_DOUBLE_EQ(verdict.speedup.at("eager").median, 1.25);
  EXPECT_EQ(verdict.times.at("candidate").samples_ms, std::vector<double>(9, 0.8));
}

TEST(FurtherRounds, AreNotBoughtForLong) {
  std::vector<double> eager, candidate;
  for (int i = 0; i < 10; ++i) eager.push_back(2.0 + i % 3), candidate.push_back(1.0 + i % 2);
  for (const auto& [tier, seconds] : {std::pair{Tier::screen, 2}, std::pair{Tier::certify, 10}}) {
    EXPECT_GT(further_rounds(of(eager), of(candidate), tier, 10, seconds - 0.1), 0);
    EXPECT_EQ(further_rounds(of(eager), of(candidate), tier, 10, seconds + 0.1), 0);
  }
}

}  // namespace
}  // namespace mtmc
