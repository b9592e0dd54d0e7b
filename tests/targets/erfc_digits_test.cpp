// erfc, whose results are as small as 1e-37, has all its digits on every target: divided by what it should be, it is 1.
#include <gtest/gtest.h>

#include <cmath>

#include "targets/case_maker.h"
#include "targets/cpu_runner.h"
#include "targets/recorded_programs.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::Maker;

Case divided(const char* type) {
  Maker m("erfc_digits");
  const ValueId x = m.in(type), y = m.in(type);
  Case c = m.one_kernel({m.op("div", {m.op("erfc", {x}), y})});
  for (size_t i = 0; i < c.leaves[0].size(); ++i) {
    c.leaves[0][i] = static_cast<double>(i) / 16 - 7;  // an f32 as it stands
    c.leaves[1][i] = std::erfc(c.leaves[0][i]);
  }
  return c;
}

constexpr const char* kSingle = "f32[2,129]";  // to 9.06
constexpr const char* kDouble = "f64[2,129]";

TEST(CompileErfc, HasAllDigits) {
  const Case c = divided(kSingle);
  const auto results = testing::run_on_cpu({c.program}, {c.leaves});
  const std::vector<double> ones(c.leaves[0].size(), 1.0);
  EXPECT_EQ(testing::difference(results[0][0], ones, 5e-7), "");
}

void expect_digits(const std::string& device) {
  testing::expect_close({divided(kSingle)}, 5e-7, device);
  testing::expect_close({divided(kDouble)}, 1e-13, device);
}

TEST(TorchTritonErfc, HasAllDigits) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_digits("cpu");
}

TEST(GpuTritonErfc, HasAllDigits) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_digits("cuda");
}

TEST(TorchTritonErfc, CompilesAheadOfTime) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  for (const std::string& failure : testing::compile_triton({divided(kSingle).program, divided(kDouble).program}))
    EXPECT_EQ(failure, "");
}

}  // namespace
}  // namespace mtmc
