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
  const ValueId y = linear(m, "f32[3,4100,16]", "f32[130,16]", "f32[130]");
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

// What is not all of a row, or belongs to another product.
void parts_of_rows(std::vector<Case>& cases) {
  Maker slice("slice_of_softmax");
  const ValueId all =
      slice.op("softmax", {linear(slice, "f32[200,48]", "f32[64,48]", "f32[64]")}, {{"dim", int64_t{1}}});
  const ValueId some = slice.op(
      "slice", {all}, {{"dim", int64_t{1}}, {"start", int64_t{0}}, {"end", int64_t{32}}, {"step", int64_t{1}}});
  cases.push_back(slice.one_kernel({slice.op("relu", {some})}, {{"precision", "half"}}));
  Maker next("norm_between_products");
  const ValueId y = linear(next, "f16[200,64]", "f16[64,64]", "f16[64]"), by = next.in("f16[64]");
  const ValueId norm = next.op("layer_norm", {y, by, by}, {{"normalized_shape", std::vector<int64_t>{64}}});
  cases.push_back(next.one_kernel({next.op("linear", {norm, next.in("f16[48,64]"), next.in("f16[48]")})}));
}

// Two products of one size have the same numbers; one of them needs wider tiles.
Case two_products(const std::map<std::string, int64_t>& numbers) {
  Maker m("wider_tiles");
  const ValueId x = m.in("f32[200,64]");
  const ValueId plain = m.op("gelu", {m.op("linear", {x, m.in("f32[64,64]"), m.in("f32[64]")})});
  const ValueId other = m.op("linear", {x, m.in("f32[64,64]"), m.in("f32[64]")});
  return m.one_kernel({plain, m.op("amax", {other}, {{"dim", std::vector<int64_t>{1}}})}, {{"precision", "ieee"}},
                      numbers);
}

std::string printed(const Program& program) {
  return print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
}

void expect_whole_rows(const std::string& device) {
  std::vector<Case> cases;
  whole_rows(cases);
  groups_of_columns(cases);
  for (const Case& one : cases) {
    const std::string text = printed(one.program), last = text.substr(text.rfind("@triton.jit"));
    EXPECT_NE(last.find("tl.dot("), std::string::npos) << one.program.name << " is not one launch\n" << text;
  }
  cases.push_back(two_products({{"m", 32}, {"n", 32}, {"k", 32}, {"warps", 4}, {"stages", 3}, {"group", 8}}));
  expect_close(cases, 1e-5, device);
  std::vector<Case> parts;
  parts_of_rows(parts);
  expect_close({parts[0]}, 1e-3, device);  // operands are rounded to half precision
  expect_close({parts[1]}, 2e-2, device);  // results are
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
  return printed(parse_program("program norm {\n  %0 = input \"x\" : f16[16384,64]\n  %1 = param \"w\" : f16[" +
                               columns + ",64]\n  %2 = linear(%0, %1, none) : f16[16384," + columns +
                               "]\n  %3 = " + node + " : f16[16384," + columns +
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

// A measured choice keeps what was chosen before, and wide tiles have the warps for it.
TEST(TritonWholeRows, CandidatesFit) {
  Program program =
      parse_program(
          "program norm {\n  %0 = input \"x\" : f16[16384,64]\n  %1 = param \"w\" : f16[256,64]\n"
          "  %2 = linear(%0, %1, none) : f16[16384,256]\n  %3 = softmax(%2, dim=1) : f16[16384,256]\n  return %3\n}\n"
          "kernel k0 = { %2 %3 } contraction tiled\n")
          .value();
  size_t again = 0;
  for (const auto& numbers : triton_candidates(program, program.kernels[0], h200_hardware())) {
    if (numbers.count("reads_again")) {
      ++again;
      continue;
    }
    EXPECT_EQ(numbers.at("n"), 256);
    EXPECT_LE(numbers.at("m"), 128);
    EXPECT_TRUE(numbers.at("m") < 128 || numbers.at("warps") == 8);
  }
  EXPECT_EQ(again, 1U);
  program.kernels[0].numbers = {{"reads_again", 1}};
  for (const auto& numbers : triton_candidates(program, program.kernels[0], h200_hardware()))
    EXPECT_EQ(numbers.at("reads_again"), 1);
}

}  // namespace
}  // namespace mtmc
