#include <gtest/gtest.h>

#include <map>
#include <set>

#include "search/world.h"

namespace mtmc {
namespace {

using testing::tried;
using testing::World;

World evolving(uint64_t seed, int evaluations = 30, Program of = testing::network()) {
  World world("null", std::move(of));
  world.strategy = "evolve";
  world.request.seed = seed;
  world.request.limits.evaluations = evaluations;
  return world;
}

TEST(Evolve, ReachesWhatBeamReachesWithAsManyEvaluations) {
  World beam;
  beam.request.limits.evaluations = 30;
  const double wanted = beam.run().value().verdict.time_ms.value();
  for (const uint64_t seed : {1, 2, 3}) {
    World world = evolving(seed);
    const Optimized done = world.run().value();
    EXPECT_LE(done.evaluations, 30);
    EXPECT_LE(done.verdict.time_ms.value(), 1.001 * wanted) << "seed " << seed;
  }
}

TEST(Evolve, TheSameSeedMakesTheSamePopulation) {
  World one = evolving(7), again = evolving(7), other = evolving(8);
  ASSERT_TRUE(one.run().ok() && again.run().ok() && other.run().ok());
  EXPECT_EQ(tried(one.recorder.attempts), tried(again.recorder.attempts));
  EXPECT_NE(tried(one.recorder.attempts), tried(other.recorder.attempts));
}

// A step that two parents had in common stands in the store with other steps before it: it was crossed over, or what
// stood before it was lost.
TEST(Evolve, StepsComeToStandBehindOthers) {
  int moved = 0;
  for (const uint64_t seed : {2, 3, 4}) {
    World world = evolving(seed, 60, testing::branches());
    world.request.strategy_options.patience = 100;
    ASSERT_TRUE(world.run().ok());
    std::map<std::string, std::set<int>> places;
    for (const NodeRecord& attempt : world.recorder.attempts) places[attempt.action].insert(attempt.step);
    for (const auto& [action, steps] : places) moved += steps.size() > 1;
  }
  EXPECT_GE(moved, 9) << "in three searches";
}

// Both parents of what is crossed stand in the store: the other one's steps led to it, too.
TEST(Evolve, WhatIsCrossedHasTwoParents) {
  World world = evolving(3, 80, testing::branches());
  world.policy = "random", world.request.strategy_options.patience = 100;
  const Optimized done = world.run().value();
  const auto nodes = world.store->nodes(done.run).value();
  std::map<NodeId, const NodeRecord*> by_id;
  for (const NodeRecord& node : nodes) by_id[node.id] = &node;
  int crossed = 0;
  for (const NodeRecord& node : nodes) {
    if (node.partner == kNoNode) continue;
    ++crossed;
    ASSERT_TRUE(by_id.contains(node.partner));
    EXPECT_NE(node.partner, node.parent);
    std::set<std::string> genome;
    for (const NodeRecord* at : path_to(nodes, node.partner)) genome.insert(at->action);
    EXPECT_TRUE(genome.contains(node.action)) << node.action;
  }
  EXPECT_GE(crossed, 2);
}

// Ten verdicts, then an error.
class DyingJudge final : public Judge {
 public:
  explicit DyingJudge(Judge& inner) : inner_(inner) {}
  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override {
    if (--left_ < 0) return Error{"judging", "the machine went away", "", ""};
    return inner_.judge(task, candidate, tier);
  }

 private:
  Judge& inner_;
  int left_ = 10;
};

TEST(Evolve, ARunThatWasCutOffGoesOnToTheSameEnd) {
  World whole = evolving(5);
  const Optimized wanted = whole.run().value();
  World world = evolving(5);
  DyingJudge dying(world.judge);
  ASSERT_FALSE(world.run(dying).ok());
  const Optimized done = world.run().value();
  EXPECT_TRUE(done.resumed);
  EXPECT_EQ(done.verdict.time_ms, wanted.verdict.time_ms);
  EXPECT_EQ(done.steps.size(), wanted.steps.size());
}

TEST(Evolve, EndsWhenNothingIsLeftToTry) {
  World world = evolving(1, 0);
  world.request.limits.steps = 1;
  world.request.strategy_options.patience = 1000;
  const Optimized done = world.run().value();
  EXPECT_LT(done.evaluations, 200);
}

}  // namespace
}  // namespace mtmc
