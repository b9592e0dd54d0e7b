// Walks of a single policy: what they pass over, and where they go on.
#include <gmock/gmock.h>

#include <set>

#include "search/gains.h"
#include "search/world.h"

namespace mtmc {
namespace {

using testing::WatchedJudge;
using testing::World;

World walking(int evaluations) {
  World world;
  world.strategy = "rollout";
  world.request.limits = {.steps = 8, .seconds = 0, .evaluations = evaluations};
  world.request.strategy_options.breadth = 2;
  return world;
}

TEST(Rollout, AfterARefusalComesWhatIsWantedNextAtTheSameState) {
  World world = walking(6);
  int screens = 0;
  WatchedJudge judge(world.judge, [&](const Candidate&, Tier tier, Verdict& verdict) {
    if (tier != Tier::screen || ++screens != 2) return;  // the first candidate behind the start
    verdict.outcome = Outcome::refused, verdict.reason = "crashed";
  });
  ASSERT_TRUE(world.run(judge).ok());
  const auto& attempts = world.recorder.attempts;
  ASSERT_GE(attempts.size(), 4u);
  EXPECT_FALSE(attempts[1].screen->certified());
  EXPECT_EQ(attempts[2].parent, attempts[0].id) << "the refused state is left";
  EXPECT_NE(attempts[2].action, attempts[1].action);
  EXPECT_EQ(attempts[3].parent, attempts[2].id) << "and what was right is followed";
}

TEST(Rollout, WalksGoOnToWhatIsNewAndTryNothingTwice) {
  World world = walking(60);
  std::set<std::string> screened;
  WatchedJudge judge(world.judge, [&](const Candidate& candidate, Tier tier, const Verdict&) {
    EXPECT_TRUE(tier == Tier::certify || screened.insert(candidate.code).second) << candidate.code;
  });
  ASSERT_TRUE(world.run(judge).ok());
  // A second walk begins at the start again, where its first wish is known by now.
  const auto& attempts = world.recorder.attempts;
  const auto from_start = std::count_if(attempts.begin(), attempts.end(),
                                        [&](const NodeRecord& one) { return one.parent == attempts[0].id; });
  EXPECT_GT(from_start, 1);
  EXPECT_GT(screened.size(), 8u) << "more than one walk";
}

// Stops are cut off where a policy says so; a walk goes on to what should change nothing.
TEST(Rollout, GreedyStopsWhereItIsToldTo) {
  World world = walking(1);
  const auto policy = find_policy("greedy")->make({world.hardware, world.target}).value();
  const ActionContext context{world.hardware, world.target, false};
  std::vector<Proposal> proposals;
  for (Action& action : enumerate_actions(*world.program, context)) {
    std::string text = store_text(action);
    proposals.push_back({std::move(action), std::move(text)});
  }
  const auto wanted = [&](double worthwhile) {
    Observation observation{"", "", "", world.program.get(), {}, "", 0, 0, 8, worthwhile};
    const std::vector<size_t> order = policy->rank(observation, proposals).value().order;
    return std::find_if(order.begin(), order.end(), [&](size_t i) { return proposals[i].stop(); }) - order.begin();
  };
  EXPECT_LT(wanted(1), wanted(kWorthwhile));
  EXPECT_LE(wanted(kWorthwhile), wanted(kStopsWalk));
  EXPECT_EQ(wanted(-10), static_cast<std::ptrdiff_t>(proposals.size()) - 1);
}

}  // namespace
}  // namespace mtmc
