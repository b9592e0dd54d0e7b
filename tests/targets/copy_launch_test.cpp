// Producers that are computed in the launch of a copy in half precision, on the triton target.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "targets/case_maker.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::expect_close;
using testing::Maker;

using Numbers = std::map<std::string, int64_t>;

// A filter for each of 64 channels, then eight mixtures of them.
Case separable(const char* activation, bool also_output = false, const Numbers& numbers = {},
               const char* images = "f32[2,64,96,96]", const char* filters = "f32[64,1,3,3]") {
  Maker m("separable");
  const ValueId filtered = m.op("conv2d", {m.in(images), m.in(filters), m.in("f32[64]")},
                                {{"padding", std::vector<int64_t>{1, 1}}, {"groups", int64_t{64}}});
  const ValueId active = m.op(activation, {filtered});
  const ValueId mixed = m.op("conv2d", {active, m.in("f32[8,64,1,1]"), m.in("f32[8]")});
  std::vector<ValueId> outputs = {mixed};
  if (also_output) outputs.push_back(active);
  return m.one_kernel(outputs, {{"precision", "half"}}, numbers);
}

Case of_one_image() { return separable("relu", false, {}, "f32[1,64,128,128]"); }  // a copy in the input's order

Case enlarging(bool also_output, const Numbers& numbers) {  // by a pixel, so that rows of pixels are no run
  return separable("relu", also_output, numbers, "f32[2,64,96,96]", "f32[64,1,2,2]");
}

// Pixels that do not fill tiles: the copy has its channels last.
Case transposed_relu6(const Numbers& numbers) { return separable("relu6", false, numbers, "f32[21,64,28,28]"); }

Case pooled(const Numbers& numbers = {}) {  // whose images and channels are one axis
  Maker m("pooled");
  const ValueId pool = m.op("max_pool2d", {m.in("f32[2,64,97,97]")},
                            {{"kernel_size", std::vector<int64_t>{2, 2}}, {"stride", std::vector<int64_t>{1, 1}}});
  return m.one_kernel({m.op("conv2d", {pool, m.in("f32[8,64,1,1]"), m.in("f32[8]")})}, {{"precision", "half"}},
                      numbers);
}

Case scaled(Case c, double factor) {
  for (double& x : c.leaves[0]) x *= factor;
  return c;
}

Case not_finite(Case c) {
  c.leaves[0][5 * 96 * 96 + 40 * 96 + 7] = INFINITY;
  c.leaves[0][6 * 96 * 96 + 3] = NAN;
  c.leaves[0][70 * 96 * 96 + 95] = -INFINITY;
  return c;
}

bool keeps(const TritonKernel& kernel, const std::string& tensor) {
  return std::any_of(kernel.scratch.begin(), kernel.scratch.end(),
                     [&](const std::string& one) { return one.find(tensor) != std::string::npos; });
}

TEST(CopyLaunch, WhatIsOnlyCopiedNeverReachesMemory) {
  for (const Case& one : {separable("relu6"), of_one_image(), pooled()}) {
    const TritonKernel kernel = printed(one);
    EXPECT_TRUE(keeps(kernel, "_half")) << kernel.text;
    EXPECT_EQ(kernel.calls.size(), 4u) << kernel.text;  // copy and weights, scale, copy again, product
    EXPECT_EQ(kernel.scratch.size(), 5u) << "f32 numbers reach memory\n" << kernel.text;
  }
}

TEST(CopyLaunch, ItsTileIsWorthMeasuring) {
  const auto measured = [](Case one) {
    one.program.kernels[0].choices["tiled"] = "";
    one.program.kernels[0].numbers.clear();
    return triton_candidates(one.program, one.program.kernels[0], h200_hardware());
  };
  const auto tried = measured(separable("relu6"));
  ASSERT_GT(tried.size(), 3u);
  EXPECT_FALSE(tried[0].contains("copy_rows"));
  EXPECT_EQ(tried[1].at("copy_share"), 8);
  EXPECT_EQ(tried[1].at("m"), tried[0].at("m"));
  EXPECT_FALSE(tried.back().contains("copy_rows"));
  EXPECT_EQ(measured(transposed_relu6({}))[1].at("copy_block"), 32);
  EXPECT_TRUE(std::any_of(tried.begin(), tried.end(), [](const Numbers& each) { return each.contains("copy_apart"); }));
  EXPECT_EQ(printed(separable("relu6", false, {{"copy_apart", 1}})).calls.size(), 5u);  // the filters by themselves
}

// Falling back to a transposition, or to a lane for every window, would give the same numbers.
TEST(CopyLaunch, PixelsStaySideBySideAndNeighboursShareWhatTheyRead) {
  const std::string text = printed(separable("relu6", false, {{"copy_share", 8}, {"copy_rows", 128}})).text;
  EXPECT_NE(text.find("left_half_tiles.load([step * 64 + matrix * 64, pid_1 * 128]).T"), std::string::npos) << text;
  const size_t begin = text.find("def k0_left_half("), end = text.find("tl.store(", begin);
  size_t loads = 0;
  for (size_t at = begin; (at = text.find("tl.load(x0 ", at + 1)) < end;) ++loads;
  EXPECT_EQ(loads, 30u) << text;  // ten rows of three, instead of eight windows of nine
}

TEST(CopyLaunch, WhatAnotherReadsIsStoredByTheCopy) {
  const TritonKernel kernel = printed(separable("relu6", true));
  EXPECT_EQ(kernel.calls.size(), 4u) << kernel.text;
}

// A copy that is made by the programs of a larger one has as many programs as numbers in its largest magnitudes.
TEST(CopyLaunch, ACopyWithinAnotherLaunchFillsItsPeaks) {
  Maker m("two");
  const auto mixed = [&](const char* images) {
    const ValueId filtered = m.op("conv2d", {m.in(images), m.in("f32[64,1,3,3]"), kNoValue},
                                  {{"padding", std::vector<int64_t>{1, 1}}, {"groups", int64_t{64}}});
    return m.op("conv2d", {filtered, m.in("f32[8,64,1,1]"), kNoValue});
  };
  const ValueId large = mixed("f32[8,64,96,96]"), small = mixed("f32[2,64,96,96]");
  const TritonKernel kernel = printed(m.one_kernel({large, small}, {{"precision", "half"}}));
  const std::string peaks = "left_largest_2_of\", ";
  const auto made = std::find_if(kernel.scratch.begin(), kernel.scratch.end(),
                                 [&](const std::string& one) { return one.find(peaks) != std::string::npos; });
  ASSERT_NE(made, kernel.scratch.end()) << kernel.text;
  const size_t at = made->find(peaks) + peaks.size();
  const int programs = std::stoi(made->substr(at));
  std::smatch part;
  const std::regex call(R"(program >= (\d+)\) & \(program < (\d+)\):\n +k0_left_half_2\(program - (\d+), )");
  ASSERT_TRUE(std::regex_search(kernel.text, part, call)) << kernel.text;
  EXPECT_EQ(std::stoi(part[2]) - std::stoi(part[1]), programs);
  EXPECT_EQ(part[3], part[1]);
}

void expect_copies(const std::string& device) {
  const Numbers tile = {{"copy_rows", 128}, {"copy_block", 32}, {"copy_warps", 8}};
  const Numbers large = {{"copy_rows", 128}, {"copy_block", 128}, {"copy_warps", 8}};  // few programs to interpret
  const Numbers sharing = {{"copy_share", 8}, {"copy_rows", 1024}, {"copy_warps", 8}};
  expect_close({scaled(separable("relu6", false, sharing), 2), scaled(transposed_relu6(tile), 0x1p+12),
                not_finite(scaled(enlarging(true, large), 0x1p-20)), pooled(large)},
               1.5e-3, device);
}

TEST(TorchTritonCopyLaunch, EqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_copies("cpu");
}

TEST(GpuTritonCopyLaunch, EqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_copies("cuda");
}

TEST(TorchTritonCopyLaunch, CompilesAheadOfTime) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  const std::vector<Program> programs = {separable("relu6").program, separable("relu6", true).program,
                                         of_one_image().program, transposed_relu6({}).program};
  const std::vector<std::string> failures = testing::compile_triton(programs);
  for (size_t i = 0; i < programs.size(); ++i) EXPECT_EQ(failures[i], "") << print(programs[i]);
}

}  // namespace
}  // namespace mtmc
