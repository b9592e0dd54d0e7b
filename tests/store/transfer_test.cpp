#include "store/transfer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "store/sample.h"

namespace mtmc {
namespace {

TEST(Transfer, ARunIsTheSameInAnotherStore) {
  auto from = open_store(":memory:"), to = open_store(":memory:");
  ASSERT_TRUE(from.ok() && to.ok());
  const RunId other = (*to)->begin_run(sample_run("{}")).value();  // so that numbers differ
  (*to)->add_node(sample_node(other, kNoNode, 0, "other")).value();

  const RunId run = (*from)->begin_run(sample_run()).value();
  const NodeId start = (*from)->add_node(sample_node(run, kNoNode, 0, "start")).value();
  NodeRecord fused = sample_node(run, start, 1, "fused");
  fused.certify = sample_verdict(2, Tier::certify), fused.note = R"({"tried":3})", fused.rewrites = true;
  const NodeId best = (*from)->add_node(fused).value();
  NodeRecord crossed = sample_node(run, best, 2, "");
  crossed.partner = start, crossed.failure = "they do not fit", crossed.screen.reset(), crossed.program = "";
  (*from)->add_node(crossed).value();
  ASSERT_TRUE((*from)->finish_run(run, 12.5, Conclusion{"faster", best}).ok());

  const Json json = Json::parse(run_to_json(**from, run).value().dump());  // as it comes over a wire
  const auto added = add_run(**to, json);
  ASSERT_TRUE(added.ok()) << added.error().message();
  EXPECT_NE(*added, run);

  const RunRecord was = (*from)->run(run).value(), is = (*to)->run(*added).value();
  EXPECT_EQ(is.state, RunState::done);
  EXPECT_EQ(is.seed, was.seed);
  EXPECT_EQ(is.seconds, 12.5);
  EXPECT_EQ(is.task_hash, was.task_hash);
  EXPECT_EQ(is.hardware.name, was.hardware.name);
  const auto before = (*from)->nodes(run).value(), after = (*to)->nodes(*added).value();
  ASSERT_EQ(after.size(), 3U);
  EXPECT_EQ(after[1].parent, after[0].id);
  EXPECT_EQ(after[2].parent, after[1].id);
  EXPECT_EQ(after[2].partner, after[0].id);
  EXPECT_EQ(is.conclusion, (Conclusion{"faster", after[1].id}));
  // Written again, all but the numbers is the same.
  Json again = run_to_json(**to, *added).value(), first = json;
  for (Json* one : {&again, &first}) {
    one->erase("conclusion");
    for (Json& node : (*one)["nodes"]) node.erase("id"), node.erase("parent"), node.erase("partner");
  }
  EXPECT_EQ(again, first);
  EXPECT_TRUE(after[1].certify && after[1].certify->time_ms == before[1].certify->time_ms);
}

TEST(Transfer, WhatIsNoRunIsRefused) {
  auto store = open_store(":memory:");
  ASSERT_TRUE(store.ok());
  const RunId run = (*store)->begin_run(sample_run()).value();
  (*store)->add_node(sample_node(run, kNoNode, 0, "start")).value();
  Json json = run_to_json(**store, run).value();
  json["nodes"][0]["parent"] = 77;
  EXPECT_FALSE(add_run(**store, json).ok());
  json.erase("task");
  const auto added = add_run(**store, json);
  ASSERT_FALSE(added.ok());
  EXPECT_NE(added.error().message().find("run_to_json"), std::string::npos);
}

}  // namespace
}  // namespace mtmc
