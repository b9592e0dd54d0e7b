#include "workbench/way.h"

#include <gtest/gtest.h>

namespace mtmc {
namespace {

TEST(Way, IsAPolicyAStrategyAndMaybeThePapersActions) {
  const Way way = parse_way("greedy/tree").value();
  EXPECT_EQ(way.policy, "greedy");
  EXPECT_EQ(way.strategy, "tree");
  EXPECT_FALSE(way.paper_only);
  EXPECT_TRUE(parse_way("random/rollout/paper").value().paper_only);
  for (const char* word :
       {"greedy/tree", "random/rollout/paper", "lm:models/small/beam/paper", "chat/tree/paper@builtin,llm"})
    EXPECT_EQ(parse_way(word).value().text(), word);
  EXPECT_EQ(parse_way("lm:models/small/beam").value().policy, "lm:models/small");
  EXPECT_EQ(parse_way("greedy/resample@free").value().coder, "free");
}

TEST(Way, NamesWhatThereIs) {
  EXPECT_NE(parse_way("greedy").error().message().find("POLICY/STRATEGY"), std::string::npos);
  EXPECT_NE(parse_way("greedy/dfs").error().message().find("'greedy/dfs'"), std::string::npos);
  EXPECT_NE(parse_way("oracle/tree").error().message().find("greedy"), std::string::npos);
  EXPECT_NE(parse_way("greedy/tree@human").error().message().find("builtin"), std::string::npos);
  EXPECT_FALSE(parse_way("greedy/tree@").ok());
}

}  // namespace
}  // namespace mtmc
