#include <gtest/gtest.h>

#include <cmath>

#include "actions/action.h"
#include "actions/programs.h"
#include "base/rng.h"
#include "ops/op.h"

namespace mtmc {
namespace {

class Graph {
 public:
  ValueId in(const char* type, ValueKind kind = ValueKind::input) {
    return add_leaf(program_, kind, "x" + std::to_string(program_.values.size()), *parse_type(type));
  }
  ValueId op(const char* name, std::vector<ValueId> inputs, Attrs attrs = {}) {
    auto made = add_node(program_, name, std::move(inputs), std::move(attrs), "t.py:1");
    MTMC_CHECK(made.ok(), made.error().message());
    return made->front();
  }
  Program done(std::vector<ValueId> outputs) {
    program_.name = "t";
    program_.outputs = std::move(outputs);
    reset_kernels(program_);
    return program_;
  }

 private:
  Program program_;
};

Program mlp() {
  Graph g;
  const ValueId x = g.in("f32[8,12]"), w = g.in("f32[10,12]"), b = g.in("f32[10]"), v = g.in("f32[6,10]");
  const ValueId h = g.op("gelu", {g.op("linear", {x, w, b})}, {{"approximate", std::string("none")}});
  return g.done({g.op("relu", {g.op("linear", {h, v, kNoValue})})});
}

Program softmax_of_view() {
  Graph g;
  const ValueId x = g.in("f32[4,6,8]");
  const ValueId y = g.op("reshape", {x}, {{"shape", std::vector<int64_t>{24, 8}}});
  const ValueId s = g.op("softmax", {g.op("exp", {y})}, {{"dim", int64_t{-1}}});
  return g.done({s, g.op("sum", {s})});
}

Program twins() {
  Graph g;
  ValueId x = g.in("f32[8,8]");
  for (int i = 0; i < 3; ++i) {
    const ValueId w = g.in("f32[8,8]", ValueKind::param);
    x = g.op("relu", {g.op("linear", {x, w, kNoValue})});
  }
  return g.done({x});
}

std::vector<std::vector<double>> leaves_of(const Program& program) {
  std::vector<std::vector<double>> leaves;
  Rng rng(7);
  for (const Value& value : program.values) {
    if (value.kind == ValueKind::result) continue;
    leaves.emplace_back(static_cast<size_t>(value.type.elements()));
    for (double& x : leaves.back()) x = rng.uniform() * 2 - 1;
  }
  return leaves;
}

TEST(Actions, EveryEnumeratedActionAppliesAndRandomSequencesKeepTheAnswer) {
  for (const Program& start : {mlp(), softmax_of_view(), twins()}) {
    const auto leaves = leaves_of(start);
    const auto truth = *evaluate(start, leaves);
    for (uint64_t seed = 0; seed < 8; ++seed) {
      Rng rng(seed);
      Program program = start;
      for (int step = 0; step < 8; ++step) {
        const auto actions = enumerate_actions(program, context());
        ASSERT_EQ(actions.back().type, "stop");
        for (const Action& action : actions) {
          ASSERT_EQ(*parse_action(store_text(action)), action);
          const auto next = apply_action(program, action, context());
          ASSERT_TRUE(next.ok()) << "seed " << seed << " " << store_text(action) << ": " << next.error().message()
                                 << "\n"
                                 << print(program);
          ASSERT_EQ(*parse_program(print(*next)), *next);
        }
        program = *apply_action(program, actions[rng.below(actions.size())], context());
      }
      const auto result = *evaluate(program, leaves);
      for (size_t o = 0; o < truth.size(); ++o)
        for (size_t i = 0; i < truth[o].size(); ++i)
          ASSERT_NEAR(result[o][i], truth[o][i], 1e-12 * (1 + std::abs(truth[o][i]))) << "seed " << seed;
    }
  }
}

std::string texts(const Program& program) {
  std::string all;
  for (const Action& action : enumerate_actions(program, context())) all += store_text(action) + "\n";
  return all;
}

TEST(Actions, IsomorphicKernelsAreOneAction) {
  const std::string all = texts(twins());
  EXPECT_NE(all.find("lower %2 | %5 | %8"), std::string::npos) << all;
  EXPECT_NE(all.find("fuse %2 %3 | %5 %6 | %8 %9"), std::string::npos) << all;
}

TEST(Actions, FusingTakesTheViewAlong) {
  const Program start = softmax_of_view();
  const auto fused = apply_action(start, *parse_action("fuse %2 %3"), context());
  ASSERT_TRUE(fused.ok()) << fused.error().message();
  EXPECT_EQ(fused->kernels[0].values, (std::vector<ValueId>{1, 2, 3}));
  EXPECT_EQ(fused->kernels[0].family, Family::reduction);
}

TEST(Actions, ViewsAreNamedWhereNothingElseIs) {
  Graph g;
  const ValueId flat = g.op("reshape", {g.in("f32[4,8]")}, {{"shape", std::vector<int64_t>{32}}});
  const ValueId square = g.op("reshape", {flat}, {{"shape", std::vector<int64_t>{4, 8}}});
  const Program program = g.done({g.op("relu", {square})});
  EXPECT_EQ(render(*parse_action("simplify:identity %1 %2"), program, {}), "simplify reshape as identity");
  EXPECT_EQ(render(*parse_action("fuse %1 %2 %3"), program, {}), "fuse relu");
}

TEST(Actions, PlacesOfOneActionMayHaveOtherOperators) {
  Graph g;
  const ValueId x = g.in("f32[4,8]");
  const ValueId left = g.op("relu", {g.op("neg", {x})}), right = g.op("sigmoid", {g.op("neg", {x})});
  const Program program = g.done({left, right});
  EXPECT_EQ(render(*parse_action("fuse %3 %4 | %1 %2"), program, {}), "fuse neg, sigmoid and relu (2 places)");
}

TEST(Actions, RefusalsSayWhy) {
  const Program start = mlp();
  const auto error = [&](const char* text) {
    return apply_action(start, *parse_action(text), context()).error().message();
  };
  EXPECT_EQ(error("tile %4"), "applying tile: a library call has no tiles: got k0, wanted a generated kernel");
  EXPECT_EQ(error("fuse %4"), "applying fuse: the region is not several kernels: got 1 kernel(s), wanted at least two");
  EXPECT_EQ(error("fuse %4 %6"), "applying fuse: another kernel stands between them in the data flow");
  EXPECT_EQ(error("melt %4"),
            "applying an action: unknown type: got melt, wanted one of the types that `mtmc actions` lists");
}

}  // namespace
}  // namespace mtmc
