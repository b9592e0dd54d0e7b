#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/cores.h"

namespace mtmc {
namespace {

TEST(InParallel, EveryPieceIsDoneOnce) {
  for (const size_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> done(count);
    in_parallel(count, [&](size_t i) { ++done[i]; });
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(done[i], 1) << i << " of " << count;
  }
}

// Whether as many pieces as there are cores are done at once. Each waits for all others: no matter of speed.
bool all_at_once() {
  const size_t cores = usable_cores().size();
  std::mutex lock;
  std::condition_variable arrival;
  size_t arrived = 0;
  std::atomic<bool> all = true;
  in_parallel(cores, [&](size_t) {
    std::unique_lock held(lock);
    ++arrived;
    arrival.notify_all();
    if (!arrival.wait_for(held, std::chrono::seconds(20), [&] { return arrived == cores || !all; })) all = false;
  });
  return all;
}

TEST(InParallel, APieceOfSharedWorkIsOneThread) {
  for (const bool fails : {false, true}) {
    const auto work = [&](size_t) {
      const auto own = std::this_thread::get_id();
      in_parallel(8, [&](size_t) { EXPECT_EQ(std::this_thread::get_id(), own); });
      if (fails) throw std::runtime_error("a piece");
    };
    if (usable_cores().size() > 1) {  // else nothing is shared
      if (fails) {
        EXPECT_THROW(in_parallel(2, work), std::runtime_error);
      } else {
        in_parallel(2, work);
      }
    }
    EXPECT_TRUE(all_at_once()) << "afterwards";
  }
  in_parallel(1, [](size_t) { EXPECT_TRUE(all_at_once()) << "nobody shares a single piece"; });
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
