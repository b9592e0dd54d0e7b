// The policy that asks a general language model, on a transport that plays one.
#include "search/chat.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "coder/llm_options.h"
#include "search/world.h"
#include "support/scripted_model.h"

namespace mtmc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScriptedModel;
using testing::World;

struct Thinking : ScriptedModel {
  using ScriptedModel::ScriptedModel;

  std::unique_ptr<Policy> policy() {
    return make_chat_policy(
        {.hardware = world.hardware, .target = world.target, .llm = &access, .store = world.store.get()}, parts());
  }

  World world;
  LlmAccess access{LlmOptions{}};
};

const std::string kCode = "import torch\n";

Observation seen(int visit = 0) { return {"a machine", "a task", kCode, nullptr, {}, "hash", visit}; }

std::vector<Proposal> offered() {
  return {{{"fuse", {}, ""}, "fuse in lines 1-1"},
          {{"tile", {}, ""}, "tile in lines 1-1"},
          {{"lower", {}, ""}, "lower in lines 1-1"},
          {{"stop", {}, ""}, "stop"}};
}

TEST(Chat, TakesWhatIsNamedAndStopsBeforeTheRest) {
  Thinking model("I would lower 4096 rows first.\n3, 1");
  const auto order = model.policy()->rank(seen(), offered());
  ASSERT_TRUE(order.ok()) << order.error().message();
  EXPECT_THAT(order->order, ElementsAre(2, 0, 3, 1));
  EXPECT_THAT(model.asked[0], HasSubstr("1. fuse in lines 1-1\n2. tile in lines 1-1"));
  EXPECT_THAT(model.asked[0], HasSubstr("import torch"));
}

TEST(Chat, StopIsAnActionLikeAnyOther) {
  Thinking model("4");
  EXPECT_EQ(model.policy()->rank(seen(), offered())->order.front(), 3u);
}

TEST(Chat, SaysWhatIsWrongWithAnAnswerUpToTwice) {
  Thinking model("", "fuse!", "2");
  EXPECT_EQ(model.policy()->rank(seen(), offered())->order.front(), 1u);
  ASSERT_EQ(model.asked.size(), 3u);
  EXPECT_THAT(model.asked[1], HasSubstr("there is no number"));
  EXPECT_THAT(model.asked[2], HasSubstr("got 'fuse!'"));
  Thinking lost("I", "do", "3, 17");
  EXPECT_THAT(lost.policy()->rank(seen(), offered()).error().message(), HasSubstr("there is no such action: got 17"));
}

TEST(Chat, NonsenseEndsASearchThatKeepsWhatItHas) {
  Thinking model("1", "Hm.", "Hm.", "Hm.");
  model.world.strategy = "rollout";
  const auto policy = model.policy();
  const auto done = model.world.run(model.world.judge, model.world.coder, *policy);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->evaluations, 1);
  ASSERT_TRUE(done->given_up);
  EXPECT_EQ(done->given_up->wrong, "there is no number");
}

TEST(Chat, TheStoreAnswersWhatWasAskedBeforeAndOtherVisitsAreOtherQuestions) {
  Thinking model("1", "2");
  const auto policy = model.policy();
  EXPECT_EQ(policy->rank(seen(), offered())->order.front(), 0u);
  EXPECT_EQ(policy->rank(seen(), offered())->order.front(), 0u);
  EXPECT_EQ(model.asked.size(), 1u);
  EXPECT_EQ(policy->rank(seen(1), offered())->order.front(), 1u);
  EXPECT_EQ(model.asked.size(), 2u);
}

TEST(Chat, LeadsASearchWhoseCostIsTold) {
  Thinking model("1", "2, 1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1");
  model.world.strategy = "rollout";
  model.world.request.limits.evaluations = 2;
  const auto policy = model.policy();
  const auto done = model.world.run(model.world.judge, model.world.coder, *policy);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->evaluations, 2);
  EXPECT_EQ(Json::parse(done->account)["requests"], model.asked.size());
  EXPECT_GT(Json::parse(done->account)["usd"].get<double>(), 0);
}

TEST(Chat, GivingUpBeforeAnythingWasJudgedIsTheUsersMistake) {
  Thinking model;
  const auto policy = model.policy();
  const auto done = model.world.run(model.world.judge, model.world.coder, *policy);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().wrong, "the key is refused");
}

TEST(Chat, GivingUpLaterKeepsWhatThereIs) {
  Thinking model("1");
  model.world.strategy = "rollout";
  const auto policy = model.policy();
  const auto done = model.world.run(model.world.judge, model.world.coder, *policy);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->evaluations, 1);
  ASSERT_TRUE(done->given_up);
  EXPECT_EQ(done->given_up->wrong, "the key is refused");
}

}  // namespace
}  // namespace mtmc
