// Trees in a file: they come back as they were, and what is broken is refused.
#include "learn/dataset.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

Place right(const std::string& state, double time, std::vector<PlaceAction> actions) {
  Place place;
  place.state = state, place.code = "# " + state, place.outcome = "certified", place.time = time;
  place.actions = std::move(actions);
  return place;
}

// start -fuse-> fused -tile-> tiled; start -tile-> (wrong, or tiled); start -lower-> no code; fused -library-> start.
Tree small_tree() {
  Place wrong = right("w", 1, {});
  wrong.standing = Standing::wrong, wrong.outcome = "wrong-result";
  Tree tree{"t", "H: 1 SMs", "a task", {}, {}};
  tree.places = {right("s", 1,
                       {{"fuse a and b in lines 1-2", "fuse %1 %2", 0.5, 0.125},
                        {"tile a in line 1", "tile:reversed %1", 0.25},
                        {"lower a in line 1", "lower %1", 0.25}}),
                 right("f", 0.9, {{"tile a in line 1", "tile %1", 1}, {"library a in line 1", "library %1", 1}}),
                 right("t", 0.5, {}), wrong};
  tree.outcomes = {{{1}, {3, 2, 3}, {kNoCode}}, {{2}, {0}}, {}, {}};
  return tree;
}

TEST(Dataset, ComesBackAsItWas) {
  const TempDir folder;
  const auto file = folder.path() / "trees.jsonl";
  ASSERT_TRUE(write_trees(file, {small_tree(), small_tree()}).ok());
  const auto back = read_trees(file);
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_EQ(*back, (std::vector<Tree>{small_tree(), small_tree()}));
}

TEST(Dataset, RefusesWhatIsBroken) {
  const TempDir folder;
  const auto file = folder.path() / "trees.jsonl";
  const auto wrong = [&](const std::string& text) {
    EXPECT_TRUE(write_file(file, text).ok());
    const auto read = read_trees(file);
    return read.ok() ? "" : read.error().wrong;
  };
  ASSERT_TRUE(write_trees(file, {small_tree()}).ok());
  const std::string whole = read_file(file).value();
  EXPECT_EQ(wrong("{\"format\":\"mtmc-trees-0\"}\n"), "another format");
  EXPECT_EQ(wrong(""), "another format");
  EXPECT_EQ(wrong(whole.substr(0, whole.find('\n') + 1)), "it was cut off");
  EXPECT_EQ(wrong(whole.substr(0, whole.size() - 5)), "not a tree");
  Tree loose = small_tree();
  loose.outcomes[1][0] = {9};
  ASSERT_TRUE(write_trees(file, {loose}).ok());
  EXPECT_EQ(read_trees(file).error().wrong, "not a tree");
}

TEST(Dataset, CountsWhatItHolds) {
  const DatasetFacts facts = facts_of({small_tree()}, 3);
  EXPECT_EQ(facts.states, 4u);
  EXPECT_EQ(facts.right, 3u);
  EXPECT_EQ(facts.refused, 1u);
  EXPECT_EQ(facts.transitions, 6u);
  EXPECT_EQ(facts.no_code, 1u);
  // f, t; then ft, fs; then fsf, fst.
  EXPECT_EQ(facts.trajectories, 6);
  EXPECT_EQ(facts.types.at("tile").offered, 2u);
  EXPECT_EQ(facts.types.at("tile").tried, 3u);
  EXPECT_EQ(facts.types.at("tile").best, 2u);
  EXPECT_EQ(facts.types.at("fuse").best, 0u);
  EXPECT_EQ(facts.types.at("library").best, 0u);
  EXPECT_EQ(facts.types.at("lower").best, 0u);
}

}  // namespace
}  // namespace mtmc
