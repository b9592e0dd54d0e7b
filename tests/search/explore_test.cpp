// A search that only explores: everything is screened and kept, nothing certified.
#include "search/world.h"

namespace mtmc {
namespace {

using testing::World;

TEST(Explore, KeepsWhatItScreensAndCertifiesNothing) {
  World world;
  world.request.explores = true;
  const auto done = world.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->answer, Answer::explored);
  EXPECT_EQ(done->verdict.tier, Tier::screen);
  EXPECT_GT(done->verdict.speedup.at("eager").median, 1);
  const auto nodes = world.store->nodes(done->run);
  ASSERT_TRUE(nodes.ok());
  EXPECT_EQ(nodes->size(), static_cast<size_t>(done->evaluations) + 1);
  for (const NodeRecord& node : *nodes) EXPECT_TRUE(node.screen && !node.certify) << node.action;
  EXPECT_EQ(world.store->run(done->run)->conclusion, (Conclusion{"explored", done->best}));
}

TEST(Explore, IsAnotherRunThanASearchForAResult) {
  World world;
  ASSERT_TRUE(world.run().ok());
  world.request.explores = true;
  ASSERT_TRUE(world.run().ok());
  const auto runs = world.store->runs().value();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_NE(runs[0].options_hash, runs[1].options_hash);
}

}  // namespace
}  // namespace mtmc
