// What `tree` goes on with: the rule by itself, and with policies that know gains or only an order.
#include "search/frontier.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <tuple>

#include "search/gains.h"
#include "search/world.h"

namespace mtmc {
namespace {

using testing::World;

TEST(Frontier, GoesOnWhereSpeedTimesTheNextStepIsMost) {
  Frontier<int> frontier;
  for (const auto& [name, speed, gain] : {std::tuple{1, 1.0, 1.0}, {2, 2.0, 0.1}, {3, 2.5, 0.0}}) {
    Branch<int>& branch = frontier.open(name, speed);
    branch.ranked = branch.knows_gains = true, branch.chances = {{gain}, {gain - 0.1}};
  }
  const auto next = [&] {
    Branch<int>* chosen = frontier.most_attractive();
    if (chosen == nullptr) return 0;
    chosen->tried(chosen->next), ++chosen->tries;
    return chosen->state;
  };
  EXPECT_EQ(next(), 1);  // 2.72; then 1.84
  EXPECT_EQ(next(), 3);  // 2.5; then 1.70
  EXPECT_EQ(next(), 2);  // 2.21; then 1.5
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(next(), 3);
  EXPECT_EQ(next(), 2);
  EXPECT_EQ(next(), 0) << "all is tried";
}

TEST(Frontier, KnowsNoGainsOfWhatNobodyRanked) {
  Frontier<int> frontier;
  frontier.open(1, 1.0, 3.0);
  Branch<int>& ranked = frontier.open(2, 2.0);
  ranked.ranked = ranked.knows_gains = true, ranked.chances = {{0.2}};
  Branch<int>* first = frontier.most_attractive();
  EXPECT_EQ(first->state, 1) << "hoped for";
  first->ranked = true;  // and nothing is to be done there
  EXPECT_EQ(frontier.most_attractive()->state, 2);
}

TEST(Frontier, PassesOverWhatWasDoneAtOnce) {
  Frontier<int> frontier;
  Branch<int>& branch = frontier.open(1, 2.0);
  branch.ranked = branch.knows_gains = true;
  branch.chances = {{.hope = 0.3}, {.hope = 0.1, .sure = true}, {.hope = 0.0}};
  ASSERT_EQ(branch.sure(), std::optional<size_t>(1));
  EXPECT_DOUBLE_EQ(branch.speed_behind(1), 2 * std::exp(0.1));
  branch.tried(1);
  EXPECT_EQ(branch.sure(), std::nullopt);
  EXPECT_EQ(branch.next, 0u) << "the more hopeful one is still to be tried";
  branch.tried(0);
  EXPECT_EQ(branch.next, 2u);
  branch.close();
  EXPECT_EQ(frontier.most_attractive(), nullptr);
}

TEST(Frontier, HopesForGraphsAndTrustsHalfOfAGain) {
  EXPECT_DOUBLE_EQ(hoped("fuse %3 %4", 0.4), 0.2);
  EXPECT_DOUBLE_EQ(hoped("capture %3 %4", 0.4), 0.5);
  EXPECT_DOUBLE_EQ(hoped("capture", 0), 0.3);
  EXPECT_NEAR(hoped("capture", -0.025), 0.15 - 0.0125, 1e-12) << "it copies more than it saves";
  EXPECT_DOUBLE_EQ(hoped("capture", -0.1), -0.05);
  EXPECT_DOUBLE_EQ(hoped("tile %3", kLeastGain), kLeastHope);
}

TEST(Gains, OfScoresBeginAtThePriorAndAreRelativeToStop) {
  const std::vector<double> gains = gains_of_scores({7, 3.0, 5.0}, 20);
  EXPECT_DOUBLE_EQ(gains[0], 0.1 + kStopsWalk);
  EXPECT_DOUBLE_EQ(gains[1], -0.1 + kStopsWalk);
  EXPECT_DOUBLE_EQ(gains[2], kStopsWalk);
}

// Expects the same of all that can be done at a state, by how many steps led there.
class Expects final : public Policy {
 public:
  explicit Expects(std::vector<double> by_step) : by_step_(std::move(by_step)) {}
  std::string name() const override { return "expects"; }
  Result<Ranking> rank(const Observation& seen, const std::vector<Proposal>& proposals) override {
    std::vector<size_t> order(proposals.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    return Ranking(order,
                   std::vector<double>(proposals.size(), by_step_[std::min(by_step_.size() - 1, seen.history.size())]));
  }

 private:
  std::vector<double> by_step_;
};

// A search as it stands in the store.
struct Searched {
  explicit Searched(Policy& policy, int most = 2) : Searched(policy, most, [](int, Verdict&) {}) {}
  // `watch` gets each verdict, and how many there were.
  Searched(Policy& policy, int most, const std::function<void(int, Verdict&)>& watch) {
    world.request.limits = {.steps = 6, .seconds = 0, .evaluations = most};
    int screened = 0;
    testing::WatchedJudge judge(world.judge, [&](const Candidate&, Tier tier, Verdict& verdict) {
      if (tier == Tier::screen) watch(screened++, verdict);
    });
    const auto done =
        optimize(world.request, judge, *world.store, world.coder, policy, *find_strategy("tree"), world.recorder);
    EXPECT_TRUE(done.ok());
    if (done.ok()) evaluations = done->evaluations;
    attempts = world.store->nodes(1).value();
  }
  const NodeRecord& parent(const NodeRecord& one) const {
    return *std::find_if(attempts.begin(), attempts.end(),
                         [&](const NodeRecord& node) { return node.id == one.parent; });
  }
  std::vector<NodeRecord> judged() const {  // but for the start, in the order in which they were made
    std::vector<NodeRecord> some;
    for (const NodeRecord& one : attempts)
      if (one.parent != kNoNode && one.verdict() != nullptr) some.push_back(one);
    return some;
  }
  size_t passed() const {
    return static_cast<size_t>(std::count_if(attempts.begin(), attempts.end(), [](const NodeRecord& one) {
      return one.failure.empty() && one.verdict() == nullptr;
    }));
  }
  World world{"null", testing::branches()};
  std::vector<NodeRecord> attempts;
  int evaluations = 0;
};

void refuse(Verdict& verdict) { verdict.outcome = Outcome::refused, verdict.reason = "wrong-result"; }

TEST(Tree, GoesWhereThePolicyExpectsMost) {
  Expects early({3, 0}), late({0, 0.09});
  const auto wide = Searched(early).attempts, deep = Searched(late).attempts;
  ASSERT_GE(wide.size(), 3u);
  ASSERT_GE(deep.size(), 3u);
  EXPECT_EQ(wide[1].parent, wide[0].id);
  EXPECT_EQ(wide[2].parent, wide[0].id) << "more is expected at the start, whatever came of its first action";
  EXPECT_EQ(deep[1].parent, deep[0].id);
  EXPECT_EQ(deep[2].parent, deep[1].id);
}

TEST(Tree, TriesWhatShouldLoseALittle) {
  Expects little({-0.2}), much({-0.4});
  EXPECT_EQ(Searched(little).attempts.size(), Searched(much).attempts.size() + 2)
      << "all that --evaluations allows, and nothing";
}

TEST(Tree, DoesAtOnceWhatIsSureBehindAStep) {
  Expects sure({0, 0.1, 0.1, 0});
  const Searched searched(sure, 1);
  EXPECT_EQ(searched.evaluations, 1);
  ASSERT_EQ(searched.attempts.size(), 4u) << "the start and three steps";
  EXPECT_EQ(searched.passed(), 2u);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(searched.attempts[i].parent, searched.attempts[i - 1].id);
  EXPECT_NE(searched.attempts[3].verdict(), nullptr);
  std::vector<NodeId> announced;
  for (const NodeRecord& one : searched.world.recorder.attempts)
    if (one.verdict() == nullptr || one.verdict()->tier == Tier::screen) announced.push_back(one.id);
  EXPECT_EQ(announced, (std::vector<NodeId>{searched.attempts[0].id, searched.attempts[1].id, searched.attempts[2].id,
                                            searched.attempts[3].id}))
      << "each once";
}

TEST(Tree, GoesOnFromWhatItPassed) {
  Expects sure({0, 3, 0});
  const Searched searched(sure, 2);
  const std::vector<NodeRecord> judged = searched.judged();
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_EQ(judged[1].step, 2);
  EXPECT_EQ(judged[1].parent, judged[0].parent) << "more is hoped for there than behind what was judged";
  EXPECT_EQ(searched.parent(judged[1]).verdict(), nullptr);
  EXPECT_EQ(searched.passed(), 1u);
}

TEST(Tree, WhatWasPassedIsNotJudgedWhenAnotherWayLeadsThere) {
  World world("null", testing::branches());
  world.strategy = "tree", world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 40};
  world.request.strategy_options.patience = 40;
  ASSERT_TRUE(world.run().ok());
  std::set<std::string> states;
  bool passes = false;
  const std::vector<NodeRecord> nodes = world.store->nodes(1).value();
  for (const NodeRecord& one : nodes) {
    if (!one.failure.empty()) continue;
    EXPECT_TRUE(states.insert(one.state_hash).second) << one.action << " leads to what is in the tree";
    passes |= one.verdict() == nullptr;
  }
  EXPECT_TRUE(passes);
}

TEST(Tree, ADescentThatIsRefusedGivesWayToTheLastThatIsRight) {
  Expects sure({0, 0.5, 0.5, 0.5, 0});
  // The fourth step is refused; halfway back is the second; then the third.
  const Searched last(sure, 3, [](int screened, Verdict& verdict) {
    if (screened == 1) refuse(verdict);
  });
  ASSERT_GE(last.attempts.size(), 5u);
  EXPECT_EQ(last.evaluations, 3);
  EXPECT_EQ(last.attempts[1].verdict(), nullptr);
  for (size_t i : {2, 3}) EXPECT_TRUE(last.attempts[i].screen->certified()) << i;
  EXPECT_FALSE(last.attempts[4].screen->certified());
  EXPECT_EQ(last.attempts.size(), 5u);

  // All are, and nothing is tried behind them.
  const Searched all(sure, 4, [](int screened, Verdict& verdict) {
    if (screened >= 1 && screened <= 3) refuse(verdict);
  });
  EXPECT_EQ(all.evaluations, 4);
  ASSERT_GT(all.attempts.size(), 5u);
  EXPECT_EQ(all.attempts[3].verdict(), nullptr) << "between those that are refused";
  for (size_t i : {1, 2, 4}) EXPECT_FALSE(all.attempts[i].screen->certified()) << i;
  EXPECT_EQ(all.attempts[5].parent, all.attempts[0].id);
}

TEST(Tree, AResumedRunGoesOnFromWhatWasMade) {
  Expects sure({0, 0.5, 0.5, 0});
  World world("null", testing::branches());
  world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 1};
  world.strategy = "tree";
  testing::Leaving leaving(world.judge, 1);
  ASSERT_FALSE(world.run(leaving, world.coder, sure).ok());
  ASSERT_EQ(world.store->nodes(1)->size(), 4u);
  EXPECT_EQ(world.store->nodes(1)->back().verdict(), nullptr);
  const auto done = world.run(world.judge, world.coder, sure);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_TRUE(done->resumed);
  EXPECT_EQ(done->evaluations, 1);
  EXPECT_EQ(world.store->nodes(1)->size(), 4u) << "nothing is made twice";
  EXPECT_NE(world.store->nodes(1)->back().verdict(), nullptr);
}

TEST(Tree, WhoKnowsNoGainsPassesNothing) {
  World world("null", testing::branches());
  world.strategy = "tree", world.policy = "random";
  world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 12};
  ASSERT_TRUE(world.run().ok());
  const std::vector<NodeRecord> nodes = world.store->nodes(1).value();
  for (const NodeRecord& one : nodes) EXPECT_TRUE(one.verdict() || !one.failure.empty());
}

TEST(Tree, WhoExploresPassesNothing) {
  Expects sure({0.5});
  World world("null", testing::branches());
  world.request.explores = true, world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 12};
  ASSERT_TRUE(
      optimize(world.request, world.judge, *world.store, world.coder, sure, *find_strategy("tree"), world.recorder)
          .ok());
  const std::vector<NodeRecord> nodes = world.store->nodes(1).value();
  for (const NodeRecord& one : nodes) EXPECT_TRUE(one.verdict() || !one.failure.empty());
}

}  // namespace
}  // namespace mtmc
