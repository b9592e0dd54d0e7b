#include "workbench/ablation.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

using ::testing::HasSubstr;

NodeRecord node(NodeId id, NodeId parent, int step, double speedup, const std::string& reason = "") {
  NodeRecord record;
  record.id = id, record.parent = parent, record.step = step;
  record.screen = Verdict();
  record.screen->outcome = reason.empty() ? Outcome::certified : Outcome::refused;
  record.screen->reason = reason;
  record.screen->speedup["eager"] = exactly(speedup);
  return record;
}

// The start, a step that is slower, one that is refused, a good one, and a better one behind it.
std::vector<NodeRecord> walk() {
  return {node(1, kNoNode, 0, 1), node(2, 1, 1, 0.5), node(3, 1, 1, 9, "wrong-result"), node(4, 1, 1, 2),
          node(5, 4, 2, 4)};
}

TEST(Ablation, FollowsTheBestOfASearch) {
  const Tried tried = tried_in(walk());
  EXPECT_EQ(tried.best, (std::vector<double>{1, 1, 2, 4}));
  EXPECT_EQ(tried.refused, (std::map<std::string, int>{{"wrong-result", 1}}));
  EXPECT_EQ(tried.steps, 2);
  EXPECT_TRUE(tried_in({node(1, kNoNode, 0, 1)}).best.empty());
}

Json certified(double speedup) { return {{"error", nullptr}, {"certified", true}, {"speedup", {{"eager", speedup}}}}; }

TEST(Ablation, PutsWaysBesideEachOther) {
  const Json lost = {{"error", "no memory"}};
  const std::vector<WayResult> results = {{{"greedy", "tree"},
                                           {{"a", certified(4)}, {"b", lost}},
                                           {{"a", tried_in(walk())}},
                                           {.requests = 3, .input = 300, .output = 60, .usd = 0.5}},
                                          {{"random", "rollout", true},
                                           {{"a", certified(1)}, {"b", certified(2)}},
                                           {{"a", {{1}, {}, 0}}, {"b", {{2}, {}, 1}}},
                                           {}}};
  const std::string table = ablation_table(results);
  EXPECT_THAT(
      table,
      HasSubstr("| `greedy/tree` | 2 | 50 % | 2.00 | 4.00 | 50 % | 4 | 1 wrong-result | 2.0 | 3 requests, 300 + 60 "
                "tokens, $0.5000 |"));
  EXPECT_THAT(table, HasSubstr("| `random/rollout/paper` | 2 | 100 % | 1.50 | 1.41 | 50 % | 2 | 0 | 0.5 | nothing |"));
  EXPECT_THAT(table, HasSubstr("geometric mean of 1 tasks")) << "those that all ways searched";
  EXPECT_THAT(table, HasSubstr("| way | 1 | 2 | 4 |"));
  EXPECT_THAT(table, HasSubstr("| `greedy/tree` | 1.00 | 1.00 | 4.00 |"));
  EXPECT_THAT(table, HasSubstr("| `random/rollout/paper` | 1.00 | 1.00 | 1.00 |")) << "its search ended earlier";
  EXPECT_THAT(ablation_svg(results), HasSubstr(">greedy/tree</text>"));
}

TEST(Ablation, OfNothingSaysNothing) {
  EXPECT_THAT(ablation_svg({}), HasSubstr("</svg>"));
  EXPECT_THAT(ablation_table({}), HasSubstr("| way |"));
}

}  // namespace
}  // namespace mtmc
