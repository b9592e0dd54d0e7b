// Several questions of one search under way at once: they overlap, the run hangs on their answers and not on when those
// come, and no limit is passed.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "base/hash.h"
#include "coder/chain.h"
#include "coder/llm.h"
#include "search/free_text.h"
#include "search/world.h"

namespace mtmc {
namespace {

using testing::actions_of;
using testing::FreeTextJudge;
using testing::says;
using testing::tried;
using testing::World;

// A language model whose answer hangs on the question alone, and which may be asked by several threads. An answer
// counts as 1000 tokens in and 500 out, at 1 and 2 USD a million.
struct BusyModel {
  explicit BusyModel(int at_most) { options.questions = at_most, options.repairs = 0; }

  LlmParts parts(World& world) {
    ClientParts client{.model = find_model("local", "http://localhost:1/v1", "/nowhere").value(), .key = {}};
    client.model.price = Price{1, 2};
    client.transport = [this](const HttpRequest& request, const auto& on_piece) { return reply(request, on_piece); };
    return {std::move(client), PromptFacts{world.target, world.hardware}, options, false, ledger, *world.store};
  }

  HttpResponse reply(const HttpRequest& request, const std::function<void(std::string_view)>& on_piece) {
    const std::string question = Json::parse(request.body).at("messages").back().at("content");
    double delay = 0;
    {
      std::unique_lock lock(mutex);
      questions.push_back(question);
      most_at_once = std::max(most_at_once, ++at_once);
      changed.notify_all();
      changed.wait_for(lock, std::chrono::seconds(20), [&] { return most_at_once >= together; });
      delay = std::uniform_real_distribution<double>(0, 0.01)(chance);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(slow ? delay : 0));
    const std::string text = write(question);
    const std::lock_guard lock(mutex);
    --at_once;
    if (text.empty()) return {.status = 401, .body = "{}"};
    const Json choice = {{"message", {{"content", text}}}, {"finish_reason", "stop"}};
    on_piece(Json{{"choices", {choice}}, {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 500}}}}.dump());
    return {.status = 200};
  }

  // Some of it is right, and some of that faster; nothing where the key is refused.
  std::function<std::string(const std::string&)> write = [](const std::string& question) {
    const std::string hash = short_hash(question, 8);
    return says((hash[0] < '8' ? "right, " + std::string(static_cast<size_t>(hash[1]) % 16, 'x') : "") + "x" + hash);
  };
  int together = 0;   // so many have to be there before the first one is answered
  bool slow = false;  // each takes its own time
  LlmOptions options;
  Ledger ledger;
  std::mutex mutex;
  std::condition_variable changed;
  std::minstd_rand chance{1};
  std::vector<std::string> questions;
  int at_once = 0, most_at_once = 0;
};

struct Searched {
  Result<Optimized> done;
  std::vector<std::string> tried;
  std::vector<NodeRecord> attempts;
};

Searched searched(World& world, BusyModel& model, const std::string& strategy, int evaluations = 8) {
  world.strategy = strategy;
  world.request.limits = {.steps = 6, .seconds = 0, .evaluations = evaluations};
  world.request.ledger = &model.ledger;
  world.recorder.attempts.clear();
  LlmCoder coder(model.parts(world));
  FreeTextJudge judge(world.judge);
  auto done = world.run(judge, coder);
  return {std::move(done), tried(world.recorder.attempts), world.recorder.attempts};
}

TEST(AskedSteps, QuestionsAreUnderWayAtOnce) {
  for (const char* strategy : {"tree", "beam", "resample"}) {
    World world;
    BusyModel model(3);
    model.together = 3;
    const Searched all = searched(world, model, strategy);
    ASSERT_TRUE(all.done.ok()) << all.done.error().message();
    EXPECT_EQ(model.most_at_once, 3) << strategy << ": so many and no more";
    EXPECT_EQ(all.done->evaluations, 8) << strategy;
    EXPECT_EQ(model.questions.size(), 8u) << strategy << ": none in vain";
    EXPECT_EQ(model.ledger.spent().requests, 8) << strategy;
  }
}

TEST(AskedSteps, WhichAnswerComesFirstChangesNothing) {
  std::set<std::vector<std::string>> runs;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    World world;
    BusyModel model(4);
    model.options.repairs = 2;
    model.slow = true, model.chance.seed(seed);
    const Searched all = searched(world, model, "tree", 12);
    ASSERT_TRUE(all.done.ok()) << all.done.error().message();
    EXPECT_THAT(actions_of(all.attempts), ::testing::Contains("repair"));
    runs.insert(all.tried);
  }
  EXPECT_EQ(runs.size(), 1u);
}

TEST(AskedSteps, WhatIsTriedInAnyCaseIsTriedInTheSameOrder) {
  for (const char* strategy : {"beam", "resample"}) {
    World one_world, world;
    BusyModel one(1), several(4);
    const Searched alone = searched(one_world, one, strategy), beside = searched(world, several, strategy);
    EXPECT_EQ(alone.tried, beside.tried) << strategy;
    EXPECT_EQ(one.most_at_once, 1);
  }
}

TEST(AskedSteps, ARepeatedRunAsksNobody) {
  World world;
  BusyModel model(4);
  model.options.repairs = 2;
  const Searched first = searched(world, model, "tree", 10);
  ASSERT_TRUE(first.done.ok()) << first.done.error().message();
  const size_t asked = model.questions.size();
  const Searched again = searched(world, model, "tree", 10);
  ASSERT_TRUE(again.done.ok()) << again.done.error().message();
  EXPECT_NE(again.done->run, first.done->run);
  EXPECT_EQ(again.tried, first.tried);
  EXPECT_EQ(model.questions.size(), asked);
  EXPECT_EQ(Json::parse(again.done->account)["usd"], 0);
}

TEST(AskedSteps, TheCostLimitHoldsForWhatIsUnderWay) {
  World world;
  BusyModel model(4);
  model.options.answer_tokens = 500, model.together = 2;
  Ledger limited(0.018);  // two questions fit beside each other, three do not
  double most = 0;
  LlmParts parts = model.parts(world);
  LlmCoder coder({parts.client, parts.facts, parts.options, false, limited, *world.store});
  FreeTextJudge judge(world.judge);
  world.strategy = "resample";
  world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 0};
  world.request.ledger = &limited;
  std::mutex mutex;
  model.write = [&, write = model.write](const std::string& question) {
    const std::lock_guard lock(mutex);
    most = std::max(most, limited.spent().usd);
    return write(question);
  };
  const auto done = world.run(judge, coder);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_LE(most, 0.018);
  EXPECT_EQ(model.most_at_once, 2);
  ASSERT_TRUE(done->given_up);
  EXPECT_EQ(done->given_up->wrong, "this request could pass the cost limit");
  EXPECT_EQ(done->evaluations, static_cast<int>(model.questions.size())) << "what was paid for is judged";
}

TEST(AskedSteps, WhatWasAnsweredIsJudgedThoughAnotherWasRefused) {
  World world;
  BusyModel model(4);
  model.together = 4;
  int left = 3;
  std::mutex mutex;
  model.write = [&](const std::string& question) {
    const std::lock_guard lock(mutex);
    return left-- > 0 ? says("right, x" + short_hash(question, 8)) : "";
  };
  const Searched all = searched(world, model, "resample");
  ASSERT_TRUE(all.done.ok()) << all.done.error().message();
  ASSERT_TRUE(all.done->given_up);
  EXPECT_EQ(all.done->given_up->wrong, "the key is refused");
  EXPECT_EQ(all.done->evaluations, 3);
  EXPECT_EQ(model.questions.size(), 4u);
}

TEST(AskedSteps, AKeyThatIsRefusedIsOneMistake) {
  World world;
  BusyModel model(4);
  model.write = [](const std::string&) { return ""; };
  const Searched all = searched(world, model, "tree");
  ASSERT_FALSE(all.done.ok());
  EXPECT_EQ(all.done.error().wrong, "the key is refused");
  EXPECT_LE(model.questions.size(), 4u);
  EXPECT_THAT(actions_of(all.attempts), ::testing::Each("")) << "the start";
}

// As after a Ctrl-C: the run is not finished, and the store has what was answered.
TEST(AskedSteps, AResumedRunGoesOnWithWhatWasAnswered) {
  World whole_world, world;
  BusyModel whole(4), model(4);
  const Searched expected = searched(whole_world, whole, "tree", 9);
  const auto write = model.write;
  int left = 5;
  std::mutex mutex;
  model.write = [&](const std::string& question) {
    const std::lock_guard lock(mutex);
    return left-- > 0 ? write(question) : "";
  };
  const Searched first = searched(world, model, "tree", 9);  // a key that is refused later ends it as time does
  ASSERT_TRUE(first.done.ok()) << first.done.error().message();
  model.write = write;
  const Searched again = searched(world, model, "tree", 9);
  ASSERT_TRUE(again.done.ok()) << again.done.error().message();
  EXPECT_EQ(again.tried, expected.tried);
  std::multiset<std::string> asked(model.questions.begin(), model.questions.end());
  for (const std::string& question : whole.questions) EXPECT_GE(asked.count(question), 1u);
  EXPECT_EQ(Json::parse(again.done->account)["requests"], 4) << "five of nine were answered";
}

TEST(AskedSteps, WhatTheBuiltinCoderDoesIsNotChosenAhead) {
  BusyModel model(4);
  model.together = 2;
  World world("null", testing::sorted());
  world.strategy = "tree";
  world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 14};
  std::vector<std::unique_ptr<Coder>> coders;
  coders.push_back(world.builtin());
  coders.push_back(std::make_unique<LlmCoder>(model.parts(world)));
  ChainCoder chain(std::move(coders));
  EXPECT_EQ(chain.questions(), 4);
  FreeTextJudge judge(world.judge);
  const auto done = world.run(judge, chain);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_GT(model.most_at_once, 1);
  size_t built = 0;
  bool asked = false;
  for (const NodeRecord& attempt : world.recorder.attempts) {
    asked |= attempt.coder == "llm:local repairs=0";
    built += attempt.coder == "builtin" && !asked;
  }
  EXPECT_GT(built, 0u) << "what the builtin coder can do comes first";
  EXPECT_TRUE(asked);
}

}  // namespace
}  // namespace mtmc
