// Transposed convolutions on the triton target: both column phases in one program, whose results lie between each
// other; run by Triton's interpreter (or on the GPU) and compared with their definition in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "targets/case_maker.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::Maker;
using Numbers = std::map<std::string, int64_t>;

struct Shapes {
  const char *x, *w, *b;
  int64_t stride = 2, padding = 1, output_padding = 0, groups = 1, dilation = 1;
};

Case transposed(const Shapes& sizes, const Numbers& numbers = {}, const char* precision = "half") {
  Maker m("transposed");
  const ValueId x = m.in(sizes.x), w = m.in(sizes.w), b = m.in(sizes.b);
  const size_t axes = parse_type(sizes.x)->shape.size() - 2;
  const auto all = [&](int64_t n) { return std::vector<int64_t>(axes, n); };
  const ValueId y = m.op(("conv_transpose" + std::to_string(axes) + "d").c_str(), {x, w, b},
                         {{"stride", all(sizes.stride)},
                          {"padding", all(sizes.padding)},
                          {"output_padding", all(sizes.output_padding)},
                          {"groups", sizes.groups},
                          {"dilation", all(sizes.dilation)}});
  return m.one_kernel({m.op("silu", {y})}, {{"precision", precision}}, numbers);
}

// Fewer rows than a block has; more than one block, the last with a rest; kernels that are no multiple of the stride;
// results that end with the first phase; other strides, whose results no one program interleaves.
const std::vector<Shapes> kSizes = {
    {"f32[2,16,20]", "f32[16,12,4]", "f32[12]"},
    {"f32[2,32,21]", "f32[32,12,3]", "f32[12]"},
    {"f32[3,32,20]", "f32[32,12,5]", "f32[12]", 2, 0, 1},
    {"f32[2,16,20]", "f32[16,12,4]", "f32[12]", 3, 1, 2},
    {"f32[2,32,7,9]", "f32[32,20,4,4]", "f32[20]"},
    {"f32[1,16,7,9]", "f32[16,20,3,3]", "f32[20]", 2, 1, 1},
    {"f32[1,40,3,5]", "f32[40,20,5,5]", "f32[20]", 2, 2},
    {"f32[1,16,3,4]", "f32[16,20,4,4]", "f32[20]", 3},
    {"f32[1,32,4,5]", "f32[32,8,4,4]", "f32[16]", 2, 1, 0, 2},
    {"f32[1,16,2,3,4]", "f32[16,16,3,3,3]", "f32[16]", 2, 1, 1},
    {"f16[1,32,5,7]", "f16[32,20,4,4]", "f16[20]"},
};

// Dilated: all phases, each of other elements; phases that no element reaches; both, of groups of few channels.
const std::vector<Shapes> kDilated = {
    {"f32[2,16,20]", "f32[16,12,4]", "f32[12]", 3, 1, 0, 1, 2},
    {"f32[2,16,20]", "f32[16,12,5]", "f32[12]", 2, 1, 1, 1, 3},
    {"f32[1,16,7,9]", "f32[16,20,3,3]", "f32[20]", 2, 1, 0, 1, 2},
    {"f32[1,16,4,5]", "f32[16,20,3,3]", "f32[20]", 5, 1, 0, 1, 2},
    {"f32[1,32,3,5]", "f32[32,8,5,5]", "f32[32]", 4, 2, 1, 4, 6},
};

// Kernels that do not reach beyond their stride: phases are columns of one product, two or four.
const Shapes kApart = {"f32[2,32,5,6]", "f32[32,20,2,2]", "f32[20]", 2, 0},
             kLine = {"f32[2,16,20]", "f32[16,9,2]", "f32[9]", 2, 0},
             kFour = {"f32[2,16,3,5]", "f32[16,9,4,4]", "f32[9]", 4, 0},
             kCut = {"f32[2,16,20]", "f32[16,9,2]", "f32[9]", 2, 1};

void expect_phases(const std::string& device) {
  std::vector<Case> cases;
  const auto small = [](int64_t taps) {
    return Numbers{{"m", 32}, {"n", 16}, {"k", 16}, {"phases", 2}, {"taps", taps}};
  };
  for (const Shapes& sizes : kSizes) cases.push_back(transposed(sizes, small(2)));
  for (const size_t i : {1, 5}) cases.push_back(transposed(kSizes[i], small(1)));
  cases.push_back(transposed(kSizes[4]));
  cases.push_back(transposed(kSizes[4], {{"phases", 1}}));
  for (const Shapes& sizes : {kApart, kLine, kFour, kCut})
    cases.push_back(transposed(sizes, {{"m", 32}, {"n", 16}, {"k", 16}}));
  cases.push_back(transposed(kApart, {{"m", 128}, {"n", 128}, {"warps", 4}}));  // finished by halves
  for (const Shapes& sizes : kDilated) cases.push_back(transposed(sizes, {{"m", 32}, {"n", 16}, {"k", 16}}));
  testing::expect_close(cases, 1.5e-3, device);
  std::vector<Case> exact = {transposed(kApart, {}, "ieee")};
  for (const Shapes& sizes : {kApart, kSizes[1], kSizes[4], kSizes[5], kDilated[0], kDilated[4]})
    exact.push_back(transposed(sizes, {}, "two_part"));
  testing::expect_close(exact, 2e-6, device);
}

TEST(TorchTritonPhases, EqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_phases("cpu");
}

// A phase that lacks some of the kernel's elements does not multiply by zero what they would have met.
void expect_infinities(const std::string& device) {
  std::vector<Case> cases;
  const std::vector<Shapes> sizes = {kSizes[1],
                                     kSizes[5],
                                     kSizes[6],
                                     kCut,
                                     kDilated[0],
                                     kDilated[2],
                                     {"f32[1,4,5,6]", "f32[4,12,3,3]", "f32[12]"},
                                     {"f32[1,16,5,6]", "f32[16,12,1,1]", "f32[12]", 2, 0}};
  for (const char* precision : {"half", "two_part"})
    for (const Shapes& one : sizes) {
      cases.push_back(transposed(one, {{"m", 32}, {"n", 16}, {"k", 16}}, precision));
      std::vector<double>& x = cases.back().leaves[0];
      const double infinity = std::numeric_limits<double>::infinity();
      x[x.size() / 2] = infinity, x[x.size() / 3] = -infinity, x[x.size() - 1] = std::nan("");
    }
  testing::expect_close(cases, 1.5e-3, device);
}

// So does their definition: an infinity inside reaches as many results as the kernel has elements.
TEST(TritonPhases, AreDefinedByTheElementsThatTheyHave) {
  Case c = transposed({"f32[1,16,7,9]", "f32[16,20,3,3]", "f32[20]", 2, 1, 1});
  c.leaves[0][3 * 9 + 4] = std::numeric_limits<double>::infinity();
  const auto truth = evaluate(c.program, c.leaves);
  ASSERT_TRUE(truth.ok()) << truth.error().message();
  const std::vector<double>& y = truth->front();
  const auto finite = std::count_if(y.begin(), y.end(), [](double value) { return std::isfinite(value); });
  EXPECT_EQ(static_cast<int64_t>(y.size()) - finite, 20 * 3 * 3);
}

// All elements of a kernel, two apart, reach the second of two phases along each axis; which phases have products is
// said in bits.
TEST(TritonPhases, HaveNoLoopWithoutElements) {
  const Case c = transposed(kDilated[2]);
  const std::string text = print_triton_kernel(c.program, c.program.kernels[0], h200_hardware()).value().text;
  EXPECT_NE(text.find(" in range(((2 >> b) & (2 >> matrix_1) & 1) * 9):"), std::string::npos) << text;
}

TEST(TorchTritonPhases, MeetNoElementsThatTheyLack) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_infinities("cpu");
}

TEST(GpuTritonPhases, MeetNoElementsThatTheyLack) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_infinities("cuda");
}

TEST(GpuTritonPhases, EqualTheirDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_phases("cuda");
}

TEST(TorchTritonPhases, CompileAheadOfTime) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  const Shapes sizes = {"f32[2,128,64,64]", "f32[128,64,4,4]", "f32[64]"};
  const std::vector<Program> programs = {
      transposed(sizes).program, transposed(sizes, {{"phases", 1}}).program, transposed(sizes, {}, "two_part").program,
      transposed({"f32[2,64,64,64]", "f32[64,64,2,2]", "f32[64]", 2, 0}).program, transposed(kDilated[2]).program};
  const std::vector<std::string> failures = testing::compile_triton(programs);
  for (size_t i = 0; i < programs.size(); ++i) EXPECT_EQ(failures[i], "") << print(programs[i]);
}

}  // namespace
}  // namespace mtmc
