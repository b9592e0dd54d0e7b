// Reductions behind a product on the triton target, of which its tiles give parts: run by Triton's interpreter (or on
// the GPU) and compared with their definition in double.
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

const Attrs kBatchNorm = {{"eps", 1e-5}, {"momentum", 0.1}};
const std::map<std::string, std::string> kHalf = {{"precision", "half"}};

ValueId convolution(Maker& m, const char* x, const char* weight, const char* bias) {
  return m.op("conv2d", {m.in(x), m.in(weight), m.in(bias)});
}
Attrs over_images() { return {{"dim", std::vector<int64_t>{2, 3}}}; }

// f16 holds multiples of 2^-6 up to 8 exactly, and f32 all sums of their products here.
Case exact(Case made) {
  for (auto& leaf : made.leaves)
    for (double& x : leaf) x = std::round(x * 4) / 4;
  return made;
}

void means(std::vector<Case>& cases) {
  for (const char* x : {"f32[3,4,66,66]", "f32[5,4,52,52]"}) {  // whole tiles, and a last one of some rows
    Maker m("mean_of_images");
    const ValueId active = m.op("gelu", {convolution(m, x, "f32[20,4,3,3]", "f32[20]")});
    cases.push_back(exact(m.one_kernel({m.op("mean", {active}, over_images())}, kHalf)));
  }
  Maker two("two_sums");  // of one product, one of them over its columns, too
  const ValueId y = two.op("linear", {two.in("f32[12300,16]"), two.in("f32[24,16]"), two.in("f32[24]")});
  const ValueId all = two.op("sum", {two.op("mul", {y, y})}, {});
  cases.push_back(exact(
      two.one_kernel({two.op("sum", {y}, {{"dim", std::vector<int64_t>{0}}}), all}, {{"precision", "two_part"}})));
}

void norms(std::vector<Case>& cases) {
  for (const double offset : {0.0, 64.0}) {
    Maker groups("group_norm");
    const ValueId y = convolution(groups, "f32[5,4,52,52]", "f32[24,4,3,3]", "f32[24]");
    cases.push_back(exact(
        groups.one_kernel({groups.op("group_norm", {groups.op("relu", {y}), groups.in("f32[24]"), groups.in("f32[24]")},
                                     {{"num_groups", int64_t{6}}, {"eps", 1e-5}})},
                          kHalf)));
    for (double& bias : cases.back().leaves[2]) bias += offset;
  }
  Maker batch("batch_norm");
  const ValueId x = convolution(batch, "f32[5,4,52,52]", "f32[24,4,3,3]", "f32[24]");
  const ValueId scale = batch.in("f32[24]"), mean = batch.in("f32[24]");
  const ValueId norm = batch.op("batch_norm_train", {x, scale, scale, mean, scale}, kBatchNorm);
  cases.push_back(exact(batch.one_kernel({norm, norm + 3, norm + 4}, kHalf)));
  Maker rows("batch_norm_of_rows");
  const ValueId z = rows.op("linear", {rows.in("f32[12300,16]"), rows.in("f32[20,16]")});
  const ValueId by = rows.in("f32[20]");
  cases.push_back(rows.one_kernel({rows.op("batch_norm_train", {z, by, by, by, by}, kBatchNorm)}, {}));
}

void expect_tile_sums(const std::string& device) {
  std::vector<Case> cases;
  means(cases);
  norms(cases);
  for (const Case& one : cases) {
    const std::string text = print_triton_kernel(one.program, one.program.kernels[0], h200_hardware()).value().text;
    EXPECT_NE(text.find("_of_tile_value = tl.sum("), std::string::npos) << one.program.name << "\n" << text;
  }
  expect_close(cases, 1e-5, device);
}

TEST(TorchTritonTileSums, EqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_tile_sums("cpu");
}

TEST(GpuTritonTileSums, EqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_tile_sums("cuda");
}

Program mean_of(const std::string& images, const std::string& out) {
  return parse_program("program mean {\n  %0 = input \"x\" : " + images +
                       "\n  %1 = param \"w\" : f32[64,8,3,3]\n  %2 = conv2d(%0, %1, none) : " + out +
                       "\n  %3 = mean(%2, dim=[2,3]) : f32[16,64]\n  return %3\n}\n"
                       "kernel k0 = { %2 %3 } contraction precision:half\n")
      .value();
}

std::string printed(Program program, const std::map<std::string, int64_t>& numbers = {}) {
  program.kernels[0].numbers = numbers;
  return print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
}

// The product itself is never in memory, unless it is asked for or tiles would be mostly empty.
TEST(TritonTileSums, WhatNothingElseReadsIsNotWritten) {
  const Program program = mean_of("f32[16,8,114,114]", "f32[16,64,112,112]");
  EXPECT_EQ(printed(program).find("product_value, mask"), std::string::npos);
  EXPECT_EQ(printed(program).find("tl.store(product"), std::string::npos);
  EXPECT_NE(printed(program, {{"reads_again", 1}}).find("tl.store(product"), std::string::npos);
  const Program small = mean_of("f32[16,8,16,16]", "f32[16,64,14,14]");
  EXPECT_EQ(printed(small).find("_of_tile"), std::string::npos) << "196 rows are one and a half tiles";
}

TEST(TritonTileSums, BothWaysAreMeasuredWhereTilesAre) {
  Program program = mean_of("f32[16,8,114,114]", "f32[16,64,112,112]");
  program.kernels[0].choices["tiled"] = "";
  const auto all = triton_candidates(program, program.kernels[0], h200_hardware());
  const auto reads_again = [](const auto& numbers) { return numbers.count("reads_again") > 0; };
  ASSERT_GT(all.size(), 2U);
  EXPECT_FALSE(reads_again(all.front()));
  EXPECT_EQ(std::count_if(all.begin(), all.end(), reads_again), 1);
  for (const auto& numbers : all) EXPECT_FALSE(printed(program, numbers).empty());
  auto older = all.front();
  older["m"] = 64;
  EXPECT_EQ(printed(program, older), printed(program, all.front())) << "parts are of 128 rows";
}

// Passing the product on costs what it has bytes: without that, only parts do.
TEST(TritonTileSums, WhatIsPassedOnIsPriced) {
  Program program = mean_of("f32[16,8,114,114]", "f32[16,64,112,112]");
  const double parts = triton_passes(program, program.kernels[0], h200_hardware())->bytes;
  program.kernels[0].numbers = {{"reads_again", 1}};
  const double product = 16.0 * 64 * 112 * 112 * 4;
  EXPECT_LT(parts + 1.9 * product, triton_passes(program, program.kernels[0], h200_hardware())->bytes);
}

// Images side by side are matrices of their own to a pointwise convolution, unless its tiles sum over all of them.
TEST(TritonTileSums, OfPointwiseConvolutionsAreFoundInTheirLaunch) {
  const Program program = parse_program(R"(program statistics {
  %0 = input "x" : f32[10,960,56,56]
  %1 = param "w" : f32[1024,960,1,1]
  %2 = conv2d(%0, %1, none) : f32[10,1024,56,56]
  %3 = sum(%2, dim=[0,2,3]) : f32[1024]
  return %2, %3
}
kernel k0 = { %2 %3 } contraction precision:half
)")
                              .value();
  const std::string text = printed(program);
  const size_t sums = text.find("_of_tile_value = tl.sum("), product = text.find("tl.dot(");
  ASSERT_NE(sums, text.npos) << text;
  EXPECT_LT(product, sums);
  EXPECT_EQ(text.substr(product, sums - product).find("@triton.jit"), text.npos) << text;
}

}  // namespace
}  // namespace mtmc
