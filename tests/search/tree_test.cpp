// What `tree` goes on with: the rule by itself, and with policies that know gains or only an order.
#include "search/frontier.h"

#include <algorithm>
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
    branch.ranked = true, branch.gains = {gain, gain - 0.1}, branch.actions = 2;
  }
  const auto next = [&] {
    Branch<int>* chosen = frontier.most_attractive();
    if (chosen == nullptr) return 0;
    ++chosen->next, ++chosen->tries;
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
  ranked.ranked = true, ranked.gains = {0.2}, ranked.actions = 1;
  Branch<int>* first = frontier.most_attractive();
  EXPECT_EQ(first->state, 1) << "hoped for";
  first->ranked = true;  // and nothing is to be done there
  EXPECT_EQ(frontier.most_attractive()->state, 2);
}

TEST(Frontier, HopesForGraphsAndTrustsHalfOfAGain) {
  EXPECT_DOUBLE_EQ(hoped("fuse %3 %4", 0.4), 0.2);
  EXPECT_DOUBLE_EQ(hoped("capture %3 %4", 0.4), 0.5);
  EXPECT_DOUBLE_EQ(hoped("capture", kLeastGain), kLeastHope) << "the most hopeful type";
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

std::vector<NodeRecord> attempts_of(Policy& policy) {
  World world;
  world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 2};
  EXPECT_TRUE(
      optimize(world.request, world.judge, *world.store, world.coder, policy, *find_strategy("tree"), world.recorder)
          .ok());
  return world.recorder.attempts;
}

TEST(Tree, GoesWhereThePolicyExpectsMost) {
  Expects early({3, 0}), late({0, 3});
  const auto wide = attempts_of(early), deep = attempts_of(late);
  ASSERT_GE(wide.size(), 3u);
  ASSERT_GE(deep.size(), 3u);
  EXPECT_EQ(wide[1].parent, wide[0].id);
  EXPECT_EQ(wide[2].parent, wide[0].id) << "more is expected at the start, whatever came of its first action";
  EXPECT_EQ(deep[1].parent, deep[0].id);
  EXPECT_EQ(deep[2].parent, deep[1].id);
}

TEST(Tree, TriesWhatShouldLoseALittle) {
  Expects little({-0.2}), much({-0.4});
  EXPECT_EQ(attempts_of(little).size(), attempts_of(much).size() + 2) << "all that --evaluations allows, and nothing";
}

}  // namespace
}  // namespace mtmc
