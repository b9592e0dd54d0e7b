// What does not change in a loop is computed before it, and the cost models count it so.
#include "targets/cpu/loop_nest.h"

#include <gtest/gtest.h>

#include "targets/case_maker.h"
#include "targets/cost.h"
#include "targets/cpu/kernel_printer.h"
#include "targets/cpu/tile_plan.h"

namespace mtmc {
namespace {

using testing::Maker;

Group group_of(const Program& program) { return collapse_axes(build_group(program, program.kernels[0]).value()); }

std::string text_of(const Program& program) { return print_cpu_kernel(program, program.kernels[0], Hardware{})->text; }

// x * sigmoid(g), with g of the shape `gate` stretched over 64 rows of 512.
Program gated(const char* gate) {
  Maker m("gated");
  const ValueId x = m.in("f32[64,512]"), g = m.in(gate);
  const ValueId wide = m.op("expand", {g}, {{"size", std::vector<int64_t>{64, 512}}});
  return m.kernel_of({m.op("mul", {x, m.op("sigmoid", {wide})})});
}

// The places of exp( and of the loop over a row in the text.
std::pair<size_t, size_t> exp_and_sweep(const std::string& text) { return {text.find("exp("), text.find("sweep(")}; }

TEST(LoopNest, OneNumberOfARowIsComputedBeforeTheRow) {
  const std::string row = text_of(gated("f32[64,1]")), column = text_of(gated("f32[512]"));
  const auto [exp_of_row, row_loop] = exp_and_sweep(row);
  EXPECT_LT(exp_of_row, row_loop) << row;
  const auto [exp_of_column, column_loop] = exp_and_sweep(column);
  EXPECT_GT(exp_of_column, column_loop) << column;
}

TEST(LoopNest, LanesThatReduceApartComputeTheirNumbersOnce) {
  Maker m("columns");
  const ValueId x = m.in("f32[300,512]"), g = m.in("f32[512]");
  const ValueId wide = m.op("expand", {g}, {{"size", std::vector<int64_t>{300, 512}}});
  const std::string text = text_of(m.kernel_of({m.op("sum", {m.op("sub", {x, m.op("sigmoid", {wide})})},
                                                     {{"dim", std::vector<int64_t>{0}}, {"keepdim", false}})}));
  const size_t exp = text.find("exp("), rows = text.find("for (long r");
  EXPECT_LT(text.find("sweep("), exp) << text;
  EXPECT_LT(exp, rows) << text;
}

TEST(LoopNest, PartsAreTheLargestThatStayAndCompute) {
  const ExprP row = load(0, DType::f32, {axis(0)}), element = load(1, DType::f32, {axis(0), axis(1)});
  const ExprP part = call(Fn::exp, {row}) + constant(DType::f32, 1);
  const std::vector<ExprP> parts = unchanging_parts(element * part + part / element + row * element, 0b10);
  ASSERT_EQ(parts.size(), 1u) << "the same part once, and no load by itself";
  EXPECT_EQ(to_string(parts[0]), to_string(part));
  EXPECT_TRUE(unchanging_parts(element * part, 0b11).empty());
  EXPECT_TRUE(unchanging_parts(element * call(Fn::exp, {constant(DType::f32, 2)}), 0b10).empty())
      << "a constant is the compiler's business";
}

TEST(LoopNest, APartIsComputedAsOftenAsTheLoopsAroundItTurn) {
  const Group group = group_of(gated("f32[64,1]"));
  const StagePlan plan = whole_plan(group, 0);
  ASSERT_EQ(choose_vector_axis(plan), 1);
  const LoopNest nest(plan, 1);
  EXPECT_DOUBLE_EQ(nest.elements(0b11), 64 * 512);
  EXPECT_DOUBLE_EQ(nest.elements(0b10), 64 * 512) << "a column's numbers are computed again in each row";
  EXPECT_DOUBLE_EQ(nest.elements(0b01), 64 * 16) << "a number takes as long as a vector";
  EXPECT_DOUBLE_EQ(nest.elements(0), 16);
  EXPECT_DOUBLE_EQ(LoopNest(plan, 8).elements(0), 8 * 16) << "once in each tile";
}

// Seconds of one kernel where only arithmetic takes time.
double seconds(const Program& program, KernelCost (*cost)(const Program&, const Kernel&, const Hardware&),
               Hardware hardware) {
  hardware.bandwidth = hardware.cache_bandwidth = 1e18;
  hardware.launch_seconds = 0;
  hardware.flops_special /= 1e6;  // beside which nothing counts
  return cost(program, program.kernels[0], hardware).seconds;
}

TEST(LoopNest, TheForecastCountsARowsNumberOnce) {
  const Program row = gated("f32[64,1]"), column = gated("f32[512]");
  EXPECT_NEAR(seconds(column, cpu_cost, Hardware{}) / seconds(row, cpu_cost, Hardware{}), 512 / 16, 1);
  EXPECT_NEAR(seconds(column, gpu_cost, h200_hardware()) / seconds(row, gpu_cost, h200_hardware()), 512 / 128, 0.5)
      << "by each of the 128 lanes that share the row";
}

}  // namespace
}  // namespace mtmc
