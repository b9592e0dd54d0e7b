// What an agent has judged while it works on a step: attempts and evaluations like any other.
#include <gmock/gmock.h>

#include "coder/agent.h"
#include "search/world.h"
#include "support/scripted_model.h"

namespace mtmc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScriptedModel;
using testing::World;

std::string edited(const std::string& result) {
  return "```python\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return " +
         result + "\n```\n";
}

// Free code is certified when it says `right`, and as fast as it is long. Dies after some verdicts.
class TextJudge final : public Judge {
 public:
  explicit TextJudge(Judge& inner) : inner_(inner) {}
  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override {
    if (!candidate.code.starts_with("import")) return inner_.judge(task, candidate, tier);
    if (--left < 0) return Error{"judging", "the machine went away", "", ""};
    profiled += candidate.profiled;
    Verdict verdict;
    verdict.tier = tier, verdict.stage = "correctness", verdict.reason = "wrong-result";
    verdict.message = "element 7 is 1 instead of 2";
    if (candidate.code.find("right") == candidate.code.npos) return verdict;
    verdict.reason = "", verdict.outcome = Outcome::certified, verdict.time_ms = 1;
    verdict.speedup["eager"] = exactly(static_cast<double>(candidate.code.size()));
    return verdict;
  }
  int left = 100, profiled = 0;

 private:
  Judge& inner_;
};

struct Agent : ScriptedModel {
  template <typename... Words>
  explicit Agent(Words... words) : ScriptedModel(std::move(words)...) {
    world.strategy = "rollout";
    world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 3};
    options.repairs = 0;
  }
  Result<Optimized> run() {
    const PromptFacts facts{world.target, world.hardware};
    MTMC_TRY(const auto coder, AgentCoder::open({parts(), facts, options, false, ledger, *world.store}));
    return world.run(judge, *coder);
  }
  std::vector<NodeRecord> nodes(const Optimized& done) { return world.store->nodes(done.run).value(); }

  World world;
  TextJudge judge{world.judge};
  LlmOptions options;
  Ledger ledger;
};

std::vector<std::string> outcomes(const std::vector<NodeRecord>& nodes) {
  std::vector<std::string> lines;
  for (const NodeRecord& node : nodes)
    lines.push_back(std::to_string(node.parent) + " " + node.action.substr(0, node.action.find("draft_") + 5) + " " +
                    (node.screen ? node.screen->reason : "not judged"));
  return lines;
}

TEST(Drafts, AreAttemptsAndEvaluations) {
  Agent agent(edited("wrong") + "judge:", edited("right") + "judge:", "submit:", "submit:");
  agent.world.request.limits.evaluations = 4, agent.world.request.limits.steps = 1;
  const auto done = agent.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->evaluations, 2) << "what was judged as a draft is not judged again";
  EXPECT_EQ(agent.judge.profiled, 2);
  EXPECT_THAT(outcomes(agent.nodes(*done)), ElementsAre("0  ", "1 rewrite:draft wrong-result", "1 rewrite:draft "));
  EXPECT_THAT(done->code.text, HasSubstr("return right"));
  EXPECT_THAT(done->steps.back().rendered, HasSubstr("a draft of rewrite in lines"));
  EXPECT_THAT(agent.asked[1], HasSubstr("element 7 is 1 instead of 2"));
}

TEST(Drafts, TheBestOneCountsWhateverIsSubmitted) {
  Agent agent(edited("right + fast") + "judge:", edited("right") + "submit:", "submit:");
  agent.world.request.limits.steps = 1;
  const auto done = agent.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(agent.nodes(*done).size(), 3u);
  EXPECT_THAT(done->code.text, HasSubstr("right + fast"));
}

TEST(Drafts, OneEvaluationIsLeftForWhatIsSubmitted) {
  Agent agent(edited("right + 1") + "judge:", edited("right + 22") + "judge:", edited("right + 333") + "judge:",
              "submit:", "submit:");
  const auto done = agent.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->evaluations, 3);
  EXPECT_THAT(agent.asked[3], HasSubstr("nothing left but the judgement of what you submit"));
  EXPECT_THAT(done->code.text, HasSubstr("right + 333"));
}

// A step's own repairs end, whatever its drafts are called.
TEST(Drafts, ARefusedOneThatIsSubmittedIsRepairedAsOftenAsAnyOther) {
  Agent agent(edited("a") + "judge:", "submit:", "submit:", edited("b") + "judge:", "submit:", "submit:",
              edited("right") + "submit:", "submit:");
  agent.options.repairs = 1, agent.world.request.limits.evaluations = 8;
  const auto done = agent.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  const auto lines = outcomes(agent.nodes(*done));
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[2], "2 repair:draft wrong-result");
  for (size_t i = 3; i < lines.size(); ++i) EXPECT_THAT(lines[i], ::testing::Not(HasSubstr("repair")));
}

TEST(Drafts, AJudgeThatCannotWorkIsNoRefusal) {
  Agent agent(edited("right") + "judge:", "submit:", "submit:");
  agent.judge.left = 0;
  const auto done = agent.run();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().wrong, "the machine went away");
}

TEST(Drafts, ARunThatWasCutOffFindsThemAgain) {
  Agent agent(edited("wrong") + "judge:", edited("right + 1") + "judge:", edited("right + 22") + "submit:", "submit:",
              edited("right + 333") + "submit:", "submit:");
  agent.world.request.limits = {.steps = 2, .seconds = 0, .evaluations = 4};
  agent.judge.left = 3;
  ASSERT_FALSE(agent.run().ok());
  const size_t asked = agent.asked.size();
  agent.judge.left = 100, agent.judge.profiled = 0;
  const auto done = agent.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_TRUE(done->resumed);
  EXPECT_EQ(done->evaluations, 4);
  EXPECT_EQ(agent.judge.profiled, 0);
  EXPECT_EQ(agent.asked.size(), asked) << "nobody was asked again";
  EXPECT_THAT(done->code.text, HasSubstr("right + 333"));
}

}  // namespace
}  // namespace mtmc
