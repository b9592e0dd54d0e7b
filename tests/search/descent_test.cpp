// Several steps judged once, where there is no time for more.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/world.h"

namespace mtmc::testing {
namespace {

// The cost model's choice, and nothing else: one place at a time.
class Narrow final : public Policy {
 public:
  Narrow(std::unique_ptr<Policy> greedy, std::function<void()> when_it_ranks)
      : ranks(std::move(when_it_ranks)), greedy_(std::move(greedy)) {}
  std::string name() const override { return "narrow"; }
  bool foresees() const override { return true; }
  std::optional<Prospect> prospect(const Program& one) override { return greedy_->prospect(one); }
  Result<Ranking> rank(const Observation& observation, const std::vector<Proposal>& proposals) override {
    ranks();
    MTMC_TRY(Ranking ranking, greedy_->rank(observation, proposals));
    const auto stop =
        std::find_if(ranking.order.begin(), ranking.order.end(), [&](size_t i) { return proposals[i].stop(); });
    if (stop - ranking.order.begin() > 1) std::iter_swap(stop, ranking.order.begin() + 1);
    return ranking;
  }

  std::function<void()> ranks;

 private:
  std::unique_ptr<Policy> greedy_;
};

// A judge whose verdicts take `each` seconds of a clock that nothing else moves.
struct SlowWorld : World {
  SlowWorld(double limit, double seconds, Program start = branches(), const char* on = "null",
            Hardware machine = null_hardware())
      : World(on, std::move(start), std::move(machine)), each(seconds) {
    strategy = "tree";
    request.limits = {.steps = 6, .seconds = limit, .evaluations = 0};
    request.clock = [this] { return now; };
  }
  // `refuses`: by the number of steps that the candidate is away from the start, and the tier.
  Result<Optimized> run_slowly(std::function<bool(const Candidate&, Tier)> refuses) {
    WatchedJudge* watched = nullptr;
    WatchedJudge slow(judge, [&](const Candidate& candidate, Tier tier, Verdict& verdict) {
      when_judged(*watched);
      now += each, verdict.seconds = each;
      judged.push_back(candidate.code);
      if (refuses(candidate, tier)) verdict.outcome = Outcome::refused, verdict.reason = "wrong-result";
    });
    watched = &slow;
    const auto greedy = [&] {
      return find_policy("greedy")->make({hardware, request.target, request.paper_only, request.seed}).value();
    };
    Narrow narrow(greedy(), [this] { now += plans; });
    if (prepares) {
      PreparingCoder preparing(coder);
      const auto done = run(slow, preparing);
      prepared = slow.prepared;
      return done;
    }
    return wide ? run(slow) : run(slow, coder, narrow);
  }
  // The last that was said of each attempt.
  std::vector<NodeRecord> nodes() { return store->nodes(1).value(); }
  double now = 0, each;
  double plans = 0;  // seconds that putting actions in order takes
  bool wide = false, prepares = false;
  std::vector<std::string> judged, prepared;
  std::function<void(const WatchedJudge&)> when_judged = [](const WatchedJudge&) {};  // before it is noted
};

// A network in which no place is like another: each brings a thirtieth of the time.
Program many_shapes() {
  Program p;
  p.name = "many";
  for (int64_t i = 0; i < 30; ++i) {
    const ValueId x = add_leaf(p, ValueKind::input, "x" + std::to_string(i), {DType::f32, {4096 + i, 256}});
    const auto node = [&](const char* op, ValueId of) { return add_node(p, op, {of}, {}, "net.py:1").value()[0]; };
    p.outputs.push_back(node("sigmoid", node("relu", x)));
  }
  reset_kernels(p);
  return p;
}

// Sorts with something small behind each: a graph brings more than what can be fused.
Program many_launches() {
  Program p;
  p.name = "launches";
  ValueId x = add_leaf(p, ValueKind::input, "x", {DType::f32, {64, 64}});
  for (int i = 0; i < 12; ++i) {
    x = add_node(p, "library", {x},
                 {{"args", std::string("{0}")},
                  {"call", std::string("aten.sort.default")},
                  {"types", std::string("f32[64,64] i64[64,64]")}},
                 "net.py:1")
            .value()[0];
    for (const char* op : {"relu", "sigmoid", "tanh"}) x = add_node(p, op, {x}, {}, "net.py:2").value()[0];
  }
  p.outputs = {x};
  reset_kernels(p);
  return p;
}

bool never(const Candidate&, Tier) { return false; }

size_t unjudged(const std::vector<NodeRecord>& nodes) {
  return static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), [](const NodeRecord& node) {
    return node.failure.empty() && node.verdict() == nullptr;
  }));
}

TEST(Descent, WithTimeForOneCandidateItIsTheLastOfSeveralSteps) {
  SlowWorld hasty(11, 8);
  const auto done = hasty.run_slowly(never);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_EQ(done->evaluations, 1);
  ASSERT_GE(done->steps.size(), 3u) << "the start and two steps at least";
  EXPECT_EQ(unjudged(hasty.nodes()), done->steps.size() - 2) << "all but the start and the last";
  const std::vector<NodeRecord> nodes = hasty.nodes();
  for (size_t i = 1; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes[i].parent, nodes[i - 1].id) << "each step is an attempt of its own";
    EXPECT_FALSE(nodes[i].code.empty() || nodes[i].action.empty());
  }
}

TEST(Descent, WhatWasPlannedIsMadeThoughPlanningTookTheTime) {
  SlowWorld hasty(11, 8);
  hasty.plans = 6;  // the second time is over when two steps are planned
  const auto done = hasty.run_slowly(never);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->evaluations, 1);
  EXPECT_EQ(done->steps.size(), 3u) << "the start and two steps";
}

TEST(Descent, ABareCaptureIsJudgedWhileTheLastIsCompiled) {
  SlowWorld hasty(11, 8, many_launches(), "triton", h200_hardware());
  hasty.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  hasty.prepares = true;
  const auto done = hasty.run_slowly(never);
  ASSERT_TRUE(done.ok()) << done.error().message();
  const std::vector<NodeRecord> nodes = hasty.nodes();
  ASSERT_EQ(nodes.size(), 3u) << "the start, the capture, what is fused in it";
  EXPECT_TRUE(nodes[1].action.starts_with("capture"));
  ASSERT_GE(hasty.judged.size(), 3u);
  EXPECT_EQ(hasty.judged[1], nodes[1].code);
  EXPECT_EQ(hasty.judged[2], nodes[2].code);
  ASSERT_GE(hasty.prepared.size(), 2u);
  EXPECT_EQ(hasty.prepared.front(), nodes[2].code) << "its kernels take longest";
}

TEST(Descent, ItsEndIsCompiledWhileTheModuleIsJudgedAsItIs) {
  SlowWorld hasty(11, 8, many_launches(), "triton", h200_hardware());
  hasty.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  hasty.prepares = true;
  std::vector<std::string> before;  // when the first verdict is given
  hasty.when_judged = [&](const WatchedJudge& judge) {
    if (hasty.judged.empty()) before = judge.prepared;
  };
  const auto done = hasty.run_slowly(never);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(before, std::vector{hasty.nodes().back().code});
}

// A convolution that is fused with all that follows pays most, and is slow: its results lie apart, where the norm reads
// them in rows.
TEST(Descent, TheBestOfAFewWaysIsGone) {
  SlowWorld hasty(11, 8,
                  parse_program(R"(program scattered {
  %0 = input "x" : f32[32,32,16,32,32]
  %1 = param "weight" : f32[32,64,3,3,3]
  %2 = param "bias" : f32[64]
  %3 = param "norm.weight" : f32[64]
  %4 = param "norm.bias" : f32[64]
  %5 = conv_transpose3d(%0, %1, %2, output_padding=[1,1,1], padding=[1,1,1], stride=[2,2,2]) : f32[32,64,32,64,64]
  %6 = layer_norm(%5, %3, %4, normalized_shape=[64]) : f32[32,64,32,64,64]
  %7 = gelu(%6) : f32[32,64,32,64,64]
  return %7
}
kernel a = { %5 } library
kernel b = { %6 } library
kernel c = { %7 } library
)")
                      .value(),
                  "triton", h200_hardware());
  hasty.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  hasty.wide = true;
  const auto done = hasty.run_slowly(never);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->evaluations, 1);
  ASSERT_EQ(done->program->kernels.size(), 2u) << print(*done->program);
  EXPECT_EQ(done->program->kernels[1].values, (std::vector<ValueId>{6, 7}));
  for (const Kernel& kernel : done->program->kernels) EXPECT_NE(kernel.family, Family::library);
}

TEST(Descent, WhatPaysLittleAtEachPlaceIsDoneAtAllAtOnce) {
  SlowWorld hasty(11, 8, many_shapes());
  hasty.wide = true;
  const auto done = hasty.run_slowly(never);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->evaluations, 1);
  size_t fused = 0;
  for (const NodeRecord& node : hasty.nodes()) {
    const auto action = parse_action(node.action);
    if (action.ok() && action->type == "fuse") fused = std::max(fused, action->regions.size());
  }
  EXPECT_EQ(fused, 30u);
}

TEST(Descent, WithTimeForAllStepsItIsLeftToTheTree) {
  for (const double limit : {0.0, 1000.0}) {
    SlowWorld patient(limit, 5);
    patient.request.limits.evaluations = 12, patient.wide = true;
    ASSERT_TRUE(patient.run_slowly(never).ok());
    World usual("null", branches());
    usual.strategy = "tree", usual.request.limits = {.steps = 6, .seconds = 0, .evaluations = 12};
    ASSERT_TRUE(usual.run().ok());
    EXPECT_EQ(tried(patient.recorder.attempts), tried(usual.recorder.attempts));
  }
}

TEST(Descent, WhatIsRefusedGivesWayToTheOneHalfway) {
  SlowWorld good(11, 8);
  const auto whole = good.run_slowly(never);
  ASSERT_TRUE(whole.ok() && whole->steps.size() >= 3);
  SlowWorld hasty(11, 8);
  const std::string last = whole->code.text;
  const auto done = hasty.run_slowly([&](const Candidate& one, Tier) { return one.code == last; });
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->answer, Answer::faster) << "although the time that is kept for certification had begun";
  EXPECT_LT(done->steps.size(), whole->steps.size());
  EXPECT_EQ(std::set<std::string>(hasty.judged.begin(), hasty.judged.end()).size(), 3u)
      << "the start, the end, halfway";
}

TEST(Descent, WhatFailsItsCertificationGivesWay) {
  SlowWorld good(11, 8);
  const auto whole = good.run_slowly(never);
  ASSERT_TRUE(whole.ok() && whole->steps.size() >= 3);
  SlowWorld hasty(11, 8);
  const std::string last = whole->code.text;
  const auto done =
      hasty.run_slowly([&](const Candidate& one, Tier tier) { return one.code == last && tier == Tier::certify; });
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_LT(done->steps.size(), whole->steps.size());
}

TEST(Descent, WhatWasMadeOnTheWayIsJudgedWhereThereIsTimeAfterAll) {
  SlowWorld lucky(40, 10);
  bool first = true;
  const auto done = lucky.run_slowly([&](const Candidate&, Tier) {
    if (!std::exchange(first, false)) lucky.each = 0.1;  // only the start took long
    return false;
  });
  ASSERT_TRUE(done.ok()) << done.error().message();
  std::multiset<std::pair<NodeId, std::string>> steps;
  for (const NodeRecord& node : lucky.nodes()) steps.emplace(node.parent, node.action);
  for (const auto& step : steps) EXPECT_EQ(steps.count(step), 1u) << step.second << " is made once";
  const std::vector<NodeRecord> nodes = lucky.nodes();
  ASSERT_GT(nodes.size(), 2u);
  EXPECT_NE(nodes[1].verdict(), nullptr) << "the first step, which the start tries";
}

TEST(Descent, AResumedRunGoesOnFromWhatWasMade) {
  SlowWorld cut(11, 8);
  cut.wide = true;
  Leaving leaving(cut.judge, 1, cut.each);
  ASSERT_FALSE(cut.run(leaving).ok());
  const size_t made = cut.nodes().size();
  ASSERT_GE(made, 2u);
  EXPECT_EQ(unjudged(cut.nodes()), made - 1);
  const auto done = cut.run_slowly(never);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_TRUE(done->resumed);
  EXPECT_EQ(cut.nodes().size(), made) << "nothing is made twice";
  EXPECT_EQ(done->answer, Answer::faster);
}

}  // namespace
}  // namespace mtmc::testing
