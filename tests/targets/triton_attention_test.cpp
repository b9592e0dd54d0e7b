// Attention on the triton target, run by Triton's interpreter (or on the GPU) and compared with its definition
// evaluated in double; and compiled for GPUs that are not here.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "targets/case_maker.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::expect_close;
using testing::Maker;

void attention_cases(std::vector<Case>& cases, const std::string& dtype, const std::string& precision = "ieee") {
  const std::map<std::string, std::string> choices = {{"precision", precision}};
  const auto in = [&](Maker& m, const std::string& shape) { return m.in((dtype + shape).c_str()); };
  for (const bool causal : {false, true})
    for (const std::string shape : {"[1,2,64,16]", "[2,2,41,24]"}) {
      Maker m(causal ? "causal_attention" : "attention");
      const ValueId q = in(m, shape), k = in(m, shape), v = in(m, shape);
      cases.push_back(m.one_kernel({m.op("scaled_dot_product_attention", {q, k, v, kNoValue}, {{"is_causal", causal}})},
                                   choices, {{"m", 32}, {"n", 16}, {"warps", 4}, {"stages", 2}}));
    }
  for (const bool causal : {false, true}) {  // two products and a softmax between them
    Maker wide("wide_heads");
    const ValueId q = in(wide, "[1,2,33,272]"), k = in(wide, "[1,2,33,272]"), v = in(wide, "[1,2,33,272]");
    cases.push_back(wide.one_kernel(
        {wide.op("scaled_dot_product_attention", {q, k, v, kNoValue}, {{"is_causal", causal}})}, choices));
  }
  Maker w("written_out");
  const ValueId q = in(w, "[2,3,40,16]"), k = in(w, "[2,3,16,40]"), v = in(w, "[2,3,40,32]");
  const ValueId softmax = w.op("softmax", {w.op("matmul", {q, k})}, {{"dim", int64_t{-1}}});
  cases.push_back(w.one_kernel({w.op("matmul", {softmax, v})}, choices));
  Maker masked("masked");
  const ValueId mq = in(masked, "[1,2,33,16]"), mk = in(masked, "[1,2,33,16]"), mv = in(masked, "[1,2,33,16]");
  const ValueId mask = masked.in("b1[33,33]");
  cases.push_back(masked.one_kernel({masked.op("scaled_dot_product_attention", {mq, mk, mv, mask})}, choices));
  for (const bool hides : {false, true}) {  // the layer behind it in the same kernel
    Maker m("and_a_layer");
    const ValueId x = in(m, "[1,2,33,16]"), y = in(m, "[1,2,33,16]"), z = in(m, "[1,2,33,16]");
    const ValueId heads = m.op("scaled_dot_product_attention", {x, y, z, hides ? m.in("b1[33,33]") : kNoValue});
    const ValueId rows = m.op("transpose", {heads}, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}});
    const ValueId flat = m.op("reshape", {rows}, {{"shape", std::vector<int64_t>{33, 32}}});
    cases.push_back(m.one_kernel({m.op("linear", {flat, in(m, "[48,32]"), kNoValue})}, choices));
  }
  for (const bool batched :
       {true, false}) {  // no softmax: retention, and an MLP whose hidden features stay on the chip
    Maker m(batched ? "retention" : "perceptron");
    const ValueId x = in(m, batched ? "[2,3,41,16]" : "[70,16]"), y = in(m, batched ? "[2,3,16,41]" : "[16,41]");
    const ValueId z = in(m, batched ? "[2,3,41,24]" : "[41,24]"), decay = in(m, batched ? "[3,41,41]" : "[41]");
    const ValueId scores = m.op("matmul", {x, y});
    const ValueId weights = batched ? m.op("mul", {scores, decay}) : m.op("relu", {m.op("add", {scores, decay})});
    cases.push_back(m.one_kernel({m.op("tanh", {m.op("matmul", {weights, z})})}, choices,
                                 {{"m", 32}, {"n", 16}, {"warps", 4}, {"stages", 2}}));
  }
  if (dtype == "f32") return;
  Maker grouped("keys_that_are_computed");  // for heads in groups, before any query meets them
  const ValueId queries = in(grouped, "[1,2,260,16]"), keys = in(grouped, "[1,1,260,16]");
  const ValueId turned = grouped.op("silu", {grouped.op("mul", {keys, in(grouped, "[260,16]")})});
  cases.push_back(grouped.one_kernel(
      {grouped.op("scaled_dot_product_attention", {queries, turned, in(grouped, "[1,1,260,16]"), kNoValue},
                  {{"enable_gqa", true}, {"is_causal", true}})},
      choices));
}

void expect_attention(const std::string& device) {
  std::vector<Case> exact, half;
  attention_cases(exact, "f32");
  attention_cases(exact, "f32", "two_part");
  expect_close(exact, 3e-6, device);
  attention_cases(half, "f16");
  expect_close(half, 1.5e-3, device);
}

TEST(TorchTritonAttention, EqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_attention("cpu");
}

TEST(GpuTritonAttention, EqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_attention("cuda");
}

// Of queries, keys and values one at a time: NaN and infinities reach what the definition says, also through packs of
// two parts.
void expect_infinities(const std::string& device) {
  std::vector<Case> cases;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const char* shape : {"f32[1,2,33,272]", "f32[1,2,33,16]"})
    for (size_t which = 0; which < 3; ++which)
      for (const double value : {infinity, -infinity, std::nan("")}) {
        Maker m("not_finite");
        const ValueId q = m.in(shape), k = m.in(shape), v = m.in(shape);
        cases.push_back(
            m.one_kernel({m.op("scaled_dot_product_attention", {q, k, v, kNoValue})}, {{"precision", "two_part"}}));
        for (std::vector<double>& leaf : cases.back().leaves)
          for (double& x : leaf) x = std::abs(x);  // so that an infinite key has a weight of 0, not NaN
        std::vector<double>& leaf = cases.back().leaves[which];
        leaf[leaf.size() / 3] = leaf[leaf.size() - 1] = value;
      }
  for (const char* precision : {"ieee", "two_part"})
    for (size_t which = 0; which < 4; ++which)
      for (const double value : {infinity, std::nan("")}) {
        Maker m("not_finite_without_softmax");
        const ValueId q = m.in("f32[1,2,33,16]"), k = m.in("f32[1,2,16,33]"), v = m.in("f32[1,2,33,16]");
        const ValueId weights = m.op("mul", {m.op("matmul", {q, k}), m.in("f32[33,33]")});
        cases.push_back(m.one_kernel({m.op("matmul", {weights, v})}, {{"precision", precision}}));
        for (std::vector<double>& leaf : cases.back().leaves)
          for (double& x : leaf) x = std::abs(x);
        std::vector<double>& leaf = cases.back().leaves[which];
        leaf[leaf.size() / 3] = value;
      }
  for (const bool causal :
       {false, true}) {  // a row whose products are all -inf is 0; keys that come after such ones count
    Maker m("nothing_in_a_row");
    const ValueId q = m.in("f32[1,2,64,16]"), k = m.in("f32[1,2,64,16]"), v = m.in("f32[1,2,64,16]");
    cases.push_back(m.one_kernel({m.op("scaled_dot_product_attention", {q, k, v, kNoValue}, {{"is_causal", causal}})}));
    for (size_t which : {0, 1})
      for (double& x : cases.back().leaves[which]) x = std::abs(x) + 0.1;
    for (size_t i = 0; i < 16; ++i) cases.back().leaves[0][16 * 3 + i] = -infinity;
    for (size_t i = 0; i < 16 * 40; ++i) cases.back().leaves[1][16 * 64 + i] = -infinity;
  }
  expect_close(cases, 3e-6, device);
}

TEST(TorchTritonAttention, KeepsWhatIsNotFinite) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_infinities("cpu");
}

TEST(GpuTritonAttention, KeepsWhatIsNotFinite) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_infinities("cuda");
}

TEST(TorchTritonAttention, CompilesAheadOfTime) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  std::vector<Case> cases;
  attention_cases(cases, "bf16");
  attention_cases(cases, "f32");
  attention_cases(cases, "f32", "two_part");
  Maker m("attention_of_wide_heads");
  const ValueId q = m.in("f16[1,2,128,256]"), k = m.in("f16[1,2,128,256]"), v = m.in("f16[1,2,128,256]");
  cases.push_back(m.one_kernel({m.op("scaled_dot_product_attention", {q, k, v, kNoValue})}));
  std::vector<Program> programs;
  for (const Case& c : cases) programs.push_back(c.program);
  const std::vector<std::string> failures = testing::compile_triton(programs);
  for (size_t i = 0; i < programs.size(); ++i) EXPECT_EQ(failures[i], "") << print(programs[i]);
}

// Products of few keys without a softmax are no launch in parts; a layer behind them need not wait for that.
TEST(TritonAttention, WhatIsNoLaunchInPartsLeavesOtherProductsInParts) {
  const Program program = parse_program(R"(program behind {
  %0 = input "q" : f32[2,2,33,16]
  %1 = input "k" : f32[2,2,16,33]
  %2 = input "v" : f32[2,2,33,16]
  %3 = param "w" : f32[256,16]
  %4 = matmul(%0, %1) : f32[2,2,33,33]
  %5 = matmul(%4, %2) : f32[2,2,33,16]
  %6 = linear(%5, %3, none) : f32[2,2,33,256]
  return %6
}
kernel k0 = { %4 %5 %6 } contraction precision:two_part
)")
                              .value();
  const std::string text = print_triton_kernel(program, program.kernels[0], h200_hardware()).value().text;
  EXPECT_EQ(text.find("input_precision=\"ieee\""), text.npos) << text;
}

}  // namespace
}  // namespace mtmc
