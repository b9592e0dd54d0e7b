// How many launches the triton target makes of one kernel.
#include <gtest/gtest.h>

#include "targets/case_maker.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Maker;
using testing::printed;

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(Launches, AttentionIsOne) {
  for (const bool causal : {false, true}) {
    Maker m("attention");
    const ValueId q = m.in("bf16[2,4,256,64]"), k = m.in("bf16[2,4,256,64]"), v = m.in("bf16[2,4,256,64]");
    const auto one = m.one_kernel({m.op("scaled_dot_product_attention", {q, k, v, kNoValue}, {{"is_causal", causal}})});
    const TritonKernel kernel = printed(one);
    EXPECT_EQ(kernel.calls.size(), 1u) << kernel.text;
    EXPECT_TRUE(kernel.scratch.empty()) << "scores reach memory";
  }
}

TEST(Launches, AttentionStaysOneWhenALayerJoinsIt) {
  for (const auto& [dtype, precision, products] :
       {std::tuple{std::string("f16"), "ieee", 1u}, {std::string("f32"), "two_part", 3u}}) {
    Maker m("attention");
    const auto in = [&, type = dtype](const std::string& shape) { return m.in((type + shape).c_str()); };
    const ValueId q = in("[2,4,256,64]"), k = in("[2,4,256,64]"), v = in("[2,4,256,64]");
    const ValueId heads = m.op("scaled_dot_product_attention", {q, k, v, kNoValue});
    const TritonKernel kernel =
        printed(m.one_kernel({m.op("linear", {heads, in("[96,64]"), kNoValue})}, {{"precision", precision}}));
    EXPECT_EQ(count(kernel.text, "tl.dot(query"), products) << kernel.text;
    EXPECT_EQ(count(kernel.text, "scores"), 0u) << "scores reach memory";
  }
}

TEST(Launches, KeysAreComputedBeforeAnyQueryMeetsThem) {
  Maker m("attention");
  const ValueId q = m.in("f16[2,4,1024,64]"), k = m.in("f16[2,2,1024,64]"), v = m.in("f16[2,2,1024,64]");
  const ValueId turned = m.op("silu", {m.op("mul", {k, m.in("f16[1024,64]")})});
  const TritonKernel kernel =
      printed(m.one_kernel({m.op("scaled_dot_product_attention", {q, turned, v, kNoValue}, {{"enable_gqa", true}})},
                           {{"precision", "ieee"}}));
  EXPECT_EQ(kernel.calls.size(), 2u) << kernel.text;
}

// Falling back to other code would give the same numbers.
TEST(Launches, AttentionOfF32IsOneAfterItsOperandsAreInTwoParts) {
  Maker m("attention");
  const ValueId q = m.in("f32[2,4,256,64]"), k = m.in("f32[2,4,256,64]"), v = m.in("f32[2,4,256,64]");
  const TritonKernel kernel =
      printed(m.one_kernel({m.op("scaled_dot_product_attention", {q, k, v, kNoValue})}, {{"precision", "two_part"}}));
  EXPECT_EQ(kernel.calls.size(), 2u) << kernel.text;
  EXPECT_NE(kernel.text.find("tl.dot(query_low, key)"), std::string::npos) << kernel.text;
  EXPECT_EQ(kernel.text.find("tf32x3"), std::string::npos);
}

TEST(Launches, HeadsTooWideForOneTileAreTwoProductsAndASoftmaxThatPacks) {
  Maker m("attention");
  const ValueId q = m.in("f32[2,4,256,1024]"), k = m.in("f32[2,4,256,1024]"), v = m.in("f32[2,4,256,1024]");
  const TritonKernel kernel =
      printed(m.one_kernel({m.op("scaled_dot_product_attention", {q, k, v, kNoValue})}, {{"precision", "two_part"}}));
  EXPECT_EQ(kernel.calls.size(), 6u) << kernel.text;
  EXPECT_NE(kernel.text.find("def k0_left_low_2(scores, row_sum,"), std::string::npos) << kernel.text;
}

TEST(Launches, APartOfAConcatenationIsStoredByWhoeverComputesIt) {
  Maker m("pools");
  const Attrs window = {{"kernel_size", std::vector<int64_t>{5, 5}},
                        {"padding", std::vector<int64_t>{2, 2}},
                        {"stride", std::vector<int64_t>{1, 1}}};
  const ValueId x = m.in("f32[16,64,64,64]"), pool = m.op("max_pool2d", {x}, window);
  const TritonKernel kernel = printed(m.one_kernel({m.op("cat", {x, pool}, {{"dim", int64_t{1}}})}));
  EXPECT_EQ(kernel.calls.size(), 2u) << kernel.text;
  EXPECT_TRUE(kernel.scratch.empty()) << "the pool is in memory twice";
}

// The lanes of a program that each had a row of 64 would read a line apiece.
TEST(Launches, LanesReadShortRowsTogether) {
  const auto text = [](const char* type, int64_t dim) {
    Maker m("sums");
    return printed(m.one_kernel({m.op("sum", {m.in(type)}, {{"dim", std::vector<int64_t>{dim}}})})).text;
  };
  EXPECT_EQ(count(text("f32[5000,64]", 1), "static_range"), 0u);
  EXPECT_EQ(count(text("f16[5000,32]", 1), "static_range"), 0u);
  EXPECT_EQ(count(text("f32[5000,4]", 1), "static_range"), 1u) << "less than a line has room for several rows";
  EXPECT_EQ(count(text("f32[10,64,5000]", 1), "static_range"), 1u) << "neighbours are sums, not what is summed";
}

// What is squared twice over looks like what an attention divides, and is none.
TEST(Launches, ANormAndAMeanKeepNothing) {
  Maker m("normed_mean");
  const ValueId x = m.in("f32[8,24,10,30]"), scale = m.in("f32[24]"), shift = m.in("f32[24]");
  const ValueId norm = m.op("group_norm", {x, scale, shift}, {{"num_groups", int64_t{8}}, {"eps", 1e-5}});
  const TritonKernel kernel = printed(m.one_kernel({m.op("mean", {norm}, {{"dim", std::vector<int64_t>{1, 2, 3}}})}));
  for (const std::string& made : kernel.scratch)  // _k0_sum = _scratch("k0_sum", 64, torch.float32)
    EXPECT_LT(std::stoll(made.substr(made.find(", ") + 2)), 8 * 24 * 10 * 30) << made;
}

// Rows of 20 beside rows of 3,000: the long ones have the columns.
TEST(Launches, LongRowsHaveTheColumns) {
  Maker m("sums");
  const auto sum = [&](const char* type) { return m.op("sum", {m.in(type)}, {{"dim", std::vector<int64_t>{1}}}); };
  const Program program = m.kernel_of({m.op("mul", {sum("f32[20000,20]"), sum("f32[20000,3000]")})});
  const auto kernel = print_triton_kernel(program, program.kernels[0], h200_hardware());
  ASSERT_TRUE(kernel.ok()) << kernel.error().message();
  EXPECT_EQ(count(kernel->text, "range(3000)"), 0u) << kernel->text;
}

// A program for each tile of columns would compute it again.
TEST(Launches, CostlyHalfOperandsOfManyTilesAreWrittenOnce) {
  const auto kernel = [](const char* weights) {
    Maker m("gated");
    const ValueId gate = m.op("silu", {m.in("bf16[512,512]")}), x = m.op("mul", {gate, m.in("bf16[512,512]")});
    return printed(m.one_kernel({m.op("linear", {x, m.in(weights), kNoValue})}, {{"precision", "ieee"}}));
  };
  EXPECT_EQ(kernel("bf16[256,512]").calls.size(), 1u);
  const TritonKernel many = kernel("bf16[1024,512]");
  EXPECT_EQ(many.calls.size(), 2u) << many.text;
  EXPECT_EQ(count(many.text, "_exp("), 1u) << many.text;
}

// Behind a batch norm in training a depthwise convolution: channels are what both share, and too few.
TEST(Launches, WindowsAlongLongRowsAreALaunchOfTheirOwn) {
  Maker m("inverted_residual");
  const ValueId weight = m.in("f32[264]"), bias = m.in("f32[264]");
  const ValueId x = m.op("batch_norm_train", {m.in("f32[2,264,96,96]"), weight, bias, weight, weight},
                         {{"eps", 1e-5}, {"momentum", 0.1}});
  const ValueId y = m.op("conv2d", {m.op("relu", {x}), m.in("f32[264,1,5,5]"), kNoValue},
                         {{"stride", std::vector<int64_t>{1, 1}},
                          {"padding", std::vector<int64_t>{2, 2}},
                          {"dilation", std::vector<int64_t>{1, 1}},
                          {"groups", int64_t{264}}});
  const TritonKernel kernel = printed(m.one_kernel({y, x + 3, x + 4}, {{"split", ""}}));
  const auto windows = std::find_if(kernel.calls.begin(), kernel.calls.end(), [](const std::string& call) {
    return call.find("conv2d") != call.npos || call.find("product") != call.npos;
  });
  ASSERT_NE(windows, kernel.calls.end());
  EXPECT_GT(std::stoul(windows->substr(windows->find(", ") + 2)), 1000u) << *windows;
}

// A launch whose columns are a convolution's windows would walk the sums of a channel one number after the other.
TEST(Launches, SumsOfAChannelAreNotWalkedBesideItsWindows) {
  Maker m("inverted_residual");
  const ValueId weight = m.in("f32[512]"), bias = m.in("f32[512]");
  const ValueId x = m.op("batch_norm_train", {m.in("f32[10,512,14,14]"), weight, bias, weight, weight},
                         {{"eps", 1e-5}, {"momentum", 0.1}});
  const ValueId y = m.op("conv2d", {m.op("relu", {x}), m.in("f32[512,1,3,3]"), kNoValue},
                         {{"padding", std::vector<int64_t>{1, 1}}, {"groups", int64_t{512}}});
  const TritonKernel kernel = printed(m.one_kernel({y, x + 3, x + 4}));
  EXPECT_EQ(kernel.calls.size(), 2u) << kernel.text;
  EXPECT_EQ(kernel.text.find(" in range("), kernel.text.npos) << kernel.text;
}

TEST(Launches, OverlappingWindowsReadWhatTheyShareOnce) {
  Maker m("pool");
  const Attrs window = {{"kernel_size", std::vector<int64_t>{5, 5}},
                        {"padding", std::vector<int64_t>{2, 2}},
                        {"stride", std::vector<int64_t>{1, 1}}};
  const std::string text = printed(m.one_kernel({m.op("max_pool2d", {m.in("f32[16,64,64,64]")}, window)})).text;
  EXPECT_EQ(count(text, "tl.load("), 60u) << text;
}

TEST(Launches, LinesThatFillTheirBlocksBadlyRunOn) {
  Maker m("conv");  // with zeros around them, 66 pixels: two blocks of 64 each, but 69 for all 66 lines
  const ValueId x = m.in("f32[2,64,64,64]"), w = m.in("f32[64,64,3,3]");
  const TritonKernel kernel = printed(m.one_kernel(
      {m.op("conv2d", {x, w, kNoValue}, {{"padding", std::vector<int64_t>{1, 1}}})}, {{"precision", "half"}}));
  EXPECT_NE(kernel.calls[0].find("_channels_last_and_right_half, 202, "), std::string::npos) << kernel.calls[0];
}

// Different numbers of programs, and of warps, when they were launches by themselves.
TEST(Launches, WeightsArePackedByTheFirstProgramsOfTheCopy) {
  Maker m("linear");
  const TritonKernel kernel = printed(m.one_kernel(
      {m.op("linear", {m.in("f32[512,256]"), m.in("f32[96,256]"), kNoValue})}, {{"precision", "two_part"}}));
  ASSERT_EQ(kernel.calls.size(), 2u) << kernel.text;
  EXPECT_NE(kernel.text.find("    if program < 96:\n        k0_right_low(program, "), std::string::npos) << kernel.text;
}

TEST(Launches, ATensorMayBeCalledProgram) {
  Maker m("linear");
  auto one = m.one_kernel({m.op("linear", {m.in("f32[512,256]"), m.in("f32[96,256]"), kNoValue})},
                          {{"precision", "two_part"}});
  one.program.values[0].name = "program";
  const std::string text = printed(one).text;
  EXPECT_NE(text.find("    program_ = tl.program_id(0)\n    if program_ < 96:"), std::string::npos) << text;
}

TEST(Launches, ThereAreNoneOfNothing) {
  Maker sum("sum"), product("product");
  for (const auto& one : {sum.one_kernel({sum.op("sum", {sum.in("f32[4,0]")}, {{"dim", std::vector<int64_t>{1}}})}),
                          product.one_kernel({product.op("matmul", {product.in("f32[4,0]"), product.in("f32[0,5]")})},
                                             {{"precision", "two_part"}})}) {
    const auto kernel = print_triton_kernel(one.program, one.program.kernels[0], h200_hardware());
    ASSERT_FALSE(kernel.ok());
    EXPECT_NE(kernel.error().message().find("tensors without elements"), std::string::npos) << kernel.error().message();
    EXPECT_TRUE(triton_candidates(one.program, one.program.kernels[0], h200_hardware()).empty());
  }
}

TEST(Launches, RowsAreOneAndTheirSplitSumsTwo) {
  Maker m("softmax");
  EXPECT_EQ(printed(m.one_kernel({m.op("softmax", {m.in("f32[300,20000]")}, {{"dim", int64_t{1}}})})).calls.size(), 1u);
  Maker s("sum");
  EXPECT_EQ(printed(s.one_kernel({s.op("sum", {s.in("f32[300000]")})}, {{"split", ""}})).calls.size(), 2u);
}

TEST(Launches, PhasesOfATransposedConvolutionAreStoredInTheirPlaces) {
  Maker m("transposed");
  const ValueId x = m.in("f32[2,64,32,32]"), w = m.in("f32[64,32,3,3]"), b = m.in("f32[32]");
  const ValueId y = m.op("conv_transpose2d", {x, w, b},
                         {{"stride", std::vector<int64_t>{2, 2}}, {"padding", std::vector<int64_t>{1, 1}}});
  const TritonKernel kernel = printed(m.one_kernel({m.op("relu", {y})}, {{"precision", "half"}}));
  for (const std::string& made : kernel.scratch) EXPECT_EQ(made.find("phases"), std::string::npos) << made;
}

// What both column phases read is read once, and neighbouring lanes store neighbouring elements.
TEST(Launches, ColumnsOfATransposedConvolutionAreStoredTogether) {
  const auto text = [](int64_t stride, int64_t kernel, int64_t padding = 1) {
    Maker m("transposed");
    const std::string taps = std::to_string(kernel), weight = "f32[64,32," + taps + "," + taps + "]";
    const ValueId y =
        m.op("conv_transpose2d", {m.in("f32[2,64,32,32]"), m.in(weight.c_str()), kNoValue},
             {{"stride", std::vector<int64_t>{stride, stride}}, {"padding", std::vector<int64_t>{padding, padding}}});
    return printed(m.one_kernel({m.op("relu", {y})}, {{"precision", "half"}})).text;
  };
  const std::string even = text(2, 4);
  EXPECT_EQ(count(even, "tl.dot("), 4u) << even;
  EXPECT_EQ(count(even, "tl.load(x0_channels_last + "), 3u) << even;
  EXPECT_EQ(count(even, "tl.reshape(tl.permute(tl.join("), 1u) << even;
  EXPECT_EQ(count(text(2, 3), "tl.join("), 1u);  // a result of odd size
  EXPECT_EQ(count(text(3, 4), "tl.join("), 0u);
  EXPECT_EQ(count(text(2, 2, 0), "tl.reshape(tl.permute(tl.reshape("), 1u);  // phases are columns of one product
}

TEST(Launches, ScalarsAreNumbersInTheText) {
  Maker m("scaled");
  const ValueId x = m.in("f32[64,64]"), factor = m.in("f32[]", ValueKind::constant);
  testing::Case one = m.one_kernel({m.op("mul", {x, factor})});
  one.program.values[1].name = "2.5";
  const TritonKernel kernel = printed(one);
  EXPECT_NE(kernel.text.find(" * 2.5)"), std::string::npos) << kernel.text;
  EXPECT_EQ(count(kernel.text, "tl.load("), 1u) << kernel.text;
}

// Of two numbers of Python tl.where would make an int32.
TEST(Launches, WholeScalarsKeepTheirType) {
  Maker m("chosen");
  const ValueId x = m.in("b1[64]"), a = m.in("i64[]", ValueKind::constant), b = m.in("i64[]", ValueKind::constant);
  testing::Case one = m.one_kernel({m.op("mul", {m.op("where", {x, a, b}), a})});
  one.program.values[1].name = "100000", one.program.values[2].name = "0";
  EXPECT_EQ(count(printed(one).text, "100000"), 0u) << printed(one).text;
}

TritonKernel norm_after_phases(const char* precision) {
  Maker m("transposed");
  const ValueId y = m.op("conv_transpose2d", {m.in("f32[32,64,32,32]"), m.in("f32[64,32,4,4]"), m.in("f32[32]")},
                         {{"stride", std::vector<int64_t>{2, 2}}, {"padding", std::vector<int64_t>{1, 1}}});
  return printed(
      m.one_kernel({m.op("layer_norm", {y, kNoValue, kNoValue}, {{"normalized_shape", std::vector<int64_t>{64}}})},
                   {{"precision", precision}}));
}

// Rows of phases lie in several runs of memory; what is known to lie side by side (here the bias) is too small to say
// how they are walked.
TEST(Launches, RowsOfPhasesAreReadOnce) {
  const std::string text = norm_after_phases("ieee").text, rows = text.substr(text.find("def k0_out_"));
  EXPECT_NE(rows.find("// 2"), std::string::npos) << "no phases\n" << rows;
  EXPECT_EQ(count(rows, "for "), 0u) << rows;
}

TEST(Launches, PhasesOfHalvesAreInterleavedBeforeANorm) {
  const TritonKernel kernel = norm_after_phases("half");
  const std::string rows = kernel.text.substr(kernel.text.find("def k0_out_"));
  EXPECT_EQ(rows.find("// 2"), std::string::npos) << rows;
  for (const std::string& made : kernel.scratch) EXPECT_EQ(made.find("phases"), std::string::npos) << made;
}

TEST(Launches, BranchesShareTheCopyOfWhatTheyMultiply) {
  Maker m("branches");
  const ValueId x = m.in("f32[1024,2048]");
  const ValueId a = m.op("linear", {x, m.in("f32[96,2048]"), kNoValue});
  const ValueId b = m.op("linear", {x, m.in("f32[64,2048]"), kNoValue});
  const TritonKernel kernel =
      printed(m.one_kernel({m.op("cat", {a, b}, {{"dim", int64_t{1}}})}, {{"precision", "half"}}));
  size_t copies = 0;
  for (const std::string& made : kernel.scratch) copies += count(made, "\"k0_left_half");
  EXPECT_EQ(copies, 1u) << kernel.text;
}

// Inlined into the second one, every window of the first one's result would be copied apart.
TEST(Launches, WindowsOfAConvolutionsResultAreNotCopiedApart) {
  Maker m("two");
  const Attrs padded = {{"padding", std::vector<int64_t>{1, 1}}};
  const ValueId first = m.op("conv2d", {m.in("f32[2,64,32,32]"), m.in("f32[96,64,1,1]"), m.in("f32[96]")});
  const TritonKernel kernel = printed(
      m.one_kernel({m.op("conv2d", {first, m.in("f32[64,96,3,3]"), kNoValue}, padded)}, {{"precision", "half"}}));
  size_t laid = 0;
  for (const std::string& made : kernel.scratch)
    laid += count(made, "_channels_last\", " + std::to_string(2 * 34 * 34 * 96));
  EXPECT_EQ(laid, 1u) << kernel.text;
}

// Matrix units take sixteen elements at a time, and what they take would have to be packed.
TEST(Launches, ProductsAlongFewElementsArePlainSums) {
  for (const bool few : {true, false}) {
    Maker m("mix");
    const ValueId x = m.in(few ? "f32[64,3,4]" : "f32[64,3,5]"), y = m.in(few ? "f32[64,4,256]" : "f32[64,5,256]");
    const TritonKernel kernel = printed(m.one_kernel({m.op("matmul", {x, y})}, {{"precision", "two_part"}}));
    EXPECT_EQ(count(kernel.text, "tl.dot(") == 0, few) << kernel.text;
    EXPECT_EQ(kernel.calls.size() == 1, few) << kernel.text;
  }
}

}  // namespace
}  // namespace mtmc
