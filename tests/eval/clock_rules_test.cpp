// The clock inside a process against the one outside: what is believed, what is charged, and who is refused.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "eval/rules.h"
#include "eval/stats.h"

namespace mtmc {
namespace {

// Twenty rounds: an honest clock differs from the outside one by what a call costs besides, and its noise.
SeriesMs clocks(const std::function<double(int)>& said, const std::function<double(int)>& seen) {
  SeriesMs found;
  for (int i = 0; i < 20; ++i) {
    found["eager"].push_back(1.0 + 0.01 * (i % 3)), found["nothing"].push_back(0.02);
    found["candidate"].push_back(said(i)), found["seen"].push_back(seen(i));
  }
  return found;
}

ClockCheck check(const std::function<double(int)>& said, const std::function<double(int)>& seen, double worked = 0) {
  Clocks all;
  all.inside = all.outside = all.processor = clocks(said, seen), all.cores = 2;
  for (int i = 0; i < 20; ++i) {
    const size_t at = static_cast<size_t>(i);
    all.outside["eager"][at] += 0.3 + 0.01 * (i % 4), all.outside["nothing"][at] += 0.3 + 0.01 * (i % 4);
    all.outside["candidate"][at] = all.inside["seen"][at];
    all.processor["candidate"][at] = 2 * worked + 0.02;
  }
  return check_clocks(all);
}

TEST(ClockRules, an_honest_clock_is_believed_to_the_microsecond) {
  const ClockCheck honest = check([](int i) { return 0.5 + 0.001 * i; }, [](int i) { return 0.81 + 0.001 * i; });
  EXPECT_FALSE(honest.lies);
  EXPECT_NEAR(honest.samples_ms[7], 0.507, 1e-9);
  EXPECT_LT(honest.noise_ms, 0.05);
}

TEST(ClockRules, what_a_clock_hides_is_charged) {
  const ClockCheck shaved = check([](int) { return 0.8; }, [](int) { return 1.32; });  // a fifth is hidden
  EXPECT_FALSE(shaved.lies);
  EXPECT_NEAR(shaved.samples_ms[0], 1.0, 0.04);
  EXPECT_NEAR(shaved.apart_ms, 0.2, 0.02);
}

TEST(ClockRules, what_the_way_to_a_process_may_take_is_charged_and_refuses_nobody) {
  const auto said = [](int) { return 0.3; };
  const ClockCheck charged = check(said, [](int) { return 0.8; });
  EXPECT_FALSE(charged.lies);
  EXPECT_NEAR(charged.samples_ms[0], 0.48, 0.02);
  EXPECT_TRUE(check(said, [](int) { return 1.0; }).lies);
}

// A machine of others: a burst delays some calls in a row, whoever makes them, and each way by a little of its own. The
// candidate's way is `further` than honest ones; of its time it says so large a part.
Clocks among_others(double true_ms, double part, double further, double burst_ms, uint64_t seed) {
  Rng rng(seed);
  Clocks all;
  double delay = 0;
  for (int i = 0; i < 3 * 40; ++i) {
    if (rng.below(4) == 0) delay = rng.below(2) == 0 ? burst_ms * rng.uniform() : 0;
    const std::string engine = std::vector<std::string>{"candidate", "eager", "nothing"}[static_cast<size_t>(i % 3)];
    const bool own = engine == "candidate";
    const double took = own ? true_ms : engine == "eager" ? 1.0 : 0.001, way = 0.5 + 0.05 * rng.uniform() + delay;
    all.inside[engine].push_back(own ? took * part : took), all.processor[engine].push_back(0.1);
    all.outside[engine].push_back(took + way + (own ? further : 0));
  }
  return all;
}

TEST(ClockRules, a_busy_machine_refuses_no_honest_clock) {
  for (const double burst_ms : {0.0, 0.1, 1.0, 8.0}) {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const ClockCheck seen = check_clocks(among_others(0.16, 1, 0.12, burst_ms, seed));
      ASSERT_FALSE(seen.lies) << "bursts of " << burst_ms << " ms, " << seen.apart_ms << " apart, noise "
                              << seen.noise_ms;
      EXPECT_GE(median(seen.samples_ms), 0.16);
      EXPECT_LE(median(seen.samples_ms), 0.16 + std::max(0.0, seen.apart_ms) + 1e-9);
    }
  }
}

TEST(ClockRules, who_hides_too_little_to_be_refused_gains_nothing) {
  for (const double true_ms : {0.1, 0.2, 0.25}) {
    for (const double part : {0.0, 0.3, 0.5}) {
      for (uint64_t seed = 1; seed <= 50; ++seed) {
        const ClockCheck seen = check_clocks(among_others(true_ms, part, 0, 0, seed));
        EXPECT_TRUE(seen.parted && !seen.lies);
        EXPECT_NEAR(median(seen.samples_ms), true_ms, 0.02) << true_ms << " ms, of which it says " << part;
      }
    }
  }
}

TEST(ClockRules, a_clock_that_shows_part_of_the_time_gains_no_more_than_the_noise) {
  for (const double burst_ms : {0.0, 0.1, 1.0, 8.0}) {
    for (const double true_ms : {0.2, 1.0, 5.0}) {
      for (uint64_t seed = 1; seed <= 50; ++seed) {
        const ClockCheck seen = check_clocks(among_others(true_ms, 0.68, 0, burst_ms, seed));
        EXPECT_GE(median(seen.samples_ms), true_ms - 2 * seen.noise_ms) << "bursts of " << burst_ms << " ms";
        EXPECT_TRUE(seen.lies || burst_ms > 0 || true_ms < 5);
      }
    }
  }
}

TEST(ClockRules, a_clock_that_hides_much_in_a_third_of_the_calls_lies) {
  const auto seen = [](int) { return 1.32; };
  EXPECT_TRUE(check([](int) { return 0.5; }, seen).lies);
  EXPECT_TRUE(check([](int i) { return i % 2 ? 0.3 : 1.0; }, seen).lies);
  EXPECT_TRUE(check([](int) { return -1.0; }, seen).lies);
  const ClockCheck busy = check([](int) { return 1.0; }, [](int i) { return i % 5 ? 1.32 : 9.0; });
  EXPECT_FALSE(busy.lies) << "a machine that is busy now and then";
  EXPECT_NEAR(busy.samples_ms[1], 1.0, 0.01);
}

TEST(ClockRules, late_answers_that_chance_explains_are_neither_charged_nor_lies) {
  // Every tenth honest call is late, too.
  const auto late = [](int often) {
    Clocks all;
    for (int i = 0; i < 20; ++i) {
      for (const char* engine : {"eager", "nothing", "candidate"}) {
        const bool own = engine == std::string("candidate");
        all.inside[engine].push_back(1.0), all.processor[engine].push_back(0.02);
        all.outside[engine].push_back(1.3 + (own ? i % 20 < often : i % 10 == 0) * 4.0);
      }
    }
    return check_clocks(all);
  };
  const ClockCheck chance = late(7), lie = late(12);
  EXPECT_TRUE(chance.doubted) << "more rounds will tell";
  EXPECT_FALSE(chance.lies);
  EXPECT_NEAR(quantile(chance.samples_ms, 1), 1.0, 1e-9) << "not even the late ones";
  EXPECT_TRUE(lie.lies && lie.parted && !chance.parted);
  EXPECT_GT(quantile(lie.samples_ms, 1), 4.5) << "what lies beyond nine tenths of the honest gaps";
}

TEST(ClockRules, processor_time_tells_what_a_clock_hides_on_a_busy_machine) {
  const auto little = [](int) { return 0.32; };  // as much as a call without work
  EXPECT_FALSE(check([](int) { return 0.0; }, little).lies);
  const ClockCheck still = check([](int) { return 0.0; }, little, 0.3);
  EXPECT_TRUE(still.lies);
  EXPECT_GE(still.samples_ms[0], 0.3);
}

}  // namespace
}  // namespace mtmc
