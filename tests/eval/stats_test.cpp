#include "eval/stats.h"

#include <gtest/gtest.h>

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

TEST(Stats, speedup_is_a_ratio_of_medians) {
  EXPECT_DOUBLE_EQ(speedup_of(summarize({2, 2, 50}), summarize({1, 1, 1})), 2);
}

}  // namespace
}  // namespace mtmc
