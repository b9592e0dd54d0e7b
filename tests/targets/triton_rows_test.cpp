// Reductions along an axis that is not the last on the triton target: run by Triton's interpreter (or on the GPU) and
// compared with their definition in double.
#include <gtest/gtest.h>

#include "targets/case_maker.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::expect_close;
using testing::Maker;

// Results whose runs of neighbours are `neighbours` long.
std::vector<Case> along_the_middle(int64_t neighbours) {
  const std::string x = "f32[3,300," + std::to_string(neighbours) + "]";
  std::vector<Case> cases;
  Maker sum("sum_and_more");
  const ValueId of = sum.op("sum", {sum.in(x.c_str())}, {{"dim", std::vector<int64_t>{1}}, {"keepdim", true}});
  cases.push_back(sum.one_kernel({sum.op("relu", {of})}));
  Maker places("argmax");
  cases.push_back(
      places.one_kernel({places.op("argmax", {places.in(x.c_str())}, {{"dim", int64_t{1}}, {"keepdim", false}})}));
  Maker rows("softmax");
  cases.push_back(rows.one_kernel({rows.op("softmax", {rows.in(x.c_str())}, {{"dim", int64_t{1}}})}));
  Maker norm("sum_times");
  const ValueId y = norm.in(x.c_str());
  const ValueId total = norm.op("sum", {y}, {{"dim", std::vector<int64_t>{1}}, {"keepdim", true}});
  cases.push_back(norm.one_kernel({norm.op("mul", {y, total})}));
  return cases;
}

void expect_all_close(const std::string& device) {
  for (const int64_t neighbours : {33, 1031}) expect_close(along_the_middle(neighbours), 1e-5, device);
}

TEST(TorchTritonRows, ReductionsAlongTheMiddleEqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_all_close("cpu");
}

TEST(GpuTritonRows, ReductionsAlongTheMiddleEqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_all_close("cuda");
}

// 0.1 added up a thousand times in floats is off by more.
TEST(TorchTritonRows, RunningSumsOfShortRowsAreRoundedOnce) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  Maker m("cumsum");
  Case one = m.one_kernel({m.op("cumsum", {m.in("f32[3,1000]")}, {{"dim", int64_t{1}}})});
  for (double& x : one.leaves[0]) x = 0.1F;
  expect_close({one}, 6e-8, "cpu");
}

// Triton sees neighbours only where no block goes on into the next run: with `row % 1031` a warp would read 32 elements
// that lie 1,031 apart.
TEST(TritonRows, LongRunsOfOddLengthHaveBlocksOfTheirOwn) {
  for (const auto& [neighbours, goes_on] : {std::pair{1031, false}, {1024, true}, {33, true}}) {
    const Program program = along_the_middle(neighbours).front().program;
    const std::string text = print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
    EXPECT_EQ(text.find("row % ") != text.npos, goes_on) << text;
  }
}

// The largest of each pixel's channels behind a pool of `branches` tensors that are joined, as in an inception block.
std::string printed_pool(int branches, const std::map<std::string, int64_t>& numbers = {}) {
  std::string leaves, ids, text;
  const int64_t channels = 480 / branches;
  for (int b = 0; b < branches; ++b) {
    const std::string id = "%" + std::to_string(b);
    leaves += "  " + id + " = input \"x" + std::to_string(b) + "\" : f32[10," + std::to_string(channels) + ",28,28]\n";
    ids += (b > 0 ? ", " : "") + id;
  }
  const std::string joined = "%" + std::to_string(branches), pooled = "%" + std::to_string(branches + 1),
                    most = "%" + std::to_string(branches + 2);
  text = "program pool {\n" + leaves + "  " + joined + " = cat(" + ids + ", dim=1) : f32[10,480,28,28]\n  " + pooled +
         " = max_pool2d(" + joined + ", kernel_size=[3,3], padding=[1,1], stride=[2,2]) : f32[10,480,14,14]\n  " +
         most + " = amax(" + pooled + ", dim=[1], keepdim=false) : f32[10,14,14]\n  return " + most +
         "\n}\nkernel k0 = { " + joined + " " + pooled + " " + most + " } reduction\n";
  Program program = parse_program(text).value();
  program.kernels[0].numbers = numbers;
  return print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
}

// What is unrolled and joined of many loads took ptxas ten seconds.
TEST(TritonRows, WindowsOfManyLoadsAreLoops) {
  const auto loops = [](const std::string& text) { return text.find(" in range(3)") != text.npos; };
  EXPECT_FALSE(loops(printed_pool(2))) << printed_pool(2);
  const std::string many = printed_pool(2, {{"rows", 32}, {"block", 256}, {"warps", 4}});
  EXPECT_TRUE(loops(many)) << many;
}

// Two passes over rows of such windows took 1.3 ms of GoogLeNet's 3.5 on an H200, where all of its other launches took
// a few microseconds each.
TEST(TritonRows, WindowsThatReadMuchAreALaunchOfTheirOwn) {
  const auto launches = [](const std::string& text) {
    int count = 0;
    for (size_t at = 0; (at = text.find("@triton.jit", at)) != text.npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(launches(printed_pool(2)), 1) << printed_pool(2);
  EXPECT_EQ(launches(printed_pool(4)), 2) << printed_pool(4);
}

// A reversed running sum took 6.9 ms of an H200 where one forwards takes 2.1: it was written, and read again to turn
// it.
TEST(TritonRows, WhatIsTurnedRoundIsStoredWhereItBelongs) {
  const Program program =
      parse_program(
          "program turned {\n  %0 = input \"x\" : f32[4096,32768]\n  %1 = flip(%0, dims=[1]) : f32[4096,32768]\n  %2 = "
          "cumsum(%1, dim=1) : f32[4096,32768]\n  %3 = flip(%2, dims=[1]) : f32[4096,32768]\n  return %3\n}\n"
          "kernel k0 = { %1 %2 %3 } scan\n")
          .value();
  const std::string text = print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
  EXPECT_EQ(text.find("@triton.jit"), text.rfind("@triton.jit")) << text;
  EXPECT_EQ(text.find("tl.load("), text.rfind("tl.load(")) << text;
}

// Few rows are summed by as many programs as there are results, not by a tile that walks all of K.
TEST(TritonRows, ProductsOfFewResultsAreSums) {
  const auto multiplies = [](const std::string& rows, const std::string& columns, const std::string& type = "f32",
                             bool turned = false) {
    const std::string weights = turned ? "[1280," + columns + "]" : "[" + columns + ",1280]";
    const Program program =
        parse_program("program few {\n  %0 = input \"x\" : " + type + "[" + rows + ",1280]\n  %1 = param \"w\" : " +
                      type + weights + "\n  %2 = " + (turned ? "matmul(%0, %1)" : "linear(%0, %1, none)") + " : " +
                      type + "[" + rows + "," + columns + "]\n  return %2\n}\nkernel k0 = { %2 } contraction\n")
            .value();
    const std::string text = print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
    return text.find("tl.dot(") != text.npos;
  };
  EXPECT_FALSE(multiplies("8", "256"));
  EXPECT_TRUE(multiplies("64", "256"));
  EXPECT_TRUE(multiplies("8", "32768")) << "its weights fill a GPU";
  EXPECT_TRUE(multiplies("8", "256", "bf16")) << "which needs no packing";
  EXPECT_TRUE(multiplies("8", "256", "f32", true)) << "whose weights lie the other way round";
}

// 128 rows of 2,048 columns took the tuner a minute to compile.
TEST(TritonRows, NoVersionHasMoreElementsThanRegistersHold) {
  const Program program =
      parse_program(
          "program sum {\n  %0 = input \"x\" : f32[128,4096,4095]\n  %1 = sum(%0, dim=[1], keepdim=false) : "
          "f32[128,4095]\n  return %1\n}\nkernel k0 = { %1 } reduction tiled\n")
          .value();
  const auto versions = triton_candidates(program, program.kernels[0], h200_hardware());
  EXPECT_GT(versions.size(), 3U);
  for (const auto& numbers : versions) EXPECT_LE(numbers.at("rows") * numbers.at("block"), 32768);
}

}  // namespace
}  // namespace mtmc
