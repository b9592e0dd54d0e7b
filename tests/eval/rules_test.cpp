#include "eval/rules.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mtmc {
namespace {

// A float output that is as good as eager with a budget of 1e-6.
Measurement good() {
  Measurement m;
  m.output = "0", m.dtype = "float32", m.floating = true;
  m.error = 1e-6, m.norm_truth = 10, m.max_error = 1e-6, m.max_truth = 1;
  return m;
}

Measurement integers(int64_t wrong, double gap) {
  Measurement m;
  m.output = "0", m.dtype = "int64", m.wrong = wrong, m.gap = gap;
  return m;
}

Budget budget() {
  Budget b;
  b.error = 1e-6, b.max_error = 1e-6;
  return b;
}

std::string broken(const Measurement& m) { return apply_rules("task-0", m, budget()).broken; }

TEST(Rules, limits_follow_eager_and_the_type_of_the_output) {
  EXPECT_DOUBLE_EQ(error_limit(budget(), "float32"), 2e-6 + 0x1p-21 + 0x1p-24);
  EXPECT_DOUBLE_EQ(error_limit(budget(), "float16"), 2e-6 + 0x1p-21 + 0x1p-11);
  EXPECT_DOUBLE_EQ(error_limit(budget(), "bfloat16"), 2e-6 + 0x1p-21 + 0x1p-9);
  EXPECT_DOUBLE_EQ(max_limit(budget(), "float32", 3), 4e-6 + (0x1p-21 + 0x1p-24) * 3);
}

TEST(Rules, a_norm_wise_error) {
  EXPECT_EQ(broken(good()), "");
  Measurement m = good();
  m.error = 2.6e-6;
  EXPECT_EQ(broken(m), "a");
  m.error = NAN;
  EXPECT_EQ(broken(m), "a");
}

TEST(Rules, b_one_bad_element) {
  Measurement m = good();
  m.max_error = 4.6e-6;
  EXPECT_EQ(broken(m), "b");
}

TEST(Rules, c_non_finite_elements) {
  Measurement m = good();
  m.nonfinite = 1;
  EXPECT_EQ(broken(m), "c");
  EXPECT_EQ(reason_of(apply_rules("d", m, budget()), m), "non-finite");
  m = good(), m.mismatched = 1;
  EXPECT_EQ(broken(m), "c");
}

TEST(Rules, d_integers_and_ties) {
  EXPECT_EQ(broken(integers(0, 0)), "");
  EXPECT_EQ(broken(integers(1, 0)), "d");
  EXPECT_EQ(broken(integers(0, 1e-7)), "");
  EXPECT_EQ(broken(integers(0, 1e-3)), "d");
}

TEST(Rules, e_shapes_and_types) {
  Measurement m;
  m.output = "0", m.mismatch = "wrong-dtype", m.detail = "float16 instead of float32";
  EXPECT_EQ(broken(m), "e");
  EXPECT_EQ(reason_of(apply_rules("d", m, budget()), m), "wrong-dtype");
}

TEST(Rules, a_truth_of_zero_wants_zeros) {
  Measurement m = good();
  m.norm_truth = 0, m.error.reset(), m.max_truth = 0;
  EXPECT_EQ(broken(m), "");
  m.nonzero = 3;
  EXPECT_EQ(broken(m), "a");
}

TEST(Rules, a_budget_above_five_percent_proves_nothing) {
  Budget wide = budget();
  wide.error = 0.06;
  EXPECT_FALSE(apply_rules("task-0", good(), wide).counts);
  EXPECT_TRUE(apply_rules("task-0", good(), budget()).counts);
}

TEST(Rules, reasons_tell_precision_from_wrong_results) {
  Measurement m = good();
  m.error = 3e-4;
  EXPECT_EQ(reason_of(apply_rules("d", m, budget()), m), "precision");
  m.error = 0.5;
  EXPECT_EQ(reason_of(apply_rules("d", m, budget()), m), "wrong-result");
  m.poison = 4;
  EXPECT_EQ(reason_of(apply_rules("d", m, budget()), m), "unwritten-output");
  m.poison = 0, m.output = "state:norm.running_mean";
  EXPECT_EQ(reason_of(apply_rules("d", m, budget()), m), "state-differs");
}

TEST(Rules, the_budget_is_the_worst_of_eagers_runs) {
  Measurement other = good();
  other.error = 5e-6, other.max_error = 2e-7;
  const Budgets worst = worst_of({{good()}, {other}});
  EXPECT_DOUBLE_EQ(worst.at("0").error, 5e-6);
  EXPECT_DOUBLE_EQ(worst.at("0").max_error, 1e-6);
  EXPECT_TRUE(worst.at("0").finite);
  other.nonfinite = 1;
  EXPECT_FALSE(worst_of({{good()}, {other}}).at("0").finite);
}

TEST(Rules, structured_draws_count_when_eager_is_finite_and_not_much_worse) {
  Budget near = budget(), far = budget(), infinite = budget();
  near.error = 9e-5, far.error = 2e-4, infinite.finite = false;
  const Budgets task = {{"0", budget()}};
  EXPECT_TRUE(structured_counts({{"0", near}}, task));
  EXPECT_FALSE(structured_counts({{"0", far}}, task));
  EXPECT_FALSE(structured_counts({{"0", infinite}}, task));
}

TEST(Rules, official_accepts_what_lies_within_allclose) {
  Measurement m = good();
  EXPECT_TRUE(official_passes({m}));
  m.official_bad = 1;
  EXPECT_FALSE(official_passes({m}));
  EXPECT_TRUE(legacy_passes({m}));
  m.legacy_bad = 1;
  EXPECT_FALSE(legacy_passes({m}));
}

TEST(Rules, a_null_must_pass_every_draw_to_degrade_a_task) {
  Measurement zeros = good();
  const std::map<std::string, Budgets> budgets = {{"a", {{"0", budget()}}}, {"b", {{"0", budget()}}}};
  EXPECT_TRUE(passes_everywhere({{"a", {zeros}}, {"b", {zeros}}}, budgets));
  Measurement far = good();
  far.error = 1;
  EXPECT_FALSE(passes_everywhere({{"a", {zeros}}, {"b", {far}}}, budgets));
  EXPECT_FALSE(passes_everywhere({}, budgets));
}

TEST(Rules, accuracy_classes) {
  const Budgets budgets = {{"0", budget()}};
  Measurement m = good();
  m.exact = true;
  EXPECT_EQ(accuracy_class({m}, budgets), "exact");
  m.exact = false;
  EXPECT_EQ(accuracy_class({m}, budgets), "fp32");
  m.error = 5e-4;
  EXPECT_EQ(accuracy_class({m}, budgets), "tf32");
  m.error = 3e-3;
  EXPECT_EQ(accuracy_class({m}, budgets), "half");
}

TEST(Rules, clocks_agree_within_half_and_fifty_microseconds) {
  EXPECT_TRUE(clock_agrees(1.0, 1.5, 0));
  EXPECT_TRUE(clock_agrees(0.01, 0.06, 0));
  EXPECT_TRUE(clock_agrees(0.01, 0.20, 0.15));
  EXPECT_FALSE(clock_agrees(1.0, 1.6, 0));
  EXPECT_FALSE(clock_agrees(0.0, 0.5, 0.1));
}

TEST(Rules, nothing_moves_bytes_at_twice_the_speed_of_a_copy) {
  EXPECT_FALSE(faster_than_physics(10, 1e9, 1e11, 1e8));
  EXPECT_TRUE(faster_than_physics(4, 1e9, 1e11, 1e8));
  EXPECT_FALSE(faster_than_physics(0.001, 1e6, 1e11, 1e8)) << "caches may hold a megabyte";
}

TEST(Rules, a_mask_is_held_to_the_fractions_of_eagers_masks) {
  std::vector<Fractions> eager;
  for (const double dropped : {29900, 30100, 30000, 30200, 29800}) {
    eager.push_back({{"dropped", {dropped, 100000}}, {"like the next", {58000, 100000}}});
  }
  const auto with = [](double dropped, double next) {
    return Fractions{{"dropped", {dropped, 100000}}, {"like the next", {next, 100000}}};
  };
  EXPECT_EQ(unlike_eager(with(30500, 57500), eager), "");
  EXPECT_NE(unlike_eager(with(27000, 58000), eager), "");
  EXPECT_NE(unlike_eager(with(30000, 95000), eager), "");
  EXPECT_EQ(unlike_eager({{"dropped", {0, 0}}}, eager), "") << "nothing that could be dropped";
}

TEST(Rules, few_pairs_of_a_mask_prove_little) {
  const auto pairs = [](double hits, double of) {
    return Fractions{{"dropped", {80, 256}}, {"like the one below", {hits, of}}};
  };
  EXPECT_EQ(unlike_eager(pairs(2, 2), {pairs(1, 2), pairs(1, 2)}), "");
  EXPECT_EQ(unlike_eager(pairs(0, 3), {pairs(2, 2), pairs(3, 3), pairs(2, 2)}), "");
  EXPECT_NE(unlike_eager(pairs(200, 200), {pairs(116, 200), pairs(120, 200), pairs(112, 200)}), "");
}

}  // namespace
}  // namespace mtmc
