#include "eval/near_zero.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mtmc {
namespace {

// An output of `of` elements, some of which err by all of themselves.
Measurement erring(int64_t of, int64_t wholly, double error) {
  Measurement m;
  m.output = "0", m.dtype = "float32", m.floating = true;
  m.error = error, m.norm_truth = 10, m.max_error = error, m.max_truth = 1;
  m.elements.of = of, m.elements.beyond.fill(wholly);
  return m;
}

Budget eager_errs(double error) {
  Budget budget;
  budget.error = error, budget.max_error = error;
  return budget;
}

// On how many draws it is refused, of `draws`, where elements err wholly on every `every`th.
int refused(int64_t of, int64_t wholly, double error, int draws, int every) {
  NearZero near_zero;
  int count = 0;
  for (int i = 0; i < draws; ++i) {
    const Measurement m = erring(of, i % every == 0 ? wholly : 0, error);
    OutputError found = apply_rules(fmt::format("timed-{}", i), m, eager_errs(error));
    EXPECT_EQ(found.broken, "") << "on one draw alone it may be chance";
    near_zero.note(m, eager_errs(error), found);
    count += found.broken == "f";
  }
  return count;
}

TEST(NearZero, what_is_near_zero_by_chance_is_so_once_in_a_while) {
  EXPECT_EQ(refused(96, 1, 1e-4, 40, 8), 0);  // 0.04 expected of each
  EXPECT_GT(refused(96, 1, 1e-4, 40, 1), 30) << "an entry that is always left out";
  EXPECT_GT(refused(96, 2, 1e-4, 40, 2), 30) << "and one in every other call";
  EXPECT_GT(refused(2, 1, 1e-3, 5, 1), 1) << "two numbers, one of them wrong on five draws";
}

TEST(NearZero, what_there_is_room_for_on_each_draw_is_no_chance_at_all) {
  EXPECT_EQ(refused(1 << 20, 6, 0, 100, 1), 0) << "six of a million, beside normally distributed values";
}

// A clamp that binds on one kind of draws only: on 40 others nothing is wrong.
TEST(NearZero, what_is_wrong_on_all_draws_of_one_kind_is_no_chance) {
  NearZero near_zero;
  int refusals = 0;
  for (const char* kind : {"timed", "scaled-up"})
    for (int i = 0; i < (std::string(kind) == "timed" ? 40 : 5); ++i) {
      const Measurement m = erring(8, std::string(kind) == "timed" ? 0 : 1, 1e-3);
      OutputError found = apply_rules(fmt::format("{}-{}", kind, i), m, eager_errs(1e-3));
      EXPECT_EQ(found.broken, "");
      near_zero.note(m, eager_errs(1e-3), found);
      refusals += found.broken == "f";
      EXPECT_EQ(near_zero.met(found.draw), std::string(kind) == "scaled-up");
    }
  EXPECT_GT(refusals, 0);
}

TEST(NearZero, a_draw_counts_once) {
  NearZero near_zero;
  const Measurement m = erring(96, 2, 1e-4);
  for (int call = 0; call < 50; ++call) {
    OutputError found = apply_rules("task-0", m, eager_errs(1e-4));
    near_zero.note(m, eager_errs(1e-4), found);
    EXPECT_EQ(found.broken, "");
  }
}

TEST(NearZero, what_is_eagers_bit_for_bit_is_right) {
  NearZero near_zero;
  Measurement m = erring(2, 1, 1e-3);
  m.exact = true;
  for (int i = 0; i < 50; ++i) {
    OutputError found = apply_rules(fmt::format("task-{}", i), m, eager_errs(1e-3));
    near_zero.note(m, eager_errs(1e-3), found);
    EXPECT_EQ(found.broken, "");
  }
}

}  // namespace
}  // namespace mtmc
