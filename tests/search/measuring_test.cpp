// What a target only guesses is measured at the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/world.h"

namespace mtmc::testing {
namespace {

// The last of the versions is always the fastest.
struct LastIsFastest final : Tuner {
  Result<std::vector<Measured>> measure(const std::vector<std::string>& modules, const std::vector<TensorType>&, double,
                                        double) override {
    std::vector<Measured> all;
    for (size_t i = 0; i < modules.size(); ++i) all.push_back({1.0 / static_cast<double>(i + 1), ""});
    return all;
  }
};

struct FirstIsFastest final : Tuner {
  Result<std::vector<Measured>> measure(const std::vector<std::string>& modules, const std::vector<TensorType>&, double,
                                        double) override {
    std::vector<Measured> all;
    for (size_t i = 0; i < modules.size(); ++i) all.push_back({static_cast<double>(i + 1), ""});
    return all;
  }
};

TEST(Measuring, WhatWasGuessedIsMeasuredBeforeTheWinnerIsCertified) {
  for (const double seconds : {0.0, 30.0}) {
    World world("triton", network(), h200_hardware());
    world.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
    world.request.shell.arguments = {"x"};
    world.request.limits = {.steps = 2, .seconds = seconds, .evaluations = 40};
    LastIsFastest tuner;
    BuiltinCoder coder(world.request.target, world.request.hardware, world.request.shell, *world.store, &tuner);
    double now = 0;
    int screens = 0;
    world.request.clock = [&] { return now; };
    std::set<std::string> certified;
    WatchedJudge judge(world.judge, [&](const Candidate& candidate, Tier tier, Verdict& verdict) {
      if (tier == Tier::certify) certified.insert(candidate.code);
      // Of 30 seconds three are left, less than is kept for certification: that comes on top of what is measured last.
      if (seconds > 0 && tier == Tier::screen && ++screens == 2) now = 27;
      verdict.seconds = 2;
      for (const Kernel& kernel : candidate.program->kernels)
        if (kernel.has("tiled"))
          verdict.speedup["eager"].median *= 1.5, verdict.speedup["eager"].low *= 1.5,
              verdict.speedup["eager"].high *= 1.5;
    });
    const auto done = world.run(judge, coder);
    ASSERT_TRUE(done.ok()) << done.error().message();
    const auto& attempts = world.recorder.attempts;
    const int last = seconds > 0 ? 1 : 2;  // step of the search
    const auto measured = std::count_if(attempts.begin(), attempts.end(), [last](const NodeRecord& one) {
      return one.action.starts_with("tile ") && one.step == last + 1 && !one.certify;
    });
    EXPECT_EQ(measured, 1) << seconds;
    EXPECT_TRUE(std::all_of(done->program->kernels.begin(), done->program->kernels.end(), [](const Kernel& kernel) {
      return kernel.family == Family::library || kernel.has("tiled");
    })) << print(*done->program);
    EXPECT_TRUE(certified.contains(done->code.text));
  }
}

TEST(Measuring, WhatStaysAsItIsIsNotJudgedAgain) {
  World world("triton", network(), h200_hardware());
  world.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  world.request.shell.arguments = {"x"};
  world.request.limits = {.steps = 2, .seconds = 0, .evaluations = 40};
  FirstIsFastest tuner;
  BuiltinCoder coder(world.request.target, world.request.hardware, world.request.shell, *world.store, &tuner);
  std::multiset<std::string> screened;
  WatchedJudge judge(world.judge, [&](const Candidate& candidate, Tier tier, Verdict&) {
    if (tier == Tier::screen) screened.insert(candidate.code);
  });
  const auto done = world.run(judge, coder);
  ASSERT_TRUE(done.ok()) << done.error().message();
  const auto& attempts = world.recorder.attempts;
  EXPECT_TRUE(std::any_of(attempts.begin(), attempts.end(), [](const NodeRecord& one) {
    return one.action.starts_with("tile ") && one.screen && one.failure.empty();
  })) << "it is told";
  for (const std::string& code : screened) EXPECT_EQ(screened.count(code), 1u);
}

}  // namespace
}  // namespace mtmc::testing
