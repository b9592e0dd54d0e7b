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
  b.error = b.eager = 1e-6, b.max_error = 1e-6;
  return b;
}

std::string broken(const Measurement& m) { return apply_rules("task-0", m, budget()).broken; }

TEST(Rules, limits_follow_eager_and_the_type_of_the_output) {
  EXPECT_DOUBLE_EQ(error_limit(budget(), "float32"), 2e-6 + 0x1p-21 + 0x1p-24);
  EXPECT_DOUBLE_EQ(error_limit(budget(), "float16"), 2e-6 + 0x1p-21 + 0x1p-11);
  EXPECT_DOUBLE_EQ(error_limit(budget(), "bfloat16"), 2e-6 + 0x1p-21 + 0x1p-9);
  EXPECT_DOUBLE_EQ(max_limit(budget(), "float32", 3), 4e-6 + (0x1p-21 + 0x1p-24) * 3);
  Budget exact = budget();
  exact.error = exact.eager = 1e-16;
  EXPECT_DOUBLE_EQ(error_limit(exact, "float64"), 2e-16 + 0x1p-42 + 0x1p-53);
  EXPECT_DOUBLE_EQ(error_limit(budget(), "float64"), 2e-6 + 0x1p-21 + 0x1p-53) << "fp32 within";
}

// In double the truth is what eager computes: its budget is nearly 0, whatever a sum in another order errs by.
TEST(Rules, a_and_b_of_doubles_leave_room_for_other_orders_and_none_for_single_precision) {
  const Budgets eager = worst_of({{good()}});
  EXPECT_DOUBLE_EQ(eager.at("0").eager, 1e-6);
  Measurement blocks = good();
  blocks.dtype = "float64", blocks.error = 9.3e-15, blocks.max_error = 8.1e-9, blocks.max_truth = 4.7e5;
  const Budget none;
  EXPECT_EQ(apply_rules("task-0", blocks, none).broken, "");
  Measurement single = blocks;
  single.error = 0x1p-26;
  EXPECT_EQ(apply_rules("task-0", single, none).broken, "a");
  single = blocks, single.max_error = 0x1p-26 * single.max_truth;
  EXPECT_EQ(apply_rules("task-0", single, none).broken, "b");
  Budgets moved = {{"0", none}};
  Budget other = budget();
  other.error = 1e-8, other.eager = 0;
  widen(moved, {{"0", other}});
  EXPECT_DOUBLE_EQ(error_limit(moved.at("0"), "float64"), 2e-8 + 0x1p-42 + 0x1p-53) << "half an ulp is not eager's own";
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
  EXPECT_TRUE(merely_not_finite(apply_rules("d", m, budget()), m, budget()));
  m = good(), m.mismatched = 1;
  EXPECT_EQ(broken(m), "c");
  m.error = 0.5, m.off = 0.5 * m.norm_truth;
  EXPECT_FALSE(merely_not_finite(apply_rules("d", m, budget()), m, budget())) << "the finite ones are wrong, too";
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

TEST(Rules, d_integers_are_no_further_off_than_eagers) {
  Budget rounds = budget();
  rounds.wrong = 12, rounds.distance = 1;
  Measurement m = integers(24, 0);
  m.distance = 2;
  EXPECT_EQ(apply_rules("task-0", m, rounds).broken, "");
  m.distance = 2e9;
  EXPECT_EQ(apply_rules("task-0", m, rounds).broken, "d");
}

TEST(Rules, d_an_ordering_has_each_index_once) {
  Measurement m = integers(0, 0);
  m.repeated = 1;
  EXPECT_EQ(broken(m), "d");
}

TEST(Rules, a_truth_of_zero_is_held_to_eagers_absolute_errors) {
  Measurement m = good();
  m.norm_truth = 0, m.error.reset(), m.max_truth = 0, m.off = 0, m.max_error = 0;
  EXPECT_EQ(broken(m), "");
  m.off = 1e-9, m.max_error = 1e-9;
  EXPECT_EQ(broken(m), "a") << "eager is 0";
  Budget rounding = budget();
  rounding.off = 1e-9;
  EXPECT_EQ(apply_rules("task-0", m, rounding).broken, "");
  m.off = 3e-9;
  EXPECT_EQ(apply_rules("task-0", m, rounding).broken, "a");
}

TEST(Rules, what_is_zero_but_for_rounding_is_held_to_eagers_absolute_errors) {
  Budget noise = budget();
  noise.error = 6e9, noise.off = 1e-8, noise.max_error = 5e-9;
  Measurement m = good();
  m.norm_truth = 1e-18, m.error = 1e10, m.off = 1e-8, m.max_error = 5e-9, m.max_truth = 1e-18;
  EXPECT_EQ(apply_rules("task-0", m, noise).broken, "");
  EXPECT_FALSE(apply_rules("task-0", m, noise).counts);
  m.off = 1e-3;
  EXPECT_EQ(apply_rules("task-0", m, noise).broken, "a");
  m.off = 1e-8, m.max_error = 1e-3;
  EXPECT_EQ(apply_rules("task-0", m, noise).broken, "b");
}

TEST(Rules, one_ill_conditioned_entry_never_decides_for_a_whole_task) {
  OutputError fine, ill;
  fine.draw = ill.draw = "task-0", fine.output = "0", ill.output = "1";
  ill.counts = false, ill.budget = 0.3;
  EXPECT_EQ(nothing_proven({fine, ill}), "");
  EXPECT_EQ(nothing_proven({ill}), "eager's own relative error in output 1 is 0.3 on draw task-0");
  OutputError moved = ill;
  moved.moved = true;
  EXPECT_EQ(nothing_proven({moved}), "half an ulp in the arguments changes output 1 by 0.3 of itself on draw task-0");
  ASSERT_EQ(unproven({fine, ill, ill}).size(), 1u);
  OutputError of_state = ill;
  of_state.output = "state:norm.running_mean";
  EXPECT_EQ(nothing_proven({fine, of_state}), "");
  fine.output = "state:norm.running_var";
  EXPECT_NE(nothing_proven({fine, ill}), "") << "a state proves nothing of what is returned";
}

TEST(Rules, what_is_bit_for_bit_eagers_is_right_unless_more_is_asked_for) {
  Measurement m = good();
  m.error = 1e-3, m.exact = true;
  EXPECT_EQ(broken(m), "");
  Budget strict = budget();
  strict.exact_suffices = false;
  EXPECT_EQ(apply_rules("task-0", m, strict).broken, "a");
}

TEST(Rules, few_runs_are_a_sample) {
  Measurement best = good(), worst = good();
  best.error = 1e-5, worst.error = 3e-5;
  EXPECT_DOUBLE_EQ(worst_of({{best}, {worst}}).at("0").spread, 3);
  EXPECT_DOUBLE_EQ(worst_of({{worst}, {worst}}).at("0").spread, 1);
  best.error = 0;
  const Budget wide = worst_of({{best}, {worst}}).at("0");
  EXPECT_DOUBLE_EQ(wide.spread, kMostSpread);
  EXPECT_DOUBLE_EQ(error_limit(wide, "float32"), 2 * kMostSpread * 3e-5 + 0x1p-21 + 0x1p-24);
  EXPECT_DOUBLE_EQ(max_limit(wide, "float32", 0), 2 * kMostSpread * 1e-6);
  worst.error = 0;
  EXPECT_DOUBLE_EQ(worst_of({{best}, {worst}}).at("0").spread, 1) << "eager is exact";
}

TEST(Rules, a_largest_element_that_scatters_makes_room_for_itself) {
  Measurement best = good(), worst = good();
  best.max_error = 1e-6, worst.max_error = 3e-6;
  const Budget heavy = worst_of({{best}, {worst}}).at("0");
  EXPECT_DOUBLE_EQ(heavy.max_spread, 3);
  EXPECT_DOUBLE_EQ(heavy.spread, 1);
  EXPECT_DOUBLE_EQ(max_limit(heavy, "float32", 0), 2 * 3 * 3e-6);
  EXPECT_DOUBLE_EQ(max_limit(worst_of({{worst}, {worst}}).at("0"), "float32", 0), 4 * 3e-6) << "twice at least";
}

TEST(Rules, other_orders_make_room_but_say_nothing_about_how_eager_scatters) {
  Budgets own = {{"0", budget()}};
  Budget other = budget();
  other.error = 1e-4, other.elements.beyond[3] = 7, other.spread = 4;
  const Budgets before = own;
  widen(own, {{"0", other}});
  EXPECT_DOUBLE_EQ(own.at("0").error, 1e-4);
  EXPECT_DOUBLE_EQ(own.at("0").spread, 1);
  EXPECT_EQ(own.at("0").elements.beyond[3], 7);
  ASSERT_EQ(dominated(before, {{"0", other}}, "half-ulp").size(), 1u);
  EXPECT_TRUE(dominated(before, {{"0", budget()}}, "half-ulp").empty());
}

TEST(Rules, what_sums_in_another_order_lose_altogether_nobody_may_lose) {
  Budget other = budget();
  other.error = 1, other.off = 100, other.max_error = 10, other.elements.beyond[0] = 9;
  Budgets own = {{"0", budget()}};
  widen_within_reason(own, {{"0", other}});
  EXPECT_DOUBLE_EQ(own.at("0").error, 16e-6);
  EXPECT_DOUBLE_EQ(own.at("0").off, 16e-4);
  EXPECT_DOUBLE_EQ(own.at("0").max_error, 16e-5);
  EXPECT_EQ(own.at("0").elements.beyond[0], 0);
  const auto widened = [&](double eager) {
    Budgets budgets = {{"0", budget()}};
    budgets.at("0").error = eager, other.error = 1e9;
    widen_within_reason(budgets, {{"0", other}});
    return budgets.at("0").error;
  };
  EXPECT_DOUBLE_EQ(widened(0.02), kIllConditioned);
  EXPECT_DOUBLE_EQ(widened(0.3), 0.3);
  EXPECT_DOUBLE_EQ(widened(1e6), 16e6) << "the truth is 0 but for rounding";
  other.error = 4e-6;
  own = {{"0", budget()}};
  widen_within_reason(own, {{"0", other}});
  EXPECT_DOUBLE_EQ(own.at("0").off, 100);
  EXPECT_EQ(own.at("0").elements.beyond[0], 9);
}

TEST(Rules, f_a_small_term_is_held_to_eagers_own_errors) {
  Budget eager = budget();
  Measurement m = good();
  m.elements.of = 1000, m.elements.beyond = {500, 500, 500, 500, 500, 500, 500, 500, 500};
  const OutputError missing = apply_rules("task-0", m, eager);
  EXPECT_EQ(missing.broken, "f");
  EXPECT_EQ(reason_of(missing, m), "wrong-result");
  EXPECT_NE(sentence_of(missing, m).find("500 of 1000 elements"), std::string::npos);
  m.elements.beyond = {0, 0, 0, 0, 0, 500, 500, 500, 500};
  EXPECT_EQ(reason_of(apply_rules("task-0", m, eager), m), "precision");
  eager.elements.beyond = {0, 0, 0, 0, 0, 0, 125, 500, 500};
  EXPECT_EQ(apply_rules("task-0", m, eager).broken, "") << "eager errs as much";
  m = good(), m.rows.of = 64, m.rows.beyond = {0, 0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(apply_rules("task-0", m, eager).broken, "") << "rows of one or two elements may lie near zero";
  m.elements.of = 64 * 16;
  EXPECT_EQ(apply_rules("task-0", m, eager).broken, "f");
}

TEST(Rules, f_elements_near_zero_may_err_by_all_of_themselves) {
  EXPECT_EQ(tail_limit({}, 0, 4, 0), 0);
  EXPECT_EQ(tail_limit({}, 2e-7, 1 << 20, 0), 6);        // 1 expected
  EXPECT_EQ(tail_limit({}, 0, 1 << 20, 5), 1024 + 128);  // 4^5 expected
  Tail eager;
  eager.beyond[1] = 10;
  EXPECT_EQ(tail_limit(eager, 0, 4, 0), 40);
}

// Means of a batch behind twenty layers: eager errs by 1e-4 of them, and by all of those that cancel.
TEST(Rules, f_as_many_lie_near_zero_as_an_error_like_eagers_reaches) {
  EXPECT_EQ(tail_limit({}, 1e-4, 96, 0), 2);  // 0.04 expected
  EXPECT_EQ(tail_limit({}, 1e-4, 1 << 20, 0), tail_limit({}, 0, 1 << 20, 0)) << "where many err, eager shows it";
  EXPECT_EQ(tail_limit({}, 0.01, 96, 3), 2);
}

// A large output: a slice of it is as good as eager, and so is what lies elsewhere.
Measurement sliced() {
  Measurement m = good();
  m.block_error = 1e-6, m.compared = 1000;
  m.elsewhere = Elsewhere{.numel = 9000,
                          .error = 1.4e-6,
                          .max_error = 1.4e-6,
                          .max_eager = 1,
                          .scale = 0.5,
                          .eager_error = 1e-6,
                          .eager_max_error = 1e-6};
  return m;
}

TEST(Rules, g_elsewhere_the_sum_of_both_budgets_is_allowed) {
  EXPECT_EQ(broken(sliced()), "");
  Measurement m = sliced();
  m.elsewhere->max_error = 5.4e-6;
  EXPECT_EQ(broken(m), "") << "4e-6 + 2^-21 + 2^-24 + 1e-6";
  m.elsewhere->max_error = 5.6e-6;
  EXPECT_EQ(broken(m), "g");
  EXPECT_EQ(reason_of(apply_rules("d", m, budget()), m), "precision");
  m.elsewhere->max_error = 0.5;
  EXPECT_EQ(reason_of(apply_rules("d", m, budget()), m), "wrong-result");
  m = sliced(), m.elsewhere->max_error = INFINITY;
  EXPECT_EQ(broken(m), "g");
  Budget blocks = budget();
  blocks.block_error = 1e-6;
  m = sliced(), m.elsewhere->error = 3.5e-6;
  EXPECT_EQ(apply_rules("d", m, blocks).broken, "");
  m.elsewhere->error = 3.6e-6;
  EXPECT_EQ(apply_rules("d", m, blocks).broken, "g");
}

TEST(Rules, g_where_eager_itself_is_far_off_as_much_is_allowed) {
  Measurement m = sliced();
  m.max_error = 1e-3, m.elsewhere->eager_max_error = 3e-4;
  EXPECT_EQ(broken(m), "");
  Budget strict = budget();
  strict.exact_suffices = false;
  EXPECT_EQ(apply_rules("d", m, strict).broken, "b") << "more than eager is asked for";
  // Few rows of ill-conditioned draws (attention scores that are nearly equal) are wrong: none of them in the slices of
  // the budget, some where eager is far from the candidate. Of whoever is no worse there nothing else may be asked in
  // blocks.
  m = sliced(), m.elsewhere->eager_error = 0.025, m.elsewhere->error = 0.0261;
  EXPECT_EQ(broken(m), "") << "what it and eager may err there together: three times what eager does";
  m.elsewhere->error = 0.076;
  EXPECT_EQ(broken(m), "g");
  m.elsewhere->error = 0.0261;
  EXPECT_EQ(apply_rules("d", m, strict).broken, "g");
}

TEST(Rules, a_verdict_says_what_was_compared_with_what) {
  const OutputError error = apply_rules("task-0", sliced(), budget());
  EXPECT_EQ(error.compared, 1000);
  EXPECT_EQ(error.elsewhere, 9000);
  EXPECT_NEAR(error.seen_from, (5e-6 + 0x1p-21 + 0x1p-24) / 0.5, 1e-12);
  const auto notes = compared_in_slices({error, error, apply_rules("task-0", good(), budget())});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0],
            "truth-in-slices: output 0: 1000 elements against float64, 9000 against eager; whatever errs by 1.1e-05 of "
            "the rms is seen in each, less than that in the former");
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
  Budget ill = budget();
  ill.error = 1;
  EXPECT_FALSE(structured_counts({{"0", near}, {"1", ill}}, {{"0", budget()}, {"1", budget()}}));
  EXPECT_TRUE(structured_counts({{"0", near}, {"1", ill}}, {{"0", budget()}, {"1", ill}})) << "on the task's, too";
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

TEST(Rules, a_call_passes_when_none_of_its_results_breaks_a_rule) {
  const Budgets budgets = {{"0", budget()}, {"1", budget()}};
  Measurement first = good(), second = good();
  second.output = "1";
  EXPECT_TRUE(passes({first, second}, budgets));
  second.error = 1;
  EXPECT_FALSE(passes({first, second}, budgets));
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

TEST(Rules, work_beside_the_calls_is_held_to_eagers) {
  const std::vector<double> eager = {25, 24, 26, 60, 25, 24, 26, 23, 25, 27};
  EXPECT_FALSE(works_beside(eager, eager));
  EXPECT_FALSE(works_beside({45, 24, 46, 44, 25, 47, 26, 45, 44, 27}, eager)) << "more in six of ten may be chance";
  EXPECT_TRUE(works_beside({145, 124, 146, 144, 125, 147, 126, 145, 144, 127}, eager));
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
