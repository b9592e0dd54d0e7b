// exp and what is made of it have all their digits where results are as large as f32 can hold, or as small: divided by
// what they should be, they are 1. What is no number, or beyond the range of f32, is what torch makes of it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "targets/case_maker.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::Maker;

struct Function {
  const char* name;
  double (*truth)(double);
  double least, most;  // of its arguments
};
constexpr Function kFunctions[] = {{"exp", std::exp, -87.25, 88.5},
                                   {"expm1", std::expm1, -10.125, 88.5},
                                   {"sinh", std::sinh, -89.25, 89.25},
                                   {"cosh", std::cosh, -89.25, 89.25},
                                   {"tanh", std::tanh, -10.125, 10}};

std::vector<Case> divided(const char* type) {
  std::vector<Case> cases;
  for (const Function& f : kFunctions) {
    if (type[1] == '6' && f.name == std::string("sinh")) continue;  // its polynomial near 0 is one for f32
    Maker m(std::string(f.name) + "_digits");
    const ValueId x = m.in(type), y = m.in(type);
    Case c = m.one_kernel({m.op("div", {m.op(f.name, {x}), y})});
    const size_t count = c.leaves[0].size();
    for (size_t i = 0; i < count; ++i) {
      const double step = (f.most - f.least) / static_cast<double>(count);
      c.leaves[0][i] = static_cast<float>(f.least + step * (static_cast<double>(i) + 0.3));
      c.leaves[1][i] = f.truth(c.leaves[0][i]);
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

Case beyond() {
  const double inf = std::numeric_limits<double>::infinity();
  Maker m("beyond_the_range");
  Case c = m.one_kernel({m.op("exp", {m.in("f32[2,4]")})});
  c.leaves[0] = {inf, -inf, std::nan(""), 88.75, 3e38, -3e38, -100, 0};
  return c;
}

void expect_digits(const std::string& device) {
  testing::expect_close(divided("f32[3,257]"), 7e-7, device);
  testing::expect_close(divided("f64[3,257]"), 1e-14, device);
  const auto runs = testing::run_on_triton({beyond().program}, {beyond().leaves}, device);
  ASSERT_EQ(runs[0].failure, "") << runs[0].text;
  for (size_t i = 0; i < 8; ++i) {
    const double x = beyond().leaves[0][i], got = runs[0].outputs[0][i], wanted = static_cast<float>(std::exp(x));
    EXPECT_TRUE(got == wanted || (std::isnan(x) && std::isnan(got)) || std::abs(got - wanted) < 3e-45)
        << "exp(" << x << "): got " << got << ", wanted " << wanted;
  }
}

// What a softmax exponentiates is at most 0, so that what tl.exp loses is nothing beside the 1 of the largest.
TEST(ExpDigits, OnlyASoftmaxDoesWithout) {
  const auto holds = [](const testing::Case& one, const std::string& text) {
    return testing::printed(one).text.find(text) != std::string::npos;
  };
  Maker sum("sum_of_powers");
  const ValueId x = sum.in("f32[4,64]"),
                largest = sum.op("amax", {x}, {{"dim", std::vector<int64_t>{1}}, {"keepdim", true}});
  const Case written_out = sum.one_kernel({sum.op("exp", {sum.op("sub", {x, largest})})});
  Maker other("of_another");
  const ValueId y = other.in("f32[4,64]"), z = other.in("f32[4,64]");
  const ValueId most = other.op("amax", {z}, {{"dim", std::vector<int64_t>{1}}, {"keepdim", true}});
  const Case of_another = other.one_kernel({other.op("exp", {other.op("sub", {y, most})})});
  Maker whole("softmax");
  const Case softmax = whole.one_kernel({whole.op("softmax", {whole.in("f32[4,64]")}, {{"dim", int64_t{-1}}})});
  EXPECT_TRUE(holds(softmax, " tl.exp(")) << testing::printed(softmax).text;
  EXPECT_TRUE(holds(written_out, " tl.exp(")) << testing::printed(written_out).text;
  EXPECT_TRUE(holds(of_another, "_exp(")) << testing::printed(of_another).text;
}

TEST(TorchTritonExp, HasAllDigits) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_digits("cpu");
}

TEST(GpuTritonExp, HasAllDigits) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_digits("cuda");
}

TEST(TorchTritonExp, CompilesAheadOfTime) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  std::vector<Program> programs = {beyond().program, divided("f64[3,257]")[0].program};
  for (const Case& c : divided("f32[3,257]")) programs.push_back(c.program);
  for (const std::string& failure : testing::compile_triton(programs)) EXPECT_EQ(failure, "");
}

}  // namespace
}  // namespace mtmc
