// A running product is that of one element after the other, in double, so that it comes back from what single floats
// cannot hold. One that is 0, or infinite, in double stays so, however large or small what follows is: products in a
// tree make a NaN of the two.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "targets/case_maker.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::Maker;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int64_t kRows = 6, kColumns = 70;

// Tiny elements and then huge ones, or the other way round: a few, which only single floats cannot hold the product of,
// or many. Some with something special among what follows.
Case hostile(int64_t block, int64_t rows, int64_t few) {
  Maker m("running_product");
  Case c = m.one_kernel({m.op("cumprod", {m.in("f32[6,70]")}, {{"dim", int64_t{1}}})}, {},
                        {{"rows", rows}, {"block", block}, {"warps", 4}});
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t i = 0; i < kColumns; ++i) {
      const bool tiny = (i < few) == (row % 2 == 0);
      c.leaves[0][row * kColumns + i] = i == 50 && row > 1 ? (row < 4 ? kInf : 0) : tiny ? 1e-25 : 1e25;
    }
  return c;
}

std::vector<double> in_turn(const std::vector<double>& x) {
  std::vector<double> result;
  double product = 1;
  for (size_t i = 0; i < x.size(); ++i) {
    product = (i % kColumns ? product : 1) * static_cast<float>(x[i]);
    result.push_back(static_cast<float>(product));
  }
  return result;
}

void expect_in_turn(const std::string& device) {
  for (const auto& [rows, few] : {std::pair{1, 9}, std::pair{4, 9}, std::pair{1, 20}, std::pair{4, 20}}) {
    const Case c = hostile(32, rows, few);
    const auto runs = testing::run_on_triton({c.program}, {c.leaves}, device);
    ASSERT_EQ(runs[0].failure, "") << runs[0].text;
    const std::vector<double> wanted = in_turn(c.leaves[0]);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double got = runs[0].outputs[0][i];
      // Where something special follows, a tree may meet it with a product that is 0, or inf, of itself.
      if (i % kColumns >= 50 && i / kColumns > 1 && std::isnan(got)) continue;
      EXPECT_TRUE(got == wanted[i] || (std::isnan(got) && std::isnan(wanted[i])) ||
                  std::abs(got - wanted[i]) < 1e-6 * std::abs(wanted[i]))
          << few << " first, row " << i / kColumns << ", column " << i % kColumns << ": got " << got << ", wanted "
          << wanted[i];
    }
  }
}

// A thread has 16 elements of a long row at a time, so that other programs read meanwhile.
TEST(RunningProduct, IsWalkedInBlocks) {
  Maker m("long_rows");
  const Program& program = m.kernel_of({m.op("cumprod", {m.in("f32[512,32768]")}, {{"dim", int64_t{1}}})});
  const auto kernel = print_triton_kernel(program, program.kernels[0], h200_hardware());
  ASSERT_TRUE(kernel.ok()) << kernel.error().message();
  EXPECT_NE(kernel->text.find("for start in range(0, 32768, 4096):"), std::string::npos) << kernel->text;
}

TEST(TorchTritonRunningProduct, IsThatOfOneElementAfterTheOther) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_in_turn("cpu");
}

TEST(GpuTritonRunningProduct, IsThatOfOneElementAfterTheOther) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_in_turn("cuda");
}

TEST(TorchTritonRunningProduct, CompilesAheadOfTime) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  for (const std::string& failure : testing::compile_triton({hostile(32, 4, 9).program, hostile(128, 1, 9).program}))
    EXPECT_EQ(failure, "");
}

}  // namespace
}  // namespace mtmc
