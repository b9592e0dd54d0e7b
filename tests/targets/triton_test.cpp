// Every operator as a kernel of its own on the triton target, run by Triton's interpreter (or on the GPU) and compared
// with its definition evaluated in double; and compiled for GPUs that are not here.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/op.h"
#include "targets/case_maker.h"
#include "targets/recorded_programs.h"
#include "targets/target.h"
#include "targets/triton_runner.h"

namespace mtmc {
namespace {

struct Recorded {
  std::vector<Program> programs;
  std::vector<std::vector<std::vector<double>>> leaves;
};

// What the target can print, with the choices that its kernels begin with.
Recorded printable() {
  Recorded recorded;
  const TargetDef& triton = *find_target("triton");
  for (Program& program : testing::recorded_programs()) {
    const auto supported = triton.supports(program, program.kernels[0], h200_hardware());
    EXPECT_TRUE(supported.ok()) << print(program) << supported.error().message();
    if (!supported.ok()) continue;
    recorded.leaves.push_back(testing::random_leaves(program, recorded.leaves.size()));
    recorded.programs.push_back(std::move(program));
  }
  return recorded;
}

void expect_definitions(const std::string& device) {
  const Recorded recorded = printable();
  ASSERT_GT(recorded.programs.size(), 200u);
  const auto runs = testing::run_on_triton(recorded.programs, recorded.leaves, device);
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto wanted = evaluate(recorded.programs[i], recorded.leaves[i]);
    ASSERT_TRUE(wanted.ok()) << wanted.error().message();
    EXPECT_EQ(runs[i].failure, "") << print(recorded.programs[i]) << runs[i].text;
    for (size_t o = 0; o < runs[i].outputs.size(); ++o)
      EXPECT_EQ(testing::difference(runs[i].outputs[o], (*wanted)[o], 4e-6), "")
          << print(recorded.programs[i]) << runs[i].text;
  }
}

using testing::Case;
using testing::expect_close;
using testing::Maker;
using Choices = std::map<std::string, std::string>;
using Numbers = std::map<std::string, int64_t>;

std::vector<int64_t> both(int64_t n) { return {n, n}; }

void row_cases(std::vector<Case>& cases) {
  for (const int64_t block : {16384, 32})
    for (const int64_t rows : {1, 4}) {
      Numbers numbers = {{"rows", rows}, {"block", block}, {"warps", 4}};
      if (rows == 4) numbers["stages"] = 3;  // of a loop, where there is one
      const auto add = [&](const char* name, const auto& build) {
        Maker m(name);
        const std::vector<ValueId> results = build(m);
        cases.push_back(m.one_kernel(results, {}, numbers));
      };
      add("softmax", [](Maker& m) {
        return std::vector{m.op("softmax", {m.in("f32[9,100]")}, {{"dim", int64_t{-1}}})};
      });
      add("softmax_of_columns", [](Maker& m) {
        return std::vector{m.op("softmax", {m.in("f32[3,50,20]")}, {{"dim", int64_t{1}}})};
      });
      add("layer_norm_gelu", [](Maker& m) {
        const ValueId x = m.in("f32[7,100]"), w = m.in("f32[100]"), b = m.in("f32[100]");
        const ValueId y =
            m.op("layer_norm", {x, w, b}, {{"normalized_shape", std::vector<int64_t>{100}}, {"eps", 1e-5}});
        return std::vector{m.op("gelu", {y}, {{"approximate", std::string("none")}})};
      });
      add("residual_rms", [](Maker& m) {
        const ValueId sum = m.op("add", {m.in("f32[5,130]"), m.in("f32[5,130]")});
        const ValueId mean =
            m.op("mean", {m.op("mul", {sum, sum})}, {{"dim", std::vector<int64_t>{-1}}, {"keepdim", true}});
        return std::vector{m.op("mul", {sum, m.op("rsqrt", {mean})}), sum};
      });
      add("scan", [](Maker& m) { return std::vector{m.op("cumsum", {m.in("f32[5,70]")}, {{"dim", int64_t{1}}})}; });
      add("scan_of_columns", [](Maker& m) {
        return std::vector{m.op("cumprod", {m.in("f32[2,35,6]")}, {{"dim", int64_t{1}}})};
      });
      add("argmax", [](Maker& m) { return std::vector{m.op("argmax", {m.in("f32[6,90]")}, {{"dim", int64_t{1}}})}; });
      add("norms_of_short_rows", [](Maker& m) {
        const ValueId x = m.in("f32[70,20]");
        return std::vector{
            m.op("vector_norm", {x}, {{"dim", std::vector<int64_t>{1}}, {"keepdim", false}, {"ord", 2.0}})};
      });
      add("sum_of_columns", [](Maker& m) {
        return std::vector{m.op("sum", {m.op("exp", {m.in("f32[70,33]")})}, {{"dim", std::vector<int64_t>{0}}})};
      });
    }
  Maker m("transposed");
  const ValueId x = m.in("f32[3,40,50]");
  cases.push_back(m.one_kernel({m.op("exp", {m.op("transpose", {x}, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}})})}));
  // A sum that is read at [row, column % 8]: by a stage of all columns, not of eight.
  Maker n("columns_by_their_norm_then_rows");
  const auto norm = [&](ValueId of) {
    return n.op("vector_norm", {of}, {{"dim", std::vector<int64_t>{1}}, {"keepdim", true}, {"ord", 2.0}});
  };
  const ValueId y = n.in("f32[3,16,8]");
  const ValueId rows = n.op("reshape", {n.op("div", {y, norm(y)})}, {{"shape", std::vector<int64_t>{3, 128}}});
  cases.push_back(n.one_kernel({n.op("div", {rows, norm(rows)})}));
}

// Rows in blocks of which a thread has several elements; the last block has a rest.
void folded_cases(std::vector<Case>& cases) {
  const std::map<std::string, int64_t> numbers = {{"rows", 1}, {"block", 1024}, {"warps", 4}, {"stages", 2}};
  Maker m("softmax_in_blocks");
  cases.push_back(m.one_kernel({m.op("softmax", {m.in("f32[3,5000]")}, {{"dim", int64_t{-1}}})}, {}, numbers));
  Maker l("logsumexp_in_blocks");
  cases.push_back(
      l.one_kernel({l.op("logsumexp", {l.in("f32[3,5000]")}, {{"dim", std::vector<int64_t>{-1}}})}, {}, numbers));
  Maker n("layer_norm_in_blocks");
  cases.push_back(n.one_kernel({n.op("layer_norm", {n.in("f32[3,5000]"), n.in("f32[5000]"), n.in("f32[5000]")},
                                     {{"normalized_shape", std::vector<int64_t>{5000}}, {"eps", 1e-5}})},
                               {}, numbers));
}

void flat_cases(std::vector<Case>& cases) {
  const Attrs window = {{"kernel_size", both(3)}, {"padding", both(1)}, {"stride", both(2)}};
  Maker m("max_pool_as_one_run");
  cases.push_back(m.one_kernel({m.op("max_pool2d", {m.in("f32[2,3,20,150]")}, window)}, {},
                               {{"flat", 1}, {"rows", 128}, {"warps", 4}}));
}

// Lanes that keep several neighbours of overlapping windows.
void shared_window_cases(std::vector<Case>& cases) {
  const auto sharing = [](int64_t share) {
    return std::map<std::string, int64_t>{{"share", share}, {"rows", 128}, {"warps", 4}};
  };
  for (const int64_t stride : {1, 2}) {
    const Attrs window = {{"kernel_size", both(5)}, {"padding", both(2)}, {"stride", both(stride)}};
    Maker m("overlapping_max_pool");
    cases.push_back(
        m.one_kernel({m.op("relu", {m.op("max_pool2d", {m.in("f32[2,3,16,22]")}, window)})}, {}, sharing(8 / stride)));
  }
  Maker a("overlapping_avg_pool");
  const std::vector<int64_t> three = {3, 3, 3}, one = {1, 1, 1};
  cases.push_back(a.one_kernel(
      {a.op("avg_pool3d", {a.in("f32[2,3,6,7,9]")}, {{"kernel_size", three}, {"padding", one}, {"stride", one}})}, {},
      sharing(7)));
  Maker d("depthwise_bias");
  const ValueId x = d.in("f32[2,5,12,10]"), w = d.in("f32[5,1,3,3]"), b = d.in("f32[5]");
  cases.push_back(
      d.one_kernel({d.op("conv2d", {x, w, b}, {{"padding", both(1)}, {"groups", int64_t{5}}})}, {}, sharing(6)));
  Maker dilated("depthwise_dilated");
  const ValueId dx = dilated.in("f32[1,4,14,10]"), dw = dilated.in("f32[4,1,3,3]");
  cases.push_back(dilated.one_kernel(
      {dilated.op("conv2d", {dx, dw, kNoValue}, {{"dilation", both(2)}, {"groups", int64_t{4}}})}, {}, sharing(5)));
}

// Concatenations of what is computed here.
void join_cases(std::vector<Case>& cases) {
  const Attrs window = {{"kernel_size", both(3)}, {"padding", both(1)}, {"stride", both(1)}};
  Maker m("pools_beside_their_input");
  const ValueId x = m.in("f32[2,3,8,10]"), once = m.op("max_pool2d", {x}, window);
  const ValueId twice = m.op("max_pool2d", {once}, window);
  cases.push_back(m.one_kernel({m.op("cat", {x, once, twice}, {{"dim", int64_t{1}}})}));
  Maker r("pool_twice_then_relu");  // and the pool is a result of its own
  const ValueId y = r.in("f32[2,3,8,10]"), pool = r.op("max_pool2d", {y}, window);
  cases.push_back(r.one_kernel({pool, r.op("relu", {r.op("cat", {pool, pool}, {{"dim", int64_t{3}}})})}));
  Maker c("convolution_beside_its_input");
  const ValueId i = c.in("f32[2,16,9,11]"), w = c.in("f32[20,16,3,3]");
  const ValueId conv = c.op("relu", {c.op("conv2d", {i, w, kNoValue}, {{"padding", both(1)}})});
  cases.push_back(c.one_kernel({c.op("cat", {i, conv}, {{"dim", int64_t{1}}})}, {{"precision", "ieee"}}));
  Maker n("softmax_beside_its_input");
  const ValueId rows = n.in("f32[12,40]"), softmax = n.op("softmax", {rows}, {{"dim", int64_t{-1}}});
  cases.push_back(n.one_kernel({n.op("cat", {softmax, rows}, {{"dim", int64_t{-1}}})}));
  Maker two("cat_of_cat");
  const ValueId a = two.in("f32[2,3,8,10]"), p = two.op("max_pool2d", {a}, window);
  const ValueId inner = two.op("cat", {a, p}, {{"dim", int64_t{1}}});
  cases.push_back(
      two.one_kernel({two.op("cat", {two.op("max_pool2d", {inner}, window), inner}, {{"dim", int64_t{2}}})}));
}

// Results from an axis's other end.
void turned_cases(std::vector<Case>& cases) {
  const auto flip = [](Maker& m, ValueId x, int64_t dim) {
    return m.op("flip", {x}, {{"dims", std::vector<int64_t>{dim}}});
  };
  for (const int64_t block : {32, 128}) {  // in blocks of a row, and all of it at once
    Maker m("sums_from_the_end");
    const ValueId scan = m.op("cumsum", {flip(m, m.in("f32[5,70]"), 1)}, {{"dim", int64_t{1}}});
    cases.push_back(m.one_kernel({flip(m, scan, 1)}, {}, {{"rows", 1}, {"block", block}, {"warps", 4}}));
  }
  Maker r("softmax_in_rows_from_the_last");  // and the softmax is a result of its own
  const ValueId rows = r.op("softmax", {r.in("f32[12,40]")}, {{"dim", int64_t{-1}}});
  cases.push_back(r.one_kernel({rows, flip(r, rows, 0)}));
  Maker s("read_again_in_the_same_row");
  const ValueId scanned = s.op("cumsum", {s.in("f32[5,70]")}, {{"dim", int64_t{1}}});
  const ValueId sum = s.op("add", {flip(s, scanned, 1), s.in("f32[5,70]")});
  cases.push_back(s.one_kernel({sum, s.op("relu", {sum})}));
  Maker c("linear_from_the_last_feature");
  const ValueId x = c.in("f32[40,64]"), w = c.in("f32[48,64]");
  const ValueId linear = c.op("linear", {x, w, kNoValue});
  cases.push_back(c.one_kernel({flip(c, linear, 1)}, {{"precision", "ieee"}}));
}

void product_cases(std::vector<Case>& cases, const std::string& precision, const char* suffix = "") {
  const Choices choices = {{"tiled", ""}, {"precision", precision}};
  const auto type = [&](std::string text) {
    if (*suffix) text = std::string(suffix) + text.substr(3);
    return text;
  };
  const auto in = [&](Maker& m, const std::string& text) { return m.in(type(text).c_str()); };
  {
    Maker m("linear_gelu");
    const ValueId x = in(m, "f32[70,130]"), w = in(m, "f32[90,130]"), b = in(m, "f32[90]");
    cases.push_back(
        m.one_kernel({m.op("gelu", {m.op("linear", {x, w, b})}, {{"approximate", std::string("none")}})}, choices));
  }
  {
    Maker m("matmul_of_relu");
    const ValueId x = in(m, "f32[33,64]"), y = in(m, "f32[64,48]");
    cases.push_back(m.one_kernel({m.op("matmul", {m.op("relu", {x}), y})}, choices, {{"m", 16}, {"n", 16}, {"k", 16}}));
  }
  {
    Maker m("batched_transposed");
    const ValueId x = in(m, "f32[3,64,40]"), y = in(m, "f32[3,64,24]");
    const ValueId t = m.op("transpose", {x}, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}});
    cases.push_back(m.one_kernel({m.op("matmul", {t, y})}, choices, {{"m", 32}, {"n", 32}, {"k", 32}}));
  }
}

void window_cases(std::vector<Case>& cases, const std::string& precision) {
  const Choices choices = {{"tiled", ""}, {"precision", precision}};
  for (const int64_t stride : {1, 2}) {
    Maker m("conv2d_relu");
    const ValueId x = m.in("f32[2,16,9,11]"), w = m.in("f32[20,16,3,3]"), b = m.in("f32[20]");
    cases.push_back(m.one_kernel(
        {m.op("relu", {m.op("conv2d", {x, w, b}, {{"padding", both(1)}, {"stride", both(stride)}})})}, choices));
    Maker t("conv_transpose2d");
    const ValueId tx = t.in("f32[2,16,5,6]"), tw = t.in("f32[16,10,3,3]"), tb = t.in("f32[10]");
    cases.push_back(
        t.one_kernel({t.op("conv_transpose2d", {tx, tw, tb},
                           {{"padding", both(1)}, {"stride", both(stride)}, {"output_padding", both(stride - 1)}})},
                     choices));
  }
  Maker odd("conv_transpose3d_odd");
  const ValueId dx = odd.in("f32[1,16,3,4,5]"), dw = odd.in("f32[16,16,3,3,3]");
  cases.push_back(odd.one_kernel(
      {odd.op("relu", {odd.op("conv_transpose3d", {dx, dw, kNoValue}, {{"stride", std::vector<int64_t>{2, 2, 2}}})})},
      choices));
  Maker g("conv2d_in_groups");
  const ValueId gx = g.in("f32[2,32,9,11]"), gw = g.in("f32[24,16,3,3]"), gb = g.in("f32[24]");
  cases.push_back(g.one_kernel(
      {g.op("relu", {g.op("conv2d", {gx, gw, gb}, {{"padding", both(1)}, {"groups", int64_t{2}}})})}, choices));
  Maker m("conv1d_dilated");
  const ValueId x = m.in("f32[2,32,40]"), w = m.in("f32[16,32,5]");
  cases.push_back(m.one_kernel({m.op("conv1d", {x, w, kNoValue}, {{"dilation", std::vector<int64_t>{2}}})}, choices));
  Maker one("conv2d_1x1");
  const ValueId ox = one.in("f32[2,16,9,11]"), ow = one.in("f32[20,16,1,1]");
  cases.push_back(one.one_kernel({one.op("conv2d", {ox, ow, kNoValue})}, choices));
}

Case filled(Case c, double value) {
  for (auto& leaf : c.leaves) std::fill(leaf.begin(), leaf.end(), value);
  return c;
}

// What went wrong once: signs, minima, what lies in dead lanes, and patterns that only look like a fast one.
void corner_cases(std::vector<Case>& cases) {
  const auto dims = [](int64_t d) { return std::vector<int64_t>{d}; };
  {
    Maker m("product_of_integers");
    cases.push_back(m.one_kernel({m.op("mul", {m.in("i64[70]"), m.in("i64[70]")})}));
  }
  for (const char* type : {"i8[3,100]", "i32[3,100]"}) {
    Maker m("smallest_integers");
    const ValueId x = m.in(type);
    cases.push_back(filled(
        m.one_kernel({m.op("argmax", {x}, {{"dim", int64_t{1}}}), m.op("amax", {x}, {{"dim", dims(1)}})}), -128));
  }
  for (const char* op : {"amax", "amin"}) {
    Maker m("split_integers");
    cases.push_back(
        filled(m.one_kernel({m.op(op, {m.in("i32[1,30007]")}, {{"dim", dims(1)}})}, {{"split", ""}}, {{"parts", 64}}),
               *op == 'a' && op[2] == 'a' ? -5 : 5));
  }
  {
    Maker m("two_sums_of_one_maximum");
    const ValueId x = m.in("f32[3,200]");
    const ValueId e = m.op("exp", {m.op("sub", {x, m.op("amax", {x}, {{"dim", dims(1)}, {"keepdim", true}})})});
    cases.push_back(
        m.one_kernel({m.op("sum", {e}, {{"dim", dims(1)}}), m.op("sum", {m.op("mul", {e, e})}, {{"dim", dims(1)}})}, {},
                     {{"rows", 1}, {"block", 32}, {"warps", 4}}));
  }
  {
    Maker m("padded_with_ones");
    const auto padded = [&](const char* type, std::vector<int64_t> pad) {
      return m.op("pad", {m.in(type)}, {{"pad", std::move(pad)}, {"value", 1.0}});
    };
    const ValueId x = padded("f32[33,37]", {0, 3}), y = padded("f32[37,20]", {0, 0, 0, 3});
    cases.push_back(m.one_kernel({m.op("matmul", {x, y})}, {{"tiled", ""}, {"precision", "ieee"}}));
  }
  {
    Maker m("attention_sink");
    const ValueId q = m.in("f32[2,32,16]"), k = m.in("f32[2,16,32]"), v = m.in("f32[2,32,16]");
    const ValueId s = m.op("matmul", {q, k});
    const ValueId e = m.op("exp", {m.op("sub", {s, m.op("amax", {s}, {{"dim", dims(-1)}, {"keepdim", true}})})});
    const ValueId sum = m.op("sum", {e}, {{"dim", dims(-1)}, {"keepdim", true}});
    const ValueId below = m.op("add", {sum, m.op("exp", {m.op("sub", {sum, sum})})});
    cases.push_back(m.one_kernel({m.op("matmul", {m.op("div", {e, below}), v})}));
  }
  {
    Maker m("attention_and_its_transpose");
    const ValueId q = m.in("f32[2,32,32]"), k = m.in("f32[2,32,32]"), v = m.in("f32[2,32,32]");
    const ValueId o = m.op("scaled_dot_product_attention", {q, k, v, kNoValue});
    cases.push_back(
        m.one_kernel({m.op("add", {o, m.op("transpose", {o}, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}})})}));
  }
  {
    Maker m("attention_of_computed_operands");
    const auto shifted = [&] {
      const ValueId x = m.in("f32[2,40,24]");
      return m.op("sub", {x, m.op("amax", {x}, {{"dim", dims(-1)}, {"keepdim", true}})});
    };
    const ValueId q = shifted(), k = shifted(), v = m.in("f32[2,40,24]");
    cases.push_back(m.one_kernel({m.op("scaled_dot_product_attention", {q, k, v, kNoValue})}));
  }
}

void convolution_corner_cases(std::vector<Case>& cases) {
  {
    Maker m("im2win_by_choice");
    const ValueId x = m.in("f32[2,40,9,11]"), w = m.in("f32[20,40,3,3]"), b = m.in("f32[20]");
    cases.push_back(
        m.one_kernel({m.op("relu", {m.op("conv2d", {x, w, b}, {{"padding", both(1)}, {"stride", both(2)}})})},
                     {{"precision", "half"}, {"window", "im2win"}}));
  }
  const Choices choices = {{"tiled", ""}, {"precision", "half"}};
  {
    Maker m("conv1d_by_two");
    cases.push_back(m.one_kernel(
        {m.op("conv1d", {m.in("f32[1,32,66]"), m.in("f32[16,32,3]"), kNoValue}, {{"stride", std::vector<int64_t>{2}}})},
        choices));
  }
  {
    Maker m("conv_of_ones_around");
    const ValueId x =
        m.op("pad", {m.in("f32[2,16,9,11]")}, {{"pad", std::vector<int64_t>{1, 1, 1, 1}}, {"value", 1.0}});
    cases.push_back(m.one_kernel({m.op("conv2d", {x, m.in("f32[16,16,3,3]"), kNoValue})}, choices));
  }
  {
    Maker m("conv_transpose_dilated");
    cases.push_back(m.one_kernel({m.op("conv_transpose1d", {m.in("f32[2,16,20]"), m.in("f32[16,16,3]"), kNoValue},
                                       {{"stride", std::vector<int64_t>{2}}, {"dilation", std::vector<int64_t>{2}}})},
                                 choices));
  }
  {
    Maker m("conv_transpose_twice");
    const ValueId y =
        m.op("conv_transpose2d", {m.in("f32[2,16,5,6]"), m.in("f32[16,10,3,3]"), kNoValue}, {{"stride", both(2)}});
    cases.push_back(m.one_kernel({y, m.op("tanh", {y})}, choices));
  }
  {
    Maker m("pointwise_conv_of_many");  // enough elements to be copied in one pass
    const ValueId x = m.op("relu", {m.in("f32[2,64,96,96]")});
    cases.push_back(m.one_kernel({m.op("conv2d", {x, m.in("f32[16,64,1,1]"), kNoValue})}, choices));
  }
  {
    Maker m("conv_over_all_rows");  // fewer channels than rows of the kernel, which covers the input's
    cases.push_back(
        m.one_kernel({m.op("conv2d", {m.in("f32[2,3,16,20]"), m.in("f32[16,3,16,3]"), kNoValue})}, choices));
  }
  {
    Maker m("conv_transpose_of_a_full_block");  // a scalar condition on a block without a mask
    cases.push_back(m.one_kernel({m.op("conv_transpose2d", {m.in("f32[1,256,4,4]"), m.in("f32[256,16,4,4]"), kNoValue},
                                       {{"padding", both(1)}, {"stride", both(2)}})},
                                 choices));
  }
  {
    Maker m("conv_transpose_in_chunks");  // its phases are stored in place by the launch that adds the chunks up
    cases.push_back(
        m.one_kernel({m.op("conv_transpose2d", {m.in("f32[2,1024,4,4]"), m.in("f32[1024,16,4,4]"), kNoValue},
                           {{"padding", both(1)}, {"stride", both(2)}})},
                     {{"precision", "half"}, {"split", ""}}));
  }
  {
    Maker m("gated_by_a_small_product");  // which has tiles of its own axes; what it gates has more
    const ValueId x = m.op("conv3d", {m.in("f32[4,16,4,6,6]"), m.in("f32[16,16,3,3,3]"), kNoValue},
                           {{"padding", std::vector<int64_t>{1, 1, 1}}});
    const ValueId mean = m.op("mean", {x}, {{"dim", std::vector<int64_t>{2, 3, 4}}});
    const ValueId few = m.op("linear", {mean, m.in("f32[8,16]"), m.in("f32[8]")});
    ValueId gate = m.op("sigmoid", {m.op("linear", {few, m.in("f32[16,8]"), m.in("f32[16]")})});
    for (const int64_t dim : {2, 3, 4}) gate = m.op("unsqueeze", {gate}, {{"dim", dim}});
    const ValueId gated = m.op("add", {m.op("mul", {x, gate}), m.in("f32[4,16,4,6,6]")});
    cases.push_back(m.one_kernel({m.op("hardswish", {gated})}, {{"precision", "as_eager"}}));
  }
  {
    Maker m("conv_of_small_exponentials");  // lanes that are dead are not among the magnitudes
    const ValueId x = m.op("exp", {m.in("f32[4,1024,17,17]")});
    cases.push_back(m.one_kernel({m.op("conv2d", {x, m.in("f32[16,1024,1,1]"), kNoValue})}, choices));
    for (double& value : cases.back().leaves[0]) value -= 20;
  }
}

void convolution_size_cases(std::vector<Case>& cases) {
  const Choices choices = {{"tiled", ""}, {"precision", "half"}};
  for (const int64_t channels : {1, 3, 9}) {  // few channels: one axis of K with the window's last
    Maker m("conv_of_few_channels");
    const std::string c = std::to_string(channels);
    cases.push_back(m.one_kernel(
        {m.op("conv2d",
              {m.in(("f32[2," + c + ",18,23]").c_str()), m.in(("f32[16," + c + ",7,5]").c_str()), m.in("f32[16]")},
              {{"padding", both(3)}, {"stride", both(2)}})},
        choices));
    Maker d("conv_of_few_channels_dilated");
    cases.push_back(d.one_kernel(
        {d.op("conv3d", {d.in(("f32[2," + c + ",6,7,8]").c_str()), d.in(("f32[16," + c + ",2,3,2]").c_str()), kNoValue},
              {{"dilation", std::vector<int64_t>{1, 2, 1}}})},
        choices));
  }
  for (const double factor : {0x1p-30, 0x1p+30}) {  // copied once more, with another scale than the usual one
    Maker m("conv_far_from_one");
    cases.push_back(
        m.one_kernel({m.op("conv2d", {m.in("f32[2,16,9,11]"), m.in("f32[16,16,3,3]"), kNoValue})}, choices));
    for (double& x : cases.back().leaves[0]) x *= factor;
  }
}

void expect_all_families(const std::string& device) {
  std::vector<Case> exact, half;
  row_cases(exact);
  flat_cases(exact);
  shared_window_cases(exact);
  join_cases(exact);
  turned_cases(exact);
  folded_cases(exact);
  for (const char* precision : {"ieee", "two_part"}) product_cases(exact, precision);
  for (const char* precision : {"ieee", "two_part"}) window_cases(exact, precision);
  corner_cases(exact);
  expect_close(exact, 3e-6, device);
  product_cases(half, "half");
  product_cases(half, "ieee", "f16");
  window_cases(half, "half");
  convolution_corner_cases(half);
  convolution_size_cases(half);
  expect_close(half, 1.5e-3, device);
}

TEST(TorchTriton, EveryFamilyEqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_all_families("cpu");
}

TEST(GpuTriton, EveryFamilyEqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_all_families("cuda");
}

TEST(TorchTriton, EveryFamilyCompilesAheadOfTime) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  std::vector<Case> cases;
  row_cases(cases);
  shared_window_cases(cases);
  join_cases(cases);
  turned_cases(cases);
  for (const char* precision : {"ieee", "half", "two_part"}) product_cases(cases, precision);
  product_cases(cases, "ieee", "bf16");
  for (const char* precision : {"half", "two_part"}) window_cases(cases, precision);
  std::vector<Program> programs;
  for (const Case& c : cases) programs.push_back(c.program);
  const std::vector<std::string> failures = testing::compile_triton(programs);
  for (size_t i = 0; i < programs.size(); ++i) EXPECT_EQ(failures[i], "") << print(programs[i]);
}

TEST(TorchTriton, EveryOperatorEqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cpu"); !why.empty()) GTEST_SKIP() << why;
  expect_definitions("cpu");
}

TEST(GpuTriton, EveryOperatorEqualsItsDefinition) {
  if (const std::string why = testing::triton_is_missing("cuda"); !why.empty()) GTEST_SKIP() << why;
  expect_definitions("cuda");
}

}  // namespace
}  // namespace mtmc
