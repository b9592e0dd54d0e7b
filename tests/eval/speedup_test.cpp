#include "eval/speedup.h"

#include <gtest/gtest.h>

#include <limits>

namespace mtmc {
namespace {

TEST(Claim, ANarrowIntervalHasItsMedian) {
  const Speedup s{1.84, 1.80, 1.88};
  EXPECT_EQ(claim(s), Claim::clear);
  EXPECT_EQ(headline(s), 1.84);
  EXPECT_EQ(say(s, "eager"), "1.84x eager");
}

TEST(Claim, AWideOneHasItsLowEnd) {
  const Speedup s{4.6, 4.21, 5.02};
  EXPECT_EQ(claim(s), Claim::at_least);
  EXPECT_EQ(headline(s), 4.21);
  EXPECT_EQ(say(s, "torch.compile"), "at least 4.21x torch.compile");
}

TEST(Claim, AnIntervalThatSaysNothingHasNoFigure) {
  const Speedup busy{35.67, 3, 51.7};
  EXPECT_EQ(claim(busy), Claim::faster);
  EXPECT_EQ(headline(busy), 3);
  EXPECT_EQ(say(busy, "eager"), "faster, but this machine was too busy to say by how much");
  const Speedup unknown{3.1, 0.17, 51.7};
  EXPECT_EQ(claim(unknown), Claim::unclear);
  EXPECT_EQ(headline(unknown), 0.17);
  EXPECT_EQ(say(unknown, "eager"), "this machine was too busy to compare it with eager");
  EXPECT_EQ(claim({2, 0, std::numeric_limits<double>::infinity()}), Claim::unclear);
}

TEST(Claim, NothingIsFasterThatMayBeSlower) {
  EXPECT_EQ(headline({1.01, 0.99, 1.03}), 0.99);
  EXPECT_EQ(claim({1.01, 0.99, 1.03}), Claim::clear);
  EXPECT_EQ(headline({0.99, 0.97, 1.01}), 0.99);
}

TEST(Claim, NearlyAsFastIsNotUnclear) {
  const Speedup s{1.03, 0.96, 1.1};
  EXPECT_EQ(claim(s), Claim::at_least);
  EXPECT_EQ(headline(s), 0.96);
}

TEST(Claim, SlowerIsSlowerHoweverWide) { EXPECT_EQ(say({0.5, 0.2, 0.9}, "eager"), "0.20x to 0.90x eager"); }

}  // namespace
}  // namespace mtmc
