// The best elements of rows: none twice, whatever is equal, infinite or no number, and in the launch of the row.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "targets/case_maker.h"
#include "targets/cpu_runner.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::Maker;

constexpr int64_t kRows = 7, kColumns = 70, kBest = 5;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

// Rows of few different numbers, of infinities and few others, of nothing else, and of NaN.
Case hostile(bool largest, int64_t block) {
  Maker m("best");
  m.op("topk", {m.in("f32[7,70]")}, {{"k", kBest}, {"largest", largest}});
  const double far = largest ? -kInf : kInf;
  Case c = m.one_kernel({1, 2}, {}, {{"rows", 2}, {"block", block}, {"warps", 4}});
  for (int64_t i = 0; i < kColumns; ++i) {
    const auto at = [&](int64_t row) -> double& { return c.leaves[0][static_cast<size_t>(row * kColumns + i)]; };
    at(0) = static_cast<double>(i * 7 % 3);
    at(1) = i % 30 == 8 ? -static_cast<double>(i) : far;
    at(2) = far;
    at(3) = kNan;
    at(4) = i % 25 == 3 ? kNan : i % 20 == 5 ? kInf : i % 20 == 6 ? -kInf : static_cast<double>(i % 4);
    at(5) = i == 69 ? 1 : kNan;
  }
  return c;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool largest : {true, false})
    for (const int64_t block : {16384, 32}) all.push_back(hostile(largest, block));
  return all;
}

void expect_same(const Case& c, const std::vector<std::vector<double>>& got, const std::string& text) {
  const auto wanted = evaluate(c.program, c.leaves);
  ASSERT_TRUE(wanted.ok()) << wanted.error().message();
  for (size_t o = 0; o < wanted->size(); ++o)
    for (size_t i = 0; i < (*wanted)[o].size(); ++i) {
      const double a = got[o][i], b = (*wanted)[o][i];
      ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b)))
          << "output " << o << ", row " << i / kBest << ": " << a << " instead of " << b << "\n"
          << text;
    }
}

void expect_on_triton(const std::string& device) {
  for (const Case& c : cases()) {
    const auto runs = testing::run_on_triton({c.program}, {c.leaves}, device);
    ASSERT_EQ(runs[0].failure, "") << runs[0].text;
    expect_same(c, runs[0].outputs, runs[0].text);
  }
}

TEST(CompileTopk, NoneIsTakenTwice) {
  const Case all = hostile(true, 32), least = hostile(false, 32);
  const auto results = testing::run_on_cpu({all.program, least.program}, {all.leaves, least.leaves});
  expect_same(all, results[0], "");
  expect_same(least, results[1], "");
}

TEST(TorchTritonTopk, NoneIsTakenTwice) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_on_triton("cpu");
}

TEST(GpuTritonTopk, NoneIsTakenTwice) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_on_triton("cuda");
}

// The gate of a mixture of experts: what a program holds of a row in registers is read once, and the few results of it
// are written by the same launch.
Case gate(const char* type) {
  Maker m("gate");
  const ValueId weights = m.op("softmax", {m.in(type)}, {{"dim", int64_t{-1}}});
  const ValueId best = m.op("topk", {weights}, {{"k", int64_t{2}}});
  const ValueId sum = m.op("sum", {best}, {{"dim", std::vector<int64_t>{-1}}, {"keepdim", true}});
  const ValueId shares = m.op("div", {best, sum});
  return m.one_kernel({shares, best + 1});
}

TEST(Topk, AGateIsOneLaunch) {
  for (const char* type : {"f32[512,64]", "bf16[512,64]", "f32[512,8]", "f32[64,256]"}) {
    const TritonKernel kernel = testing::printed(gate(type));
    EXPECT_EQ(kernel.calls.size(), 1u) << type << kernel.text;
    EXPECT_TRUE(kernel.scratch.empty()) << type;
  }
}

TEST(TorchTritonTopk, AGateEqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  testing::expect_close({gate("f32[70,64]"), gate("f32[33,8]"), gate("f32[5,300]")}, 3e-6, "cpu");
}

TEST(TorchTritonTopk, CompilesAheadOfTime) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  const std::vector<Program> programs = {hostile(true, 32).program, hostile(false, 128).program,
                                         gate("f32[512,64]").program, gate("bf16[512,8]").program};
  for (const std::string& failure : testing::compile_triton(programs)) EXPECT_EQ(failure, "");
}

// A row that another tensor names is far from the one before: all vectors of it are read at a time.
TEST(CompileTopk, NamedRowsAreReadWhole) {
  std::vector<Program> programs;
  std::vector<std::vector<std::vector<double>>> leaves;
  std::vector<Case> all;
  for (const char* table : {"f32[4,64]", "f32[4,101]", "f16[4,200]", "f32[4,7]"}) {
    Maker m("bags");
    const ValueId rows = m.in(table), which = m.in("i64[60]"),
                  scale = m.in(std::string(table).starts_with("f16") ? "f16[60]" : "f32[60]");
    all.push_back(m.one_kernel({m.op("embedding_bag", {rows, which, scale}, {{"bag", int64_t{12}}})}));
    programs.push_back(all.back().program);
    leaves.push_back(all.back().leaves);
  }
  const auto results = testing::run_on_cpu(programs, leaves);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<double> wanted = (*evaluate(programs[i], leaves[i]))[0];
    for (size_t e = 0; e < wanted.size(); ++e) EXPECT_NEAR(results[i][0][e], wanted[e], i == 2 ? 2e-2 : 1e-5);
  }
}

}  // namespace
}  // namespace mtmc
