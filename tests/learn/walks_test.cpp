#include "learn/walks.h"

#include <gmock/gmock.h>

#include <cmath>

namespace mtmc {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// start -0-> slower -0-> fastest; start -1-> faster; start -2-> (wrong, or faster); faster -0-> start; fastest -0-> no
// code.
Tree tree() {
  const auto place = [](double time, size_t actions) {
    Place one;
    one.time = time, one.actions.resize(actions);
    return one;
  };
  Tree tree{"t", "", "", {place(1, 3), place(1.2, 1), place(0.4, 1), place(0.8, 1), place(1, 0)}, {}};
  tree.places[4].standing = Standing::wrong;
  tree.outcomes = {{{1}, {3}, {4, 3}}, {{2}}, {{kNoCode}}, {{0}}, {}};
  return tree;
}

TEST(Walks, TheBestWayDependsOnTheStepsThatAreLeft) {
  const Tree of = tree();
  const Walks walks(of, 3);
  EXPECT_EQ(walks.best_time(0, 1), 0.8);
  EXPECT_THAT(walks.best_actions(0, 1), ElementsAre(1, 2));
  EXPECT_EQ(walks.best_time(0, 2), 0.4);
  EXPECT_THAT(walks.best_actions(0, 2), ElementsAre(0));
  EXPECT_THAT(walks.best_actions(3, 3), ElementsAre(0));  // back, and on to the fastest
  EXPECT_THAT(walks.best_actions(3, 2), IsEmpty());
}

TEST(Walks, NothingIsBestWhereNothingIsFaster) {
  Tree of = tree();
  of.places[3].time = 0.995;  // luck
  const Walks walks(of, 1);
  EXPECT_THAT(walks.best_actions(0, 1), IsEmpty());
  EXPECT_THAT(walks.best_actions(2, 1), IsEmpty());
  EXPECT_THAT(walks.best_actions(0, 0), IsEmpty());
}

TEST(Walks, AnActionIsWorthWhatIsBehindIt) {
  const Tree of = tree();
  const Walks walks(of, 3);
  const double faster = std::log(1 / 0.8), fastest = std::log(1 / 0.4);
  EXPECT_THAT(walks.values(0, 2, 1),
              ElementsAre(DoubleNear(kLater * fastest - kStep, 1e-12), DoubleNear(faster - kStep, 1e-12),
                          DoubleNear((1 + kLater) / 2 * faster - kStep, 1e-12), 0));
  EXPECT_THAT(walks.values(0, 1, 1),
              ElementsAre(-kStep, DoubleNear(faster - kStep, 1e-12), DoubleNear(faster / 2 - kStep, 1e-12), 0));
  // What the walk has seen already is not gained again.
  EXPECT_THAT(walks.values(0, 1, 0.8), ElementsAre(-kStep, -kStep, -kStep, 0));
}

TEST(Walks, WhatIsHardlyFasterAndFarAwayMakesNoActionWorse) {
  Tree of = tree();
  of.places[3].time = 0.41;  // at once; the fastest, 0.4, is two steps behind it
  const double near = std::log(1 / 0.41);
  EXPECT_THAT(Walks(of, 8).values(0, 8, 1)[1], DoubleNear(near - kStep, 1e-12));
}

TEST(Walks, CountsThoseToRightStates) {
  const Tree of = tree();
  EXPECT_EQ(Walks(of, 1).count(), 3);      // two actions to `faster`, one to `slower`
  EXPECT_EQ(Walks(of, 2).count(), 3 + 3);  // on to `fastest`, and twice back
}

}  // namespace
}  // namespace mtmc
