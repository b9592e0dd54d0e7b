// A search whose coder asks a language model: repairs, what it costs, giving up, and the store that answers next time.
#include <gmock/gmock.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "coder/chain.h"
#include "coder/llm.h"
#include "search/free_text.h"
#include "search/world.h"
#include "support/scripted_model.h"

namespace mtmc {
namespace {

using testing::actions_of;
using ::testing::ElementsAre;
using testing::FreeTextJudge;
using testing::Said;
using testing::says;
using testing::ScriptedModel;
using ::testing::StartsWith;
using testing::World;

// A world whose language model says these things in turn.
struct Asking : ScriptedModel {
  template <typename... Words>
  explicit Asking(Words... words) : ScriptedModel(std::move(words)...) {
    world.strategy = "rollout";
    options.questions = 1;  // its answers come in turn
    world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 6};
  }
  LlmParts of_coder() {
    return {parts(), PromptFacts{world.target, world.hardware}, options, false, ledger, *world.store};
  }
  std::unique_ptr<LlmCoder> coder() { return std::make_unique<LlmCoder>(of_coder()); }

  World world;
  LlmOptions options;
  Ledger ledger;
};

TEST(LlmSearch, MendsWhatTheJudgeRefusesAndKeepsWhatItCost) {
  Asking asking(says("x"), says("right"), says("right, faster"));
  FreeTextJudge judge(asking.world.judge);
  asking.world.request.limits.evaluations = 3;
  const auto coder = asking.coder();
  const auto done = asking.world.run(judge, *coder);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_EQ(done->program, nullptr);
  ASSERT_EQ(done->steps.size(), 4u) << "start, step, repair, step";
  EXPECT_EQ(done->steps[2].action, "repair");
  EXPECT_THAT(asking.asked[1],
              ::testing::HasSubstr("wrong-result at the stage correctness: element 7 is 1 instead of 2"));
  EXPECT_THAT(asking.asked[1], ::testing::HasSubstr("what became of this step: " + done->steps[1].rendered));
  EXPECT_THAT(done->steps[3].rendered, StartsWith("fuse in lines "));
  const Json account = Json::parse(done->account);
  EXPECT_EQ(account["requests"], 3);
  EXPECT_NEAR(account["usd"].get<double>(), 3 * 0.002, 1e-9);
  EXPECT_EQ(*asking.world.store->recall(kAccountKind, std::to_string(done->run)).value(), done->account);
}

TEST(LlmSearch, TheStoreAnswersWhatWasAskedBefore) {
  Asking asking(says("x"), "I would rather not.", says("y"), says("right"));
  FreeTextJudge judge(asking.world.judge);
  asking.world.request.limits.evaluations = 3;
  const auto first = asking.world.run(judge, *asking.coder());
  ASSERT_TRUE(first.ok()) << first.error().message();
  EXPECT_THAT(actions_of(asking.world.recorder.attempts), ElementsAre("", "fuse", "repair", "repair", "repair"))
      << "screened, and the last one certified";
  const auto again = asking.world.run(judge, *asking.coder());
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(asking.asked.size(), 4u) << "nobody was asked again";
  EXPECT_EQ(again->code.text, first->code.text);
  EXPECT_EQ(Json::parse(again->account)["remembered"], 4);
  EXPECT_EQ(Json::parse(again->account)["usd"], 0);
}

TEST(LlmSearch, GivingUpBeforeAnythingWasJudgedIsTheUsersMistake) {
  Asking asking;
  const auto done = asking.world.run(asking.world.judge, *asking.coder());
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().wrong, "the key is refused");
  EXPECT_EQ(asking.asked.size(), 1u);
  EXPECT_EQ(asking.world.store->runs()->front().state, RunState::interrupted) << "it can go on with the right key";
}

TEST(LlmSearch, GivingUpLaterKeepsWhatThereIs) {
  Asking asking(says("right"));
  FreeTextJudge judge(asking.world.judge);
  const auto done = asking.world.run(judge, *asking.coder());
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->answer, Answer::faster);
  ASSERT_TRUE(done->given_up);
  EXPECT_EQ(done->given_up->wrong, "the key is refused");
  EXPECT_EQ(asking.asked.size(), 2u);
}

// As after a Ctrl-C: the store has what the last process booked, and nothing of what it might have done next.
TEST(LlmSearch, WhatWasSpentBeforeAnInterruptIsNotForgotten) {
  Asking asking(says("x"), says("y"));
  FreeTextJudge judge(asking.world.judge);
  asking.world.request.ledger = &asking.ledger;
  std::vector<Spent> books;  // when a request is sent
  const auto transport = [&, real = asking.parts().transport](const HttpRequest& request, const auto& on_piece) {
    const auto runs = asking.world.store->runs().value();
    const auto kept = asking.world.store->recall(kAccountKind, std::to_string(runs.back().id)).value();
    books.push_back(spent_from_json(Json::parse(kept.value())));
    return real(request, on_piece);
  };
  LlmParts parts = asking.of_coder();
  parts.client.transport = transport;
  const auto coder = std::make_unique<LlmCoder>(std::move(parts));
  const auto done = asking.world.run(judge, *coder);  // ends when the model has no more to say
  ASSERT_TRUE(done.ok()) << done.error().message();
  ASSERT_EQ(books.size(), 3u);
  EXPECT_NEAR(books[2].usd - books[2].unsure_usd, 2 * 0.002, 1e-9) << "two answers, and what is under way";
  EXPECT_GT(books[2].unsure_usd, 0.03);
}

TEST(LlmSearch, AResumedRunsLimitHoldsForAllOfIt) {
  Asking asking;
  asking.world.request.ledger = &asking.ledger;
  ASSERT_FALSE(asking.world.run(asking.world.judge, *asking.coder()).ok()) << "the key is refused: it can go on";
  const std::string run = std::to_string(asking.world.store->runs()->back().id);
  ASSERT_TRUE(asking.world.store->remember(kAccountKind, run, to_json(Spent{.requests = 2, .usd = 2}).dump()).ok());
  Ledger limited(2.01);
  asking.world.request.ledger = &limited;
  LlmParts parts{asking.parts(), PromptFacts{asking.world.target, asking.world.hardware},
                 asking.options, false,
                 limited,        *asking.world.store};
  LlmCoder coder(std::move(parts));
  const auto done = asking.world.run(asking.world.judge, coder);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().wrong, "this request could pass the cost limit");
  EXPECT_THAT(done.error().got, StartsWith("$2.0000 spent"));
}

TEST(LlmSearch, SaysWhyTheModelGaveNothingToJudge) {
  Asking asking;
  double now = 0;
  asking.world.request.limits = {.steps = 6, .seconds = 10, .evaluations = 0};
  asking.world.request.clock = [&] { return now; };
  LlmParts parts = asking.of_coder();
  std::vector<double> limits;
  parts.client.transport = [&](const HttpRequest& request, const auto&) {
    limits.push_back(request.total_seconds), now += request.total_seconds;
    return HttpResponse{.failure = HttpResponse::Failure::timed_out};
  };
  LlmCoder coder(std::move(parts));
  const auto done = asking.world.run(asking.world.judge, coder);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->evaluations, 0);
  ASSERT_TRUE(done->refusal);
  EXPECT_THAT(done->refusal->wrong, StartsWith("the server did not answer in time"));
  EXPECT_EQ(limits.size(), 1u) << "one question, for as long as the search has";
  EXPECT_LE(limits[0], 10);
}

TEST(LlmSearch, WithoutActionsTheModelDoesWhatItLikes) {
  Asking asking(says("right"), says("right, faster"));
  FreeTextJudge judge(asking.world.judge);
  asking.world.request.limits.evaluations = 2;
  UnguidedCoder coder("free", "rewrite", asking.of_coder());
  EXPECT_EQ(coder.name(), "free:local");
  const auto done = asking.world.run(judge, coder);
  ASSERT_TRUE(done.ok()) << done.error().message();
  ASSERT_EQ(done->steps.size(), 3u) << "each step is built on the one before";
  EXPECT_THAT(done->steps[1].rendered, StartsWith("rewrite in lines "));
  EXPECT_THAT(asking.asked[0], ::testing::HasSubstr("whatever change you think best"));
  EXPECT_THAT(asking.asked[1], ::testing::HasSubstr("return right"));
}

TEST(LlmSearch, ResamplingAsksFromTheStartAgainAndRepairsEachAnswer) {
  Asking asking(says("right"), says("y"), says("right, faster"), says("right, slow"));
  FreeTextJudge judge(asking.world.judge);
  asking.world.strategy = "resample";
  asking.world.request.limits.evaluations = 4;
  UnguidedCoder coder("single_pass", "everything", asking.of_coder());
  const auto done = asking.world.run(judge, coder);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_THAT(actions_of(asking.world.recorder.attempts),
              ElementsAre("", "everything", "everything:answer_2", "repair", "everything:answer_3", "repair"))
      << "the last one is the winner, certified";
  EXPECT_THAT(asking.asked[0], ::testing::HasSubstr("- fuse: "));
  EXPECT_EQ(done->steps.size(), 3u);
}

class BeyondActions : public ::testing::TestWithParam<const char*> {};

TEST_P(BeyondActions, TheModelIsAskedAndTheSearchGoesOn) {
  Asking asking(says("x"), "no", says("y"), says("z"), says("w"), says("right"), says("right, faster"));
  World world("null", testing::sorted());
  world.strategy = GetParam();
  world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 14};
  FreeTextJudge judge(world.judge);
  std::vector<std::unique_ptr<Coder>> coders;
  coders.push_back(world.builtin());
  coders.push_back(std::make_unique<LlmCoder>(LlmParts{asking.parts(), PromptFacts{world.target, world.hardware},
                                                       asking.options, false, asking.ledger, *world.store}));
  ChainCoder chain(std::move(coders));
  const auto done = world.run(judge, chain);
  ASSERT_TRUE(done.ok()) << done.error().message();
  size_t built = 0, written = 0, lowered = 0;
  for (const NodeRecord& attempt : world.recorder.attempts) {
    built += attempt.coder == "builtin" && !attempt.program.empty();
    written += attempt.coder == "llm:local";
    lowered += attempt.action == "lower %1 %2" && attempt.coder == "llm:local";
  }
  EXPECT_GT(built, 0u) << "what the builtin coder can do comes first";
  EXPECT_GE(written, 2u) << "refused answers, too";
  EXPECT_GE(lowered, 1u);
  EXPECT_EQ(done->program, nullptr);
  EXPECT_THAT(done->code.text, ::testing::HasSubstr("right"));
  EXPECT_EQ(done->answer, Answer::faster);
}

INSTANTIATE_TEST_SUITE_P(Llm, BeyondActions, ::testing::Values("tree", "beam", "rollout"));

TEST(LlmSearch, InAChainTheBuiltinCoderComesFirst) {
  Asking asking;
  std::vector<std::unique_ptr<Coder>> coders;
  coders.push_back(asking.world.builtin());
  coders.push_back(asking.coder());
  ChainCoder chain(std::move(coders));
  const auto done = asking.world.run(asking.world.judge, chain);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_NE(done->program, nullptr) << "it keeps its Program";
  EXPECT_EQ(asking.asked.size(), 0u);
  for (const NodeRecord& attempt : asking.world.recorder.attempts)
    EXPECT_TRUE(attempt.coder == "start" || attempt.coder == "builtin") << attempt.coder;
}

}  // namespace
}  // namespace mtmc
