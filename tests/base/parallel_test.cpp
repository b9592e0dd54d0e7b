#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace mtmc {
namespace {

TEST(InParallel, EveryPieceIsDoneOnce) {
  for (const size_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> done(count);
    in_parallel(count, [&](size_t i) { ++done[i]; });
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(done[i], 1) << i << " of " << count;
  }
}

TEST(InParallel, AnExceptionIsThrownAgainWhenAllIsDone) {
  std::atomic<int> done = 0;
  const auto work = [&](size_t i) {
    ++done;
    if (i == 3) throw std::runtime_error("the fourth");
  };
  EXPECT_THROW(in_parallel(100, work), std::runtime_error);
  EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace mtmc
