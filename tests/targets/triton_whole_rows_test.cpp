// Norms and softmaxes behind a product on the triton target, whose rows a tile holds whole: run by Triton's interpreter
// (or on the GPU) and compared with their definition in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "targets/case_maker.h"
#include "targets/target.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::expect_close;
using testing::Maker;

ValueId linear(Maker& m, const char* x, const char* weight, const char* bias) {
  return m.op("linear", {m.in(x), m.in(weight), m.in(bias)});
}

// f16 holds these exactly, and f32 all sums of their products here.
Case exact(Case made) {
  for (auto& leaf : made.leaves)
    for (double& x : leaf) x = std::round(x * 4) / 4;
  return made;
}

void whole_rows(std::vector<Case>& cases) {
  for (const double offset : {0.0, 64.0}) {  // columns that fill no tile, and a residual behind the norm
    Maker m("layer_norm");
    const ValueId y = linear(m, "f32[200,48]", "f32[40,48]", "f32[40]"), by = m.in("f32[40]");
    const ValueId norm = m.op("layer_norm", {y, by, by}, {{"normalized_shape", std::vector<int64_t>{40}}});
    cases.push_back(
        exact(m.one_kernel({m.op("relu", {m.op("add", {norm, m.in("f32[200,40]")})})}, {{"precision", "half"}})));
    for (double& bias : cases.back().leaves[2]) bias += offset;
  }
  Maker m("softmax");
  const ValueId y = linear(m, "f32[3,2100,16]", "f32[130,16]", "f32[130]");
  cases.push_back(m.one_kernel({m.op("softmax", {y}, {{"dim", int64_t{-1}}})}, {{"precision", "two_part"}}));
}

void groups_of_columns(std::vector<Case>& cases) {
  Maker heads("norm_of_heads");  // as of queries and keys
  const ValueId y = linear(heads, "f32[2,70,48]", "f32[256,48]", "f32[256]");
  const ValueId cut = heads.op("reshape", {y}, {{"shape", std::vector<int64_t>{2, 70, 4, 64}}});
  cases.push_back(heads.one_kernel({heads.op("rms_norm", {cut, heads.in("f32[64]")},
                                             {{"normalized_shape", std::vector<int64_t>{64}}, {"eps", 1e-5}})},
                                   {{"precision", "two_part"}}));
  Maker m("group_norm");
  const ValueId z = linear(m, "f32[140,48]", "f32[96,48]", "f32[96]"), by = m.in("f32[96]");
  cases.push_back(
      m.one_kernel({m.op("group_norm", {z, by, by}, {{"num_groups", int64_t{6}}, {"eps", 1e-5}})}, {}));  // f32
}

std::string printed(const Program& program) { return print_triton_kernel(program, program.kernels[0]).value().text; }

void expect_whole_rows(const std::string& device) {
  std::vector<Case> cases;
  whole_rows(cases);
  groups_of_columns(cases);
  for (const Case& one : cases) {
    const std::string text = printed(one.program), last = text.substr(text.rfind("@triton.jit"));
    EXPECT_NE(last.find("tl.dot("), std::string::npos) << one.program.name << " is not one launch\n" << text;
  }
  expect_close(cases, 1e-5, device);
}

TEST(TorchTritonWholeRows, EqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_whole_rows("cpu");
}

TEST(GpuTritonWholeRows, EqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_whole_rows("cuda");
}

std::string behind_linear(const std::string& columns, const std::string& node) {
  return printed(parse_program("program norm {\n  %0 = input \"x\" : f16[8192,64]\n  %1 = param \"w\" : f16[" +
                               columns + ",64]\n  %2 = linear(%0, %1, none) : f16[8192," + columns +
                               "]\n  %3 = " + node + " : f16[8192," + columns +
                               "]\n  return %3\n}\nkernel k0 = { %2 %3 } contraction\n")
                     .value());
}

// The sums of a long row, or of groups that tiles would cut, are another launch.
TEST(TritonWholeRows, OnlyWhatATileHolds) {
  const auto stores = [](const std::string& text) {
    size_t count = 0;
    for (size_t at = text.find("tl.store("); at != text.npos; at = text.find("tl.store(", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(stores(behind_linear("256", "softmax(%2, dim=1)")), 1U);
  EXPECT_GT(stores(behind_linear("320", "softmax(%2, dim=1)")), 1U);
  EXPECT_EQ(stores(behind_linear("320", "group_norm(%2, none, none, num_groups=5, eps=1e-05)")), 1U);
  EXPECT_GT(stores(behind_linear("320", "group_norm(%2, none, none, num_groups=8, eps=1e-05)")), 1U) << "of 40";
}

}  // namespace
}  // namespace mtmc
