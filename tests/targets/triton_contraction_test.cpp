// Contractions on the triton target: numbers in two parts, promoted sums, results that are finished by halves, chunks
// of K; run by Triton's interpreter (or on the GPU) and compared with their definition in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/op.h"
#include "targets/case_maker.h"
#include "targets/recorded_programs.h"
#include "targets/target.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::expect_close;
using testing::Maker;
using Choices = std::map<std::string, std::string>;
using Numbers = std::map<std::string, int64_t>;

const Choices kSplit = {{"precision", "two_part"}}, kInChunks = {{"precision", "two_part"}, {"split", ""}};

Case linear_gelu(const char* x, const char* w, const char* b, const Choices& choices, const Numbers& numbers) {
  Maker m("linear_gelu");
  const ValueId y = m.op("linear", {m.in(x), m.in(w), m.in(b)});
  return m.one_kernel({m.op("gelu", {y}, {{"approximate", std::string("none")}})}, choices, numbers);
}

Case matmul(const char* x, const char* y, const Choices& choices, const Numbers& numbers) {
  Maker m("matmul");
  return m.one_kernel({m.op("matmul", {m.in(x), m.in(y)})}, choices, numbers);
}

std::vector<Case> f32_cases() {
  const Numbers small = {{"m", 32}, {"n", 32}, {"k", 32}, {"warps", 4}};
  std::vector<Case> cases;
  // Several promotions, the last after fewer blocks; operands that are packed as they are, and with room around them.
  cases.push_back(matmul("f32[40,416]", "f32[416,48]", kSplit, small));
  cases.push_back(linear_gelu("f32[40,416]", "f32[48,416]", "f32[48]", kSplit, small));
  cases.push_back(matmul("f32[33,403]", "f32[403,35]", kSplit, small));
  cases.push_back(linear_gelu("f32[33,403]", "f32[35,403]", "f32[35]", kSplit, small));
  cases.push_back(matmul("f32[3,33,67]", "f32[3,67,35]", kSplit, small));
  cases.push_back(matmul("f32[2,33,72]", "f32[72,35]", kSplit, small));
  // One thread holds 128 results.
  cases.push_back(
      linear_gelu("f32[130,96]", "f32[300,96]", "f32[300]", kSplit, {{"m", 128}, {"n", 256}, {"k", 32}, {"warps", 8}}));
  // The second half of its last columns is beyond the result, though a half fits into it three times.
  cases.push_back(
      linear_gelu("f32[140,96]", "f32[192,96]", "f32[192]", kSplit, {{"m", 128}, {"n", 128}, {"k", 32}, {"warps", 4}}));
  // Chunks of K: as many as were asked for, as many as the target likes, and none where K cannot be cut.
  cases.push_back(linear_gelu("f32[40,512]", "f32[48,512]", "f32[48]", kInChunks,
                              {{"m", 32}, {"n", 32}, {"k", 32}, {"warps", 4}, {"parts", 4}}));
  cases.push_back(matmul("f32[3,20,512]", "f32[3,512,24]", kInChunks, small));
  cases.push_back(matmul("f32[20,512]", "f32[512,24]", {{"precision", "ieee"}, {"split", ""}}, small));
  cases.push_back(matmul("f32[20,515]", "f32[515,24]", kInChunks, small));
  // Programs walk columns of tiles, the last group of them short.
  const Choices by_columns = {{"precision", "two_part"}, {"order", "reversed"}};
  cases.push_back(matmul("f32[70,64]", "f32[64,150]", by_columns, {{"m", 16}, {"n", 16}, {"k", 32}, {"warps", 4}}));
  cases.push_back(matmul("f32[3,40,64]", "f32[3,64,36]", by_columns, small));
  // The right operand is split in the loop: with whole blocks and without, along K or N first, for each of several
  // matrices, in chunks of K.
  const auto in_loop = [](Numbers numbers) {
    numbers["in_loop"] = 1;
    return numbers;
  };
  cases.push_back(linear_gelu("f32[40,416]", "f32[48,416]", "f32[48]", kSplit, in_loop(small)));
  cases.push_back(linear_gelu("f32[33,404]", "f32[35,404]", "f32[35]", kSplit, in_loop(small)));
  cases.push_back(matmul("f32[33,403]", "f32[403,35]", kSplit, in_loop(small)));
  cases.push_back(matmul("f32[3,20,512]", "f32[3,512,24]", kInChunks, in_loop(small)));
  // So short that it is a plain sum, and one that is not.
  cases.push_back(matmul("f32[6,3,3]", "f32[6,3,130]", kSplit, {}));
  cases.push_back(matmul("f32[6,3,5]", "f32[6,5,130]", kSplit, {}));
  return cases;
}

// A convolution whose windows of a row overlap within a block of K.
Case convolution(const char* x, const char* weight, const Choices& choices, const Attrs& attrs = {}) {
  Maker m("convolution");
  const ValueId y = m.op("conv2d", {m.in(x), m.in(weight), kNoValue}, attrs);
  return m.one_kernel({m.op("relu", {y})}, choices);
}

std::vector<Case> windows() {
  const std::vector<int64_t> two = {2, 2};
  return {
      convolution("f32[2,8,18,19]", "f32[20,8,3,3]", kSplit), convolution("f32[3,1,11,40]", "f32[4,1,1,9]", kSplit),
      convolution("f32[2,4,21,17]", "f32[24,4,5,5]", kSplit, {{"stride", two}, {"padding", two}}),
      convolution("f32[2,16,12,13]", "f32[100,16,5,5]", kSplit),  // sums are promoted
  };
}

// What is not finite spoils its row or column as it does in f32, wherever it meets what is not either.
Case not_finite() {
  Case result = matmul("f32[40,64]", "f32[64,48]", kSplit, {{"m", 16}, {"n", 16}, {"k", 16}, {"warps", 4}});
  std::vector<double>&x = result.leaves[0], &y = result.leaves[1];
  x[3 * 64 + 5] = INFINITY, x[20 * 64 + 7] = -INFINITY, x[30 * 64 + 1] = NAN;
  y[5 * 48 + 9] = -INFINITY, y[40 * 48 + 11] = INFINITY;
  return result;
}

// Behind the rows of one part lie those of the other, here with what is not finite first.
Case not_finite_in_rooms(bool by_rows) {
  const Numbers tiles = {{"m", 16}, {"n", 16}, {"k", 64}, {"warps", 4}};
  Case result = by_rows ? linear_gelu("f32[35,67]", "f32[37,67]", "f32[37]", kSplit, tiles)
                        : matmul("f32[35,67]", "f32[67,37]", kSplit, tiles);
  std::vector<double>&x = result.leaves[0], &y = result.leaves[1];
  x[0] = NAN, x[2] = INFINITY, x[66] = -INFINITY;
  y[3] = INFINITY, y[5 * 37 + 2] = -INFINITY;
  return result;
}

std::vector<Case> half_cases() {
  const Numbers small = {{"m", 32}, {"n", 32}, {"k", 32}, {"warps", 4}};
  const Choices half = {{"precision", "half"}};
  return {
      linear_gelu("f16[40,512]", "f16[48,512]", "f16[48]", {{"split", ""}}, {}),
      matmul("f32[33,203]", "f32[203,35]", half, small),
      linear_gelu("f32[33,203]", "f32[35,203]", "f32[35]", half, small),
      matmul("f32[3,33,67]", "f32[3,67,35]", half, small),
  };
}

// A single number that a product's launch computes beside its tiles.
Case number_beside_product() {
  Maker m("number_beside_product");
  const ValueId y = m.op("matmul", {m.in("f32[3,33,67]"), m.in("f32[3,67,35]")});
  const ValueId number = m.op("exp", {m.in("f32[]")});
  const ValueId scale = m.op("exp", {m.op("mul", {m.in("f32[3,1,1]"), number})});
  return m.one_kernel({m.op("mul", {y, scale})}, kSplit);
}

void expect_contractions(const std::string& device) {
  std::vector<Case> exact = f32_cases();
  exact.push_back(number_beside_product());
  exact.push_back(not_finite());
  for (const bool by_rows : {false, true}) exact.push_back(not_finite_in_rooms(by_rows));
  for (Case& one : windows()) exact.push_back(std::move(one));
  expect_close(exact, 2e-6, device);
  expect_close(half_cases(), 1.5e-3, device);
}

// Rows of odd length have room behind them, so that they begin where rectangles may; others are as long as they are.
TEST(TritonContraction, ReadsPackedOperandsOfAnySizeByRectangles) {
  for (const char* precision : {"two_part", "half"})
    for (const auto& [x, y] : {std::pair("f32[205,149]", "f32[149,121]"), std::pair("f32[205,149]", "f32[149,128]"),
                               std::pair("f32[205,128]", "f32[128,121]"), std::pair("f32[3,205,72]", "f32[3,72,121]"),
                               std::pair("f32[256,128]", "f32[128,64]")}) {
      const Case one = matmul(x, y, {{"precision", precision}}, {});
      const TritonKernel kernel = print_triton_kernel(one.program, one.program.kernels[0], h200_hardware()).value();
      for (const char* side : {"left", "right"}) {
        const std::string tiles = std::string(side) + (precision[0] == 'h' ? "_half" : "_high") + "_tiles.load([";
        EXPECT_THAT(kernel.text, ::testing::HasSubstr(std::string(side) + " = " + tiles)) << x << " " << y;
      }
      EXPECT_EQ(kernel.zeros, std::string(x) != "f32[256,128]") << x << " " << y;
    }
  Maker m("linear");
  const Case linear = m.one_kernel({m.op("linear", {m.in("f32[205,149]"), m.in("f32[121,149]"), kNoValue})}, kSplit);
  const TritonKernel kernel = print_triton_kernel(linear.program, linear.program.kernels[0], h200_hardware()).value();
  EXPECT_THAT(kernel.calls.back(), ::testing::HasSubstr("left_high, 410, 152, "));
  EXPECT_THAT(kernel.calls.back(), ::testing::HasSubstr("right_high, 242, 152, "));
}

// An operand that is computed of several tensors brings them all: fewer steps ahead fit shared memory.
TEST(TritonContraction, LoadsNoMoreAheadThanSharedMemoryHolds) {
  const auto last_call = [](int tensors) {
    Maker m("sums");
    ValueId sum = m.in("f16[4096,512]");
    for (int i = 1; i < tensors; ++i) sum = m.op("add", {sum, m.in("f16[4096,512]")});
    const Case one = m.one_kernel({m.op("linear", {sum, m.in("f16[256,512]"), kNoValue})}, {{"precision", "ieee"}});
    return print_triton_kernel(one.program, one.program.kernels[0], h200_hardware()).value().calls.back();
  };
  EXPECT_THAT(last_call(1), ::testing::HasSubstr("stages=3"));
  EXPECT_THAT(last_call(8), ::testing::HasSubstr("stages=2"));
}

// Windows that overlap are not loaded ahead; each of their parts is loaded once for all products with it.
TEST(TritonContraction, LoadsOverlappingWindowsWhenTheyAreMultiplied) {
  const auto printed = [](const char* x, const char* weight) {
    const Case one = convolution(x, weight, kSplit);
    const auto text = print_triton_kernel(one.program, one.program.kernels[0], h200_hardware()).value();
    return std::pair(text.text, text.calls.back());
  };
  const auto [few, few_call] = printed("f32[2,8,18,19]", "f32[20,8,3,3]");
  EXPECT_THAT(few, ::testing::HasSubstr("small = tl.dot(left, right_1, small)\n"
                                        "        small = tl.dot(left_1, right, small)\n"
                                        "        acc = tl.dot(left, right, acc)\n"));
  EXPECT_THAT(few_call, ::testing::Not(::testing::HasSubstr("stages")));
  const auto [many, many_call] = printed("f32[2,64,18,19]", "f32[20,64,3,3]");
  EXPECT_THAT(many, ::testing::Not(::testing::HasSubstr("small")));
  EXPECT_THAT(many_call, ::testing::HasSubstr("stages=4"));
}

// A left operand that is computed on the way.
Program scaled_linear() {
  Maker m("scaled_linear");
  const ValueId x = m.op("mul", {m.in("f16[4096,512]"), m.in("f16[512]")});
  return m.one_kernel({m.op("linear", {x, m.in("f16[1536,512]"), kNoValue})}, {{"precision", "ieee"}}).program;
}

// What is multiplied out of registers must stay there until it is multiplied.
TEST(TritonContraction, WaitsForProductsOfWhatItComputes) {
  const auto text_of = [](bool computes) {
    Maker m("product");
    ValueId x = m.in("f16[4096,512]");
    if (computes) x = m.op("mul", {x, m.in("f16[512]")});
    const Case one = m.one_kernel({m.op("linear", {x, m.in("f16[1536,512]"), kNoValue})}, {{"precision", "ieee"}});
    return print_triton_kernel(one.program, one.program.kernels[0], h200_hardware()).value().text;
  };
  EXPECT_THAT(text_of(true), ::testing::HasSubstr("acc = tl.dot(left, right, acc)\n        acc = _settled(acc)\n"));
  EXPECT_THAT(text_of(false), ::testing::Not(::testing::HasSubstr("_settled")));
}

// Layers of two sizes in one kernel: the smaller one has numbers of its own, which change its function alone.
TEST(TritonContraction, EachProductOfAKernelHasItsTiles) {
  Maker m("two_sizes");
  const ValueId hidden = m.op("relu", {m.op("linear", {m.in("f32[512,1024]"), m.in("f32[2048,1024]"), kNoValue})});
  Case one = m.one_kernel({m.op("linear", {hidden, m.in("f32[512,2048]"), kNoValue})},
                          {{"precision", "two_part"}, {"tiled", ""}});
  const Program& program = one.program;
  const std::vector<Numbers> all = triton_candidates(program, program.kernels[0], h200_hardware());
  const std::string part = "of512x512x2048_";
  const auto own = std::find_if(all.begin(), all.end(), [&](const Numbers& n) { return n.contains(part + "m"); });
  ASSERT_NE(own, all.end());
  const auto text = [&](const Numbers& numbers) {
    Program changed = program;
    changed.kernels[0].numbers = numbers;
    return print_triton_kernel(changed, changed.kernels[0], h200_hardware()).value().text;
  };
  const std::string before = text(all[0]), after = text(*own);
  EXPECT_NE(before, after);
  const size_t second = before.rfind("@triton.jit");
  EXPECT_EQ(before.substr(0, second), after.substr(0, second)) << "the larger product is as it was";
  EXPECT_EQ(parse_program(print(program)).value(), program);
}

// Weights of 64 MB that 128 rows are multiplied with are split where they are multiplied, and the tuner tries without.
TEST(TritonContraction, LargeWeightsOfFewRowsAreSplitInTheLoop) {
  const auto text = [](const char* rows, const char* weights, const Numbers& numbers = {}) {
    Maker m("linear");
    const Program program = m.kernel_of({m.op("linear", {m.in(rows), m.in(weights), kNoValue})},
                                        {{"precision", "two_part"}, {"tiled", ""}}, numbers);
    return print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
  };
  using ::testing::HasSubstr, ::testing::Not, ::testing::AllOf;
  const auto in_loop = AllOf(HasSubstr(" = _parts(right)"), Not(HasSubstr("right_high")));
  EXPECT_THAT(text("f32[128,4096]", "f32[4096,4096]"), in_loop);
  EXPECT_THAT(text("f32[1024,4096]", "f32[4096,4096]"), Not(in_loop));
  EXPECT_THAT(text("f32[128,512]", "f32[512,512]"), Not(in_loop));
  Maker m("linear");
  const Program program = m.kernel_of({m.op("linear", {m.in("f32[128,4096]"), m.in("f32[4096,4096]"), kNoValue})},
                                      {{"precision", "two_part"}, {"tiled", ""}});
  const Numbers without = triton_candidates(program, program.kernels[0], h200_hardware())[1];
  EXPECT_EQ(without.at("in_loop"), 0);
  EXPECT_THAT(text("f32[128,4096]", "f32[4096,4096]", without), Not(in_loop));
}

// Where tiles of another product hold whole rows, the tuner tries without the one and without the other.
TEST(TritonContraction, WhatAKernelMayDoWithoutIsTriedOneByOne) {
  Maker m("two_products");
  const ValueId y = m.op("linear", {m.in("f32[128,4096]"), m.in("f32[4096,4096]"), kNoValue});
  const ValueId z = m.op("linear", {m.in("f32[4096,64]"), m.in("f32[64,64]"), kNoValue});
  const Program program =
      m.kernel_of({y, m.op("softmax", {z}, {{"dim", int64_t{1}}})}, {{"precision", "two_part"}, {"tiled", ""}});
  std::map<std::string, int> without;
  for (const Numbers& numbers : triton_candidates(program, program.kernels[0], h200_hardware()))
    for (const char* key : {"in_loop", "reads_again"}) without[key] += static_cast<int>(numbers.count(key));
  EXPECT_EQ(without["in_loop"], 1);
  EXPECT_EQ(without["reads_again"], 1);
}

TEST(TorchTritonContraction, EqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_contractions("cpu");
}

TEST(GpuTritonContraction, EqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_contractions("cuda");
}

// One kernel multiplies in three ways: whole numbers are exact in f16, and nothing else is.
std::vector<Case> as_eager_cases() {
  std::vector<Case> cases;
  Maker m("as_eager");
  const ValueId x = m.in("f32[2,16,6,7]"), w = m.in("f32[16,16,3,3]");
  const Attrs full = {{"padding", std::vector<int64_t>{1, 1}}, {std::string(kFullF32), true}};
  const ValueId in_tf32 = m.op("conv2d", {x, w, kNoValue}, {{"padding", std::vector<int64_t>{1, 1}}});
  const ValueId in_f32 = m.op("conv2d", {x, m.in("f32[40,16,3,3]"), m.in("f32[40]")}, full);
  const ValueId many = m.op("linear", {m.in("f32[48,64]"), m.in("f32[40,64]"), kNoValue});
  const ValueId few = m.op("linear", {m.in("f32[3,64]"), m.in("f32[40,64]"), m.in("f32[40]")});
  cases.push_back(m.one_kernel({in_tf32, in_f32, many, few}, {{"precision", "as_eager"}}));
  for (const int leaf : {0, 1})
    for (double& value : cases.back().leaves[leaf]) value = std::round(4 * value);
  return cases;
}

TEST(TorchTritonContraction, AsExactAsEagerProductByProduct) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_close(as_eager_cases(), 3e-6, "cpu");
}

TEST(GpuTritonContraction, AsExactAsEagerProductByProduct) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_close(as_eager_cases(), 3e-6, "cuda");
}

TEST(TorchTritonContraction, CompilesAheadOfTime) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  const std::vector<Program> programs = {
      linear_gelu("f32[256,2048]", "f32[512,2048]", "f32[512]", kSplit, {}).program,
      linear_gelu("bf16[64,4096]", "bf16[64,4096]", "bf16[64]", {{"split", ""}}, {}).program,
      scaled_linear(),
      matmul("f32[205,2949]", "f32[2949,521]", kSplit, {}).program,
      // Results of more than 2^31 elements.
      matmul("bf16[33,8192,64]", "bf16[33,64,8192]", {}, {}).program,
      matmul("f32[33,8192,64]", "f32[33,64,8192]", kSplit, {}).program,
  };
  const std::vector<std::string> failures = testing::compile_triton(programs);
  for (size_t i = 0; i < programs.size(); ++i) EXPECT_EQ(failures[i], "") << print(programs[i]);
}

}  // namespace
}  // namespace mtmc
