// What is left in a library at the end of a search is generated where that costs nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "search/world.h"
#include "targets/cost.h"

namespace mtmc::testing {
namespace {

struct FirstIsFastest final : Tuner {
  Result<std::vector<Measured>> measure(const std::vector<std::string>& modules, const std::vector<TensorType>&, double,
                                        double) override {
    std::vector<Measured> all;
    for (size_t i = 0; i < modules.size(); ++i) all.push_back({static_cast<double>(i + 1), ""});
    return all;
  }
};

bool all_own(const Program& program) {
  return std::none_of(program.kernels.begin(), program.kernels.end(),
                      [](const Kernel& kernel) { return kernel.family == Family::library; });
}

// Operators beside each other, nowhere alike.
Program beside(const std::vector<std::string>& ops, int64_t rows = 1 << 14) {
  Program p;
  p.name = "beside";
  for (const std::string& op : ops) {
    const ValueId x = add_leaf(p, ValueKind::input, "of_" + op, {DType::f32, {rows, 1 << 12}});
    p.outputs.push_back(
        add_node(p, op, {x}, op == "softmax" ? Attrs{{"dim", int64_t{-1}}} : Attrs{}, "net.py:1").value()[0]);
  }
  reset_kernels(p);
  return p;
}

// A search on a GPU whose judge says how fast a candidate is that has library calls, and one that has none.
struct Ending {
  explicit Ending(Program of) : world("triton", std::move(of), h200_hardware()) {
    world.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
    world.request.shell.arguments = {"x"};
  }
  Result<Optimized> run(double library, double own) {
    BuiltinCoder coder(world.request.target, world.request.hardware, world.request.shell, *world.store, &tuner);
    WatchedJudge judge(world.judge, [&](const Candidate& candidate, Tier tier, Verdict& verdict) {
      const bool start = candidate.program->kernels.size() == world.program->kernels.size() &&
                         candidate.program->kernels[0].family == Family::library;
      if (roofline && start) verdict.time_ms = 1.02e3 * roofline_seconds(*world.program, world.hardware);
      verdict.speedup["eager"] = exactly(all_own(*candidate.program) ? own : start ? 1 : library);
      certifications += tier == Tier::certify;
    });
    return world.run(judge, coder);
  }
  World world;
  FirstIsFastest tuner;
  bool roofline = false;
  int certifications = 0;
};

TEST(Rest, AtTheRooflineAKernelOfOnesOwnIsTakenWhereItIsAsFast) {
  Ending same(beside({"relu"})), slower(beside({"relu"}));
  same.roofline = slower.roofline = true;
  const auto taken = same.run(1, 0.99), left = slower.run(1, 0.95);
  ASSERT_TRUE(taken.ok() && left.ok());
  EXPECT_EQ(taken->answer, Answer::at_roofline);
  EXPECT_EQ(left->answer, Answer::at_roofline);
  EXPECT_TRUE(all_own(*taken->program)) << print(*taken->program);
  EXPECT_FALSE(all_own(*left->program));
  EXPECT_EQ(taken->evaluations, 1);
  EXPECT_EQ(same.certifications, 1) << "the library's is not certified, too";
}

TEST(Rest, OnTheCpuNothingIsAdded) {
  World world;
  const double least = roofline_seconds(*world.request.program, world.hardware);
  WatchedJudge fast(world.judge, [&](const Candidate&, Tier, Verdict& verdict) { verdict.time_ms = 1.04e3 * least; });
  const auto done = world.run(fast);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->evaluations, 0);
}

TEST(Rest, WhatTheSearchLeftIsLoweredInOneStep) {
  Ending ending(beside({"softmax", "relu", "gelu"}));
  ending.world.request.limits = {.steps = 1, .seconds = 0, .evaluations = 40};
  const auto done = ending.run(2, 1.96);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_TRUE(all_own(*done->program)) << print(*done->program);
  const auto& attempts = ending.world.recorder.attempts;
  EXPECT_EQ(
      std::count_if(attempts.begin(), attempts.end(),
                    [](const NodeRecord& one) { return one.step == 2 && one.action.find(" | ") != std::string::npos; }),
      2);  // screened and certified
}

TEST(Rest, WhatIsFasterThanEagerIsNotGivenAway) {
  Ending ending(beside({"softmax", "relu", "gelu"}));
  ending.world.request.limits = {.steps = 1, .seconds = 0, .evaluations = 40};
  const auto done = ending.run(1.01, 0.99);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_FALSE(all_own(*done->program));
}

// A graph has its arguments and results copied by the library. Where that is predicted to cost more than it saves, the
// same kernels are tried without it, and taken where they are about as fast.
TEST(Rest, AGraphIsTakenForItsSpeedOnly) {
  const auto found = [](double captured) {
    World world("triton", beside({"softmax", "relu", "gelu"}, 24), h200_hardware());
    world.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
    world.request.shell.arguments = {"x"};
    world.request.limits = {.steps = 5, .seconds = 0, .evaluations = 60};
    FirstIsFastest tuner;
    BuiltinCoder coder(world.request.target, world.request.hardware, world.request.shell, *world.store, &tuner);
    bool graph_seen = false, tried = false;
    WatchedJudge judge(world.judge, [&](const Candidate& candidate, Tier, Verdict& verdict) {
      const bool own = all_own(*candidate.program), graph = !candidate.program->captures.empty();
      graph_seen = graph_seen || (own && graph);
      tried = tried || (graph_seen && own && !graph);
      verdict.speedup["eager"] = exactly(own && graph ? captured : own ? 2 : 1);
    });
    const auto done = world.run(judge, coder);
    EXPECT_TRUE(done.ok() && all_own(*done->program));
    return std::pair(done.ok() && !done->program->captures.empty(), tried);
  };
  EXPECT_EQ(found(2.03), std::pair(false, true));
  EXPECT_EQ(found(2.2), std::pair(true, true));
}

}  // namespace
}  // namespace mtmc::testing
