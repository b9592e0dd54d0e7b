// What is tried at once when the judge has refused a step.
#include "search/remedy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "search/world.h"

namespace mtmc {
namespace {

using testing::WatchedJudge;
using testing::World;

// One after the other, with a relu behind each.
Program convolutions(int count) {
  Program p;
  p.name = "convolution";
  const auto leaf = [&](ValueKind kind, const std::string& name, Shape shape) {
    return add_leaf(p, kind, name, {DType::f32, std::move(shape)});
  };
  ValueId x = leaf(ValueKind::input, "x", {64, 64, 56, 56});
  const Attrs attrs = {{"stride", std::vector<int64_t>{1, 1}}, {"padding", std::vector<int64_t>{1, 1}}};
  for (int i = 0; i < count; ++i) {
    const ValueId w = leaf(ValueKind::param, "w" + std::to_string(i), {64, 64, 3, 3});
    const ValueId y = add_node(p, "conv2d", {x, w, kNoValue}, attrs, "net.py:3").value()[0];
    x = add_node(p, "relu", {y}, {}, "net.py:4").value()[0];
  }
  p.outputs = {x};
  reset_kernels(p);
  return p;
}

bool multiplies_in(const Program& program, const std::string& word) {
  return std::any_of(program.kernels.begin(), program.kernels.end(), [&](const Kernel& kernel) {
    const auto precision = kernel.choices.find("precision");
    return precision != kernel.choices.end() && precision->second == word;
  });
}

// Eager's convolutions are in TF32 or not, as cuDNN likes: the search finds out.
TEST(Remedy, WhatErrsTooMuchIsTriedWithMoreExactProducts) {
  World world("triton", convolutions(1), h200_hardware());
  world.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  world.request.shell.arguments = {"x"};
  int refused = 0;
  WatchedJudge strict(world.judge, [&](const Candidate& candidate, Tier, Verdict& verdict) {
    if (!multiplies_in(*candidate.program, "half")) return;
    verdict.outcome = Outcome::refused, verdict.reason = "precision", ++refused;
  });
  const auto done = world.run(strict);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_GT(refused, 0);
  bool exact = false;
  for (const NodeRecord& attempt : world.recorder.attempts)
    exact |= attempt.action.starts_with("precision:two_part") && attempt.screen && attempt.screen->certified();
  EXPECT_TRUE(exact);
}

// Which product of a network it was, nobody knows; and a statistic that a kernel leaves may be the only witness.
TEST(Remedy, AllProductsOfANetworkBecomeMoreExactTogether) {
  World world("triton", convolutions(2), h200_hardware());
  world.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  world.request.shell.arguments = {"x"};
  WatchedJudge strict(world.judge, [&](const Candidate& candidate, Tier, Verdict& verdict) {
    if (!multiplies_in(*candidate.program, "half")) return;
    verdict.outcome = Outcome::refused, verdict.reason = "state-differs";
    OutputError error;
    error.output = "state:running_mean", error.broken = "b";
    verdict.errors.push_back(error);
  });
  const auto done = world.run(strict);
  ASSERT_TRUE(done.ok()) << done.error().message();
  bool together = false;
  for (const NodeRecord& attempt : world.recorder.attempts)
    together |= attempt.action.starts_with("precision:two_part") && attempt.action.find('|') != std::string::npos &&
                attempt.screen && attempt.screen->certified();
  EXPECT_TRUE(together);
}

// A screen need not see what a certification refuses.
TEST(Remedy, WhatACertificationRefusesAsInexactIsTriedWithMoreExactProducts) {
  World world("triton", convolutions(1), h200_hardware());
  world.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  world.request.shell.arguments = {"x"};
  int refused = 0;
  WatchedJudge strict(world.judge, [&](const Candidate& candidate, Tier tier, Verdict& verdict) {
    if (tier != Tier::certify || !multiplies_in(*candidate.program, "half")) return;
    verdict.outcome = Outcome::refused, verdict.reason = "precision", ++refused;
  });
  const auto done = world.run(strict);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(done->verdict.certified());
  EXPECT_TRUE(multiplies_in(*done->program, "two_part")) << "a more exact version of what was refused";
}

}  // namespace
}  // namespace mtmc
