#include "learn/times.h"

#include <gtest/gtest.h>

#include "eval/stats.h"

namespace mtmc {
namespace {

Verdict measured(std::vector<double> candidate, std::vector<double> eager) {
  Verdict verdict;
  verdict.outcome = Outcome::certified;
  verdict.times["candidate"] = summarize(std::move(candidate));
  verdict.times["eager"] = summarize(std::move(eager));
  verdict.speedup["eager"] = speedup_of(verdict.times["eager"], verdict.times["candidate"]);
  return verdict;
}

TEST(SteadyTime, CallsThatWaitedCountForNothing) {
  // Nine calls of eager, five of which waited for 4 ms: the median of the ratios says 10 times as fast.
  const Verdict verdict = measured({.5, .5, .5, .5, .5, .5, .5, .5, .5}, {.9, .9, 5, 5, 5, 5, .9, 5, .9});
  EXPECT_GT(speedup_over(verdict, "eager")->median, 9);
  EXPECT_DOUBLE_EQ(steady_time(verdict, 1), .5 / .9);
}

TEST(SteadyTime, EagerThatAlwaysWaitedCountsForLittleMore) {
  const Verdict verdict = measured({.5, .5, .5}, {5, 5, 5});
  EXPECT_DOUBLE_EQ(steady_time(verdict, 1), .5 / 1.4);
  EXPECT_DOUBLE_EQ(steady_time(verdict, 4.5), .1);
  EXPECT_DOUBLE_EQ(steady_time(verdict, 0), .1) << "nothing else is known of it";
}

TEST(SteadyTime, WithoutSamplesTheSpeedupStands) {
  Verdict verdict;
  verdict.outcome = Outcome::certified;
  verdict.speedup["eager"] = exactly(4);
  EXPECT_DOUBLE_EQ(steady_time(verdict, 1), .25);
  EXPECT_DOUBLE_EQ(steady_time(Verdict{}, 1), 1) << "refused";
}

}  // namespace
}  // namespace mtmc
