#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
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

TEST(InParallel, AnExceptionIsThrownAgainWhenAllThreadsHaveEnded) {
  std::atomic<int> at_work = 0;
  const auto work = [&](size_t i) {
    ++at_work;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --at_work;
    if (i % 7 == 3) throw std::runtime_error("the fourth");
  };
  EXPECT_THROW(in_parallel(100, work), std::runtime_error);
  EXPECT_EQ(at_work, 0);
}

}  // namespace
}  // namespace mtmc
