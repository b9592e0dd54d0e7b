#include <gtest/gtest.h>

#include <cmath>

#include "ops/op.h"
#include "targets/case_maker.h"
#include "targets/cpu/kernel_printer.h"
#include "targets/cpu_runner.h"

namespace mtmc {
namespace {

using testing::Case;
using testing::Maker;

void expect_equal_to_reference(const std::vector<Case>& cases) {
  std::vector<Program> programs;
  std::vector<std::vector<std::vector<double>>> leaves;
  for (const Case& c : cases) {
    programs.push_back(c.program);
    leaves.push_back(c.leaves);
  }
  const auto results = testing::run_on_cpu(programs, leaves);
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto truth = evaluate(programs[i], leaves[i]);
    ASSERT_TRUE(truth.ok()) << truth.error().message();
    for (size_t o = 0; o < truth->size(); ++o) {
      double error = 0, norm = 0;
      for (size_t e = 0; e < (*truth)[o].size(); ++e) {
        const double t = (*truth)[o][e], c = results[i][o][e];
        if (std::isnan(t)) {
          EXPECT_TRUE(std::isnan(c)) << programs[i].name;
          continue;
        }
        error += (c - t) * (c - t);
        norm += t * t;
      }
      EXPECT_LE(std::sqrt(error), 2e-6 * std::sqrt(norm))
          << programs[i].name << " output " << o << "\n"
          << print(programs[i]) << print_cpu_kernel(programs[i], programs[i].kernels[0], Hardware{})->text;
    }
  }
}

Case softmax(const char* type, int64_t dim, std::map<std::string, std::string> choices = {}) {
  Maker m(std::string("softmax_") + std::to_string(dim));
  const ValueId x = m.in(type);
  return m.one_kernel({m.op("softmax", {x}, {{"dim", dim}})}, choices);
}

Case linear_gelu(std::map<std::string, std::string> choices, std::map<std::string, int64_t> numbers = {}) {
  Maker m("linear_gelu");
  const ValueId x = m.in("f32[70,130]"), w = m.in("f32[90,130]"), b = m.in("f32[90]");
  return m.one_kernel({m.op("gelu", {m.op("linear", {x, w, b})}, {{"approximate", std::string("none")}})}, choices,
                      numbers);
}

Case attention() {
  Maker m("attention");
  const ValueId q = m.in("f32[2,3,40,16]"), k = m.in("f32[2,3,16,40]"), v = m.in("f32[2,3,40,16]");
  const ValueId s = m.op("softmax", {m.op("matmul", {q, k})}, {{"dim", int64_t{-1}}});
  return m.one_kernel({m.op("matmul", {s, v})}, {{"tiled", ""}});
}

TEST(CompileCpu, KernelsMatchTheSlowReference) {
  std::vector<Case> cases = {softmax("f32[33,1000]", -1),
                             softmax("f32[4,37,50]", 1),
                             softmax("f32[33,1000]", -1, {{"pipelined", ""}}),
                             linear_gelu({}),
                             linear_gelu({{"tiled", ""}}),
                             linear_gelu({{"tiled", ""}}, {{"tile0", 24}, {"tile1", 33}, {"depth", 50}}),
                             attention()};
  {
    Maker m("layer_norm");
    const ValueId x = m.in("f32[17,300]"), w = m.in("f32[300]"), b = m.in("f32[300]");
    cases.push_back(m.one_kernel(
        {m.op("layer_norm", {x, w, b}, {{"normalized_shape", std::vector<int64_t>{300}}, {"eps", 1e-5}})}));
  }
  {
    Maker m("sum_all_then_scale");
    const ValueId x = m.in("f32[300,200]");
    const ValueId s = m.op("sum", {x});
    cases.push_back(m.one_kernel({m.op("mul", {x, s})}, {{"split", ""}}));
  }
  {
    Maker m("sum_columns");
    const ValueId x = m.in("f32[300,200]");
    cases.push_back(m.one_kernel({m.op("sum", {m.op("exp", {x})}, {{"dim", std::vector<int64_t>{0}}})}));
  }
  {
    Maker m("two_linears");
    const ValueId x = m.in("f32[50,40]"), w = m.in("f32[60,40]"), v = m.in("f32[30,60]");
    cases.push_back(m.one_kernel({m.op("linear", {m.op("relu", {m.op("linear", {x, w, kNoValue})}), v, kNoValue})},
                                 {{"tiled", ""}}));
  }
  expect_equal_to_reference(cases);
}

// Inputs may be called what printed code calls its own functions, types and variables.
TEST(CompileCpu, NamesOfInputsAreNotThoseOfTheCode) {
  std::vector<Case> cases;
  for (const char* name : {"cos", "sin", "exp", "nearbyint", "rsqrt", "hsum", "hmax", "mask", "vec", "union", "j0",
                           "j1", "r1", "n", "packs", "packed_a", "load", "select", "std"}) {
    Maker m(name);
    const ValueId x = m.named(name, "f32[5,40]"), y = m.op("cos", {m.op("round", {x})});
    const ValueId some = m.op("any", {m.op("gt", {y, m.op("sin", {x})})}, {{"dim", int64_t{1}}, {"keepdim", true}});
    cases.push_back(m.one_kernel({m.op("where", {some, m.op("softmax", {y}, {{"dim", int64_t{-1}}}), x})}));
  }
  expect_equal_to_reference(cases);
}

// The angles of a rotary embedding: a column times a row, whose cosine is kept under its own name.
TEST(CompileCpu, ProductsOfDepthOne) {
  Maker m("angles");
  const ValueId column = m.in("f32[2,16,1]"), row = m.in("f32[2,1,24]"), w = m.in("f32[30,24]");
  const ValueId angle = m.op("matmul", {m.op("exp", {column}), m.op("neg", {row})});
  expect_equal_to_reference({m.one_kernel({m.op("linear", {m.op("cos", {angle}), w, kNoValue})}, {{"tiled", ""}})});
}

TEST(CompileCpu, WindowsReadNothingOutsideTheirInput) {
  std::vector<Case> cases;
  const auto pair = [](int64_t both) { return std::vector<int64_t>{both, both}; };
  for (const bool tiled : {false, true})
    for (const int64_t stride : {1, 2})
      for (const int64_t groups : {1, 4}) {
        Maker m("conv2d");
        const ValueId x = m.in("f32[2,4,19,21]"), w = m.in(groups == 1 ? "f32[8,4,3,3]" : "f32[8,1,3,3]"),
                      b = m.in("f32[8]");
        const ValueId y =
            m.op("conv2d", {x, w, b}, {{"padding", pair(1)}, {"stride", pair(stride)}, {"groups", groups}});
        const std::map<std::string, std::string> choices =
            tiled ? std::map<std::string, std::string>{{"tiled", ""}} : std::map<std::string, std::string>{};
        cases.push_back(m.one_kernel({m.op("relu", {y})}, choices));
      }
  {
    Maker m("pool_chain");
    const ValueId x = m.in("f32[2,3,17,18]");
    const ValueId once = m.op("max_pool2d", {x}, {{"kernel_size", pair(5)}, {"padding", pair(2)}, {"stride", pair(1)}});
    const ValueId twice =
        m.op("max_pool2d", {once}, {{"kernel_size", pair(3)}, {"padding", pair(1)}, {"stride", pair(1)}});
    cases.push_back(m.one_kernel({m.op("cat", {x, once, twice}, {{"dim", int64_t{1}}})}));
  }
  expect_equal_to_reference(cases);
}

TEST(CompileCpu, PassesOverRowsAreJoined) {
  std::vector<Case> cases;
  for (const bool pipelined : {false, true}) {
    Maker m("residual_rms");
    const ValueId x = m.in("f32[37,130]"), r = m.in("f32[37,130]");
    const ValueId sum = m.op("add", {x, r});
    const ValueId mean =
        m.op("mean", {m.op("mul", {sum, sum})}, {{"dim", std::vector<int64_t>{-1}}, {"keepdim", true}});
    cases.push_back(m.one_kernel(
        {m.op("mul", {sum, m.op("rsqrt", {mean})}), sum},
        pipelined ? std::map<std::string, std::string>{{"pipelined", ""}} : std::map<std::string, std::string>{}));
  }
  expect_equal_to_reference(cases);
}

// Or as it names its loops and constants.
TEST(CompileCpu, NamesOfInputsAreNotThoseOfConstants) {
  Maker m("names");
  const std::vector<int64_t> all = {64, 256};
  const ValueId x = m.named("t0", "f32[64,256]"), g = m.named("u0", "f32[64,1]"), h = m.named("i0", "f32[64,1]");
  const ValueId gate = m.op("expand", {m.op("sigmoid", {g})}, {{"size", all}});
  const ValueId decay = m.op("expand", {m.op("exp", {m.op("neg", {h})})}, {{"size", all}});
  const ValueId sum = m.op("add", {m.op("mul", {x, gate}), m.op("mul", {decay, x})});
  expect_equal_to_reference({m.one_kernel({m.op("softmax", {sum}, {{"dim", int64_t{1}}})})});
}

}  // namespace
}  // namespace mtmc
