// Reductions on the triton target that run in chunks: along few rows, or both moments of long ones, which are then read
// once; run by Triton's interpreter (or on the GPU) and compared with their definition in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "targets/case_maker.h"
#include "targets/frame.h"
#include "targets/target.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::expect_close;
using testing::Maker;

void few_rows(std::vector<Case>& cases) {
  for (const int64_t parts : {7, 64}) {
    Maker m("sum_all_then_scale");
    const ValueId x = m.in("f32[600,500]");
    cases.push_back(m.one_kernel({m.op("mul", {x, m.op("sum", {x})})}, {{"split", ""}}, {{"parts", parts}}));
    Maker c("largest_of_columns");
    cases.push_back(c.one_kernel({c.op("amax", {c.in("f32[1600,40]")}, {{"dim", std::vector<int64_t>{0}}})},
                                 {{"split", ""}}, {{"parts", parts}}));
  }
  for (const double offset : {0.0, 16.0}) {  // both moments of chunks, also off zero
    Maker m("group_norm_of_few_rows");
    cases.push_back(m.one_kernel({m.op("group_norm", {m.in("f32[4,32,48,48]"), m.in("f32[32]"), m.in("f32[32]")},
                                       {{"num_groups", int64_t{4}}, {"eps", 1e-5}})},
                                 {{"split", ""}}));
    for (double& x : cases.back().leaves[0]) x = std::round(x * 64) / 64 + offset;  // exact in f32
  }
}

// Chunks are cut from the last of two axes: channels of several long images.
void long_images(std::vector<Case>& cases) {
  Maker m("batch_norm_of_long_images");
  const ValueId x = m.in("f32[4,8,96,96]"), scale = m.in("f32[8]"), shift = m.in("f32[8]");
  const Attrs attrs = {{"eps", 1e-5}, {"momentum", 0.1}};
  cases.push_back(m.one_kernel({m.op("batch_norm_train", {x, scale, shift, scale, scale}, attrs)}, {{"split", ""}}));
  for (double& value : cases.back().leaves[0]) value = std::round(value * 64) / 64 + 16;  // exact in f32
}

// A running mean of what has nearly none: the mean itself is some thousand times smaller than what was summed.
void near_zero(std::vector<Case>& cases) {
  for (const auto& [shape, channels] :
       {std::pair{"f32[16,8,56,56]", "f32[8]"}, {"f32[64,128,40]", "f32[128]"}, {"f32[4,8,96,96]", "f32[8]"}}) {
    Maker m("mean_near_zero");
    const ValueId x = m.in(shape), scale = m.in(channels), shift = m.in(channels), mean = m.in(channels);
    const Attrs attrs = {{"eps", 1e-5}, {"momentum", 0.1}};
    const ValueId normalised = m.op("batch_norm_train", {x, scale, shift, mean, scale}, attrs);
    cases.push_back(m.one_kernel({normalised, normalised + 3}, {{"split", ""}}));
    for (double& value : cases.back().leaves[0]) value *= 16384;  // or what is small is close to anything small
    std::fill(cases.back().leaves[3].begin(), cases.back().leaves[3].end(), 0.0);
  }
}

void expect_splits(const std::string& device) {
  std::vector<Case> cases;
  few_rows(cases);
  long_images(cases);
  expect_close(cases, 3e-6, device);
  // Relative to what was summed this is 1e-8: a GPU, whose order of additions is its own, was seen at 4e-6.
  std::vector<Case> means;
  near_zero(means);
  expect_close(means, 1e-5, device);
}

TEST(TorchTritonSplit, EqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_splits("cpu");
}

TEST(GpuTritonSplit, EqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_splits("cuda");
}

// What a row adds up of its chunks is added up before its columns are walked.
TEST(TritonSplit, SumsOfChunksAreOutsideTheLoopOverColumns) {
  const Program program = parse_program(R"(program norm {
  %0 = input "x" : f32[64,64,512,512]
  %1 = instance_norm(%0, none, none, eps=1e-05) : f32[64,64,512,512]
  return %1
}
kernel k0 = { %1 } reduction split
)")
                              .value();
  const std::string text = print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
  const size_t last = text.rfind("@triton.jit"), columns = text.find("for start in", last);
  ASSERT_NE(columns, std::string::npos) << text;
  EXPECT_NE(text.find("sum_partial_ = ", last), std::string::npos) << text;
  EXPECT_LT(text.rfind("sum_partial_ = "), columns) << text;
}

// A row's sixteen chunks are no lanes that walk them element by element while the rest of the program waits.
TEST(TritonSplit, ChunksOfFewPartsAreNotSummedOneAfterTheOther) {
  const Program program = parse_program(R"(program norm {
  %0 = input "x" : f32[64,4096]
  %1 = layer_norm(%0, none, none, normalized_shape=[4096]) : f32[64,4096]
  return %1
}
kernel k0 = { %1 } reduction split
)")
                              .value();
  const std::string text = print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
  EXPECT_EQ(text.find(" in range("), std::string::npos) << text;
  EXPECT_NE(text.find("tl.arange(0, 256)"), std::string::npos) << text;
}

bool born_split(const std::string& node, const std::string& from, const std::string& to) {
  const Program program = parse_program("program born {\n  %0 = input \"x\" : " + from + "\n  %1 = " + node + " : " +
                                        to + "\n  return %1\n}\nkernel k0 = { %1 } library\n")
                              .value();
  Kernel kernel = program.kernels[0];
  find_target("triton")->initial_choices(build_group(program, kernel).value(), h200_hardware(), kernel);
  return kernel.has("split");
}

// Rows, many or few, that no program can hold both moments of are read once then; a plain sum of many rows is not cut.
TEST(TritonSplit, LongRowsAreBornSplitWhereThatSavesAPass) {
  const std::string norm = "instance_norm(%0, none, none, eps=1e-05)", sum = "sum(%0, dim=1)";
  EXPECT_TRUE(born_split(norm, "f32[64,64,512,512]", "f32[64,64,512,512]"));
  EXPECT_FALSE(born_split(norm, "f32[64,64,64,64]", "f32[64,64,64,64]")) << "a program holds such a row";
  EXPECT_FALSE(born_split(sum, "f32[4096,262144]", "f32[4096]"));
  EXPECT_TRUE(born_split(sum, "f32[4,262144]", "f32[4]"));
  const std::string softmax = "softmax(%0, dim=1)";
  EXPECT_FALSE(born_split(softmax, "f32[128,32768]", "f32[128,32768]")) << "there are programs enough";
  EXPECT_TRUE(born_split(softmax, "f32[64,32768]", "f32[64,32768]"));
  EXPECT_TRUE(born_split(softmax, "f32[128,65536]", "f32[128,65536]"));
  EXPECT_TRUE(born_split("sum(%0, dim=0)", "f32[8192,256]", "f32[256]")) << "lanes are rows there";
}

}  // namespace
}  // namespace mtmc
