#include "train/guided_search.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

namespace mtmc::train {
namespace {

Place place(std::string name, double time, std::vector<std::string> actions) {
  Place one;
  one.state = std::move(name), one.time = time, one.outcome = "certified";
  for (std::string& action : actions) one.actions.push_back({action, action, 1, 0});
  return one;
}

// start -slow-> 1.25 -then-> 0.2 (and -back-> start); start -fast-> 0.5 -on-> 0.4; start -wrong-> refused.
TreeDynamics world() {
  Tree tree{"t", "", "", {}, {}};
  tree.places = {place("start", 1, {"slow", "fast", "wrong"}),
                 place("slower", 1.25, {"then", "back"}),
                 place("faster", 0.5, {"on"}),
                 place("fastest", 0.2, {}),
                 place("onward", 0.4, {}),
                 place("refused", 1, {})};
  tree.places[5].standing = Standing::wrong, tree.places[5].outcome = "wrong";
  tree.outcomes = {{{1}, {2}, {5}}, {{3}, {0}}, {{4}}, {}, {}, {}};
  return TreeDynamics({tree});
}

// What each action is expected to bring; the states' best times after each measurement.
std::vector<double> times(GuidedSearch& search, const std::map<std::string, double>& expected) {
  EXPECT_TRUE(search.begin(8, 0).ok());
  while (const Episode* episode = search.asks()) {
    std::vector<double> gains;
    for (const std::string& action : episode->actions()) gains.push_back(action == "stop" ? 0 : expected.at(action));
    EXPECT_TRUE(search.answer(gains).ok());
  }
  std::vector<double> best;
  for (size_t n = 1; n <= search.measured().size(); ++n) best.push_back(std::exp(-search.measured().gain(n)));
  return best;
}

using ::testing::DoubleNear;
using ::testing::ElementsAre;
const auto near = [](double time) { return DoubleNear(time, 1e-9); };

TEST(GuidedSearch, ATreeGoesByWhatWasMeasuredAndByWhatIsExpected) {
  TreeDynamics dynamics = world();
  const std::map<std::string, double> hopeful{{"slow", 0.3}, {"fast", 0.2}, {"wrong", 0.1},
                                              {"then", 2},   {"back", 5},   {"on", 0.1}};
  const auto followed = tree_search(dynamics, 0, 64);
  // From the slower state much is hoped for; `back` leads to what was met, and costs nothing.
  EXPECT_THAT(times(*followed, hopeful), ElementsAre(near(1), near(0.2), near(0.2), near(0.2), near(0.2)));

  std::map<std::string, double> modest = hopeful;
  modest["then"] = 0.01;
  const auto left = tree_search(dynamics, 0, 64);
  EXPECT_THAT(times(*left, modest), ElementsAre(near(1), near(0.5), near(0.4), near(0.2), near(0.2)));
  const auto short_of = tree_search(dynamics, 0, 2);
  EXPECT_EQ(times(*short_of, modest).size(), 2u);

  modest["wrong"] = -1;  // less than `stop`
  const auto stopping = tree_search(dynamics, 0, 64);
  EXPECT_EQ(times(*stopping, modest).size(), 4u);
}

TEST(GuidedSearch, ADescentMeasuresWhereNothingIsSureAnyMore) {
  TreeDynamics dynamics = world();
  const std::map<std::string, double> expected{{"slow", 0.3}, {"fast", 0.2}, {"wrong", 0.05},
                                               {"then", 2},   {"back", 5},   {"on", 0.05}};
  const auto search = descending_search(dynamics, 0, 64);
  // `slow` and `then` are one measurement. Behind `fast` nothing is sure: it is measured, and then what is behind it.
  EXPECT_THAT(times(*search, expected), ElementsAre(near(0.2), near(0.2), near(0.2), near(0.2)));

  std::map<std::string, double> sure = expected;
  sure["wrong"] = 3, sure["fast"] = 4, sure["on"] = 0.1;
  const auto further = descending_search(dynamics, 0, 64);
  EXPECT_THAT(times(*further, sure), ElementsAre(near(0.4), near(0.4), near(0.2))) << "what is refused ends a descent";
}

TEST(GuidedSearch, ADescentThatIsRefusedMeasuresWhatItHadReached) {
  Tree tree{"t", "", "", {}, {}};
  tree.places = {place("start", 1, {"good"}), place("faster", 0.5, {"bad"}), place("refused", 1, {})};
  tree.places[2].standing = Standing::wrong, tree.places[2].outcome = "wrong";
  tree.outcomes = {{{1}}, {{2}}, {}};
  TreeDynamics dynamics({tree});
  const auto search = descending_search(dynamics, 0, 64);
  EXPECT_THAT(times(*search, {{"good", 0.7}, {"bad", 0.7}}), ElementsAre(near(1), near(0.5)));
}

TEST(GuidedSearch, ABeamMeasuresAllThatItKeeps) {
  TreeDynamics dynamics = world();
  const auto search = beam_search(dynamics, 0, 64);
  EXPECT_THAT(times(*search, {{"slow", 0.3}, {"fast", 0.2}, {"wrong", 0.1}, {"then", 0.1}, {"back", 0.1}, {"on", 0.1}}),
              ElementsAre(near(1), near(0.5), near(0.5), near(0.4), near(0.2)));
}

}  // namespace
}  // namespace mtmc::train
