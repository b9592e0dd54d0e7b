// The agent's conversation, on a transport that plays the model.
#include "coder/agent.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ops/op.h"
#include "support/scripted_model.h"

namespace mtmc {
namespace {

using ::testing::HasSubstr;

std::string kernel(const std::string& result) {
  return "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return " + result +
         "\n";
}
std::string edited(const std::string& result) { return "```python\n" + kernel(result) + "```\nedit:\n"; }

struct Working : testing::ScriptedModel {
  using ScriptedModel::ScriptedModel;

  std::unique_ptr<AgentCoder> coder() {
    return AgentCoder::open({parts(), PromptFacts{*find_target("cpu"), hardware}, options, false, ledger, *store})
        .value();
  }
  Result<Implementation> work() {
    return coder()->implement({state, action, &refused, "rewrite", nullptr, &lineage, partner, drafts});
  }

  std::unique_ptr<Store> store = open_store(":memory:").value();
  Ledger ledger;
  Hardware hardware = null_hardware();
  LlmOptions options;
  Action action{"rewrite", {}, ""};
  CodeState first{nullptr, Code{.text = kernel("x + 0")}}, state{nullptr, Code{.text = kernel("x")}};
  Verdict right = certified(), refused = wrong();
  const Ancestor* partner = nullptr;
  DraftJudge* drafts = nullptr;
  std::vector<Ancestor> lineage = {{"", first, right}, {"fuse in lines 4-6", state, refused}};

  static Verdict certified() {
    Verdict verdict;
    verdict.outcome = Outcome::certified;
    return verdict;
  }
  static Verdict wrong() {
    Verdict verdict;
    verdict.reason = "wrong-result", verdict.stage = "correctness", verdict.message = "element 7 is 1 instead of 2";
    return verdict;
  }
};

// Says that code is right when it says so itself.
struct Drafts final : DraftJudge {
  Result<const Verdict*> judge(const std::string& code, const std::string&) override {
    if (judged.size() == room) return nullptr;
    judged.push_back(code);
    right.outcome = Outcome::certified, right.speedup["eager"] = exactly(2.5), right.kernel_shares = {{"gelu", 0.75}};
    return code.find("right") == code.npos ? &wrong : &right;
  }
  Result<std::optional<std::string>> compile(const std::string& code) override {
    compiled.push_back(code);
    return std::optional<std::string>(code.find("broken") == code.npos ? "" : "compile-error: kernel.cpp:3:5: error");
  }
  std::vector<std::string> judged, compiled;
  size_t room = 10;
  Verdict right, wrong = Working::wrong();
};

TEST(Agent, ReadsTheLastLineThatAsksForSomething) {
  EXPECT_EQ(agent_call("notes: a\nI think\nread: 3")->tool, "read");
  EXPECT_EQ(agent_call("notes: long sums\n")->words, "long sums");
  EXPECT_EQ(agent_call("```python\nsubmit: 1\n```\n")->tool, "edit") << "lines of code ask for nothing";
  EXPECT_THAT(agent_call("Hello!").error().message(), HasSubstr("lineage, notes, read"));
}

TEST(Agent, ReadsWhatMarkdownAndCapitalsMakeOfIt) {
  for (const char* line : {"**submit:**", "Submit:", "**Submit**:", "- SUBMIT:", "`submit:`",
                           "### Submit:", "> submit:", "  submit:\r", "__Submit:__", "1 + 1\n* **submit:** "}) {
    const auto call = agent_call(line);
    ASSERT_TRUE(call.ok()) << line;
    EXPECT_EQ(call->tool, "submit") << line;
    EXPECT_EQ(call->words, "") << line;
  }
  EXPECT_EQ(agent_call("**Notes:** `tl.dot` precision")->words, "tl.dot` precision");
  EXPECT_EQ(agent_call("**read: 3**")->words, "3");
  EXPECT_FALSE(agent_call("I submit: that is all").ok());
}

TEST(Agent, HasItsDraftsJudgedAndProfiled) {
  Working model(edited("x + 1"), "judge:", edited("x + right"), "Judge:", "**profile:**", "submit:", "submit:");
  Drafts drafts;
  model.drafts = &drafts;
  EXPECT_EQ(model.work()->code.text, kernel("x + right"));
  EXPECT_EQ(drafts.judged, (std::vector<std::string>{kernel("x + 1"), kernel("x + right")}));
  EXPECT_THAT(model.asked[0], HasSubstr("3 drafts can be judged"));
  EXPECT_THAT(model.asked[2], HasSubstr("element 7 is 1 instead of 2"));
  EXPECT_THAT(model.asked[2], HasSubstr("2 more drafts can be judged"));
  EXPECT_THAT(model.asked[4], HasSubstr("2.50 times as fast as eager"));
  EXPECT_THAT(model.asked[5], HasSubstr("75.0 %  gelu"));
}

TEST(Agent, ADraftIsCompiledBeforeAnybodyJudgesIt) {
  Working model("compile:", edited("x + broken") + "compile:", edited("x + right"),
                "compile:", "judge:", "submit:", "submit:");
  Drafts drafts;
  model.drafts = &drafts, model.options.agent_judgements = 1;
  EXPECT_EQ(model.work()->code.text, kernel("x + right"));
  EXPECT_EQ(drafts.compiled, (std::vector<std::string>{kernel("x + broken"), kernel("x + right")}));
  EXPECT_EQ(drafts.judged, (std::vector<std::string>{kernel("x + right")})) << "compiling uses up no judgement";
  EXPECT_THAT(model.asked[0], HasSubstr("compile:"));
  EXPECT_THAT(model.asked[1], HasSubstr("There is no draft yet"));
  EXPECT_THAT(model.asked[2], HasSubstr("compile-error: kernel.cpp:3:5: error"));
  EXPECT_THAT(model.asked[4], HasSubstr("It compiles"));
  EXPECT_TRUE(model.work().ok());
  EXPECT_EQ(drafts.compiled.size(), 2u) << "the store knows what was said";
}

TEST(Agent, JudgementsEnd) {
  Working model("judge:", edited("1") + "judge:", edited("2") + "profile:", edited("3") + "judge:", "judge:", "submit:",
                "submit:");
  Drafts drafts;
  model.drafts = &drafts, model.options.agent_judgements = 2;
  EXPECT_EQ(model.coder()->name(), "agent:local judgements=2");
  EXPECT_EQ(model.work()->code.text, kernel("3")) << "what stands above the line is the draft";
  EXPECT_EQ(drafts.judged.size(), 2u);
  EXPECT_THAT(model.asked[1], HasSubstr("There is no draft yet"));
  EXPECT_THAT(model.asked[3], HasSubstr("No profile was made of it"));
  EXPECT_THAT(model.asked[4], HasSubstr("2 of 2 were"));
  Working last(edited("1"), "judge:", "submit:", "submit:");
  drafts.room = drafts.judged.size();
  last.drafts = &drafts;
  ASSERT_TRUE(last.work().ok());
  EXPECT_THAT(last.asked[2], HasSubstr("nothing left but the judgement of what you submit"));
}

TEST(Agent, WhereNothingCanBeJudgedItIsSaid) {
  Working model("profile:", edited("x + 1"), "judge:", "compile:", "submit:", "submit:");
  ASSERT_TRUE(model.work().ok());
  EXPECT_THAT(model.asked[4], HasSubstr("Nothing can be compiled here"));
  EXPECT_THAT(model.asked[0], HasSubstr(" 0 drafts can be judged"));
  EXPECT_THAT(model.asked[1], HasSubstr("wrong-result")) << "without a draft, of the code that it starts from";
  EXPECT_THAT(model.asked[3], HasSubstr("Nothing can be judged here"));
}

TEST(Agent, SeesTheOtherParent) {
  Working model("other:", edited("x + 1"), "submit:", "submit:");
  const CodeState state{nullptr, Code{.text = kernel("x * 2")}};
  const Ancestor partner{"tile in lines 4-6", state, model.right};
  model.partner = &partner;
  ASSERT_TRUE(model.work().ok());
  EXPECT_THAT(model.asked[0], HasSubstr("two parents are brought together"));
  EXPECT_THAT(model.asked[1], HasSubstr("tile in lines 4-6"));
  EXPECT_THAT(model.asked[1], HasSubstr("return x * 2"));
  Working alone("other:", edited("x + 1"), "submit:", "submit:");
  ASSERT_TRUE(alone.work().ok());
  EXPECT_THAT(alone.asked[1], HasSubstr("no other parent"));
}

TEST(Agent, LooksThingsUpDraftsCriticisesAndSubmits) {
  Working model("notes: variance", "lineage:", "read: 0", "verdict:", edited("x + 1"), "submit:", "submit:");
  const auto made = model.work();
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->code.text, kernel("x + 1"));
  ASSERT_EQ(model.asked.size(), 7u);
  EXPECT_THAT(model.asked[0], HasSubstr("You are asked once to look for mistakes"));
  EXPECT_THAT(model.asked[1], HasSubstr("Variances lose digits"));
  EXPECT_THAT(model.asked[2], HasSubstr("1. fuse in lines 4-6: refused: wrong-result"));
  EXPECT_THAT(model.asked[3], HasSubstr("return x + 0"));
  EXPECT_THAT(model.asked[4], HasSubstr("element 7 is 1 instead of 2"));
  EXPECT_THAT(model.asked[5], HasSubstr("It parses"));
  EXPECT_THAT(model.asked[6], HasSubstr("look for mistakes in your draft"));
}

TEST(Agent, AnEditAfterTheCritiqueIsCriticisedAgain) {
  Working model(edited("x + 1"), "submit:", edited("x + 2"), "submit:", "submit:");
  EXPECT_EQ(model.work()->code.text, kernel("x + 2"));
  EXPECT_EQ(model.asked.size(), 5u);
}

TEST(Agent, ADiffChangesTheDraft) {
  Working model(edited("x + 1"), "```diff\n@@ -6 +6 @@\n-        return x + 1\n+        return x + 3\n```\nedit:\n",
                "submit:", "submit:");
  const auto made = model.work();
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->code.text, kernel("x + 3"));
}

TEST(Agent, WhatCannotBeUsedCostsATurnAndTurnsEnd) {
  Working model("What shall I do?", "read: 17", "read: x", edited("x +"), "submit:", "learn: a | b", "", "Hm.");
  const auto made = model.work();
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message(), HasSubstr("8 turns"));
  ASSERT_EQ(model.asked.size(), 8u);
  EXPECT_THAT(model.asked[1], HasSubstr("no line asks for anything"));
  EXPECT_THAT(model.asked[2], HasSubstr("wanted a number below 2"));
  EXPECT_THAT(model.asked[4], HasSubstr("This cannot be used"));
  EXPECT_THAT(model.asked[5], HasSubstr("There is no draft yet"));
  EXPECT_THAT(model.asked[6], HasSubstr("--knowledge"));
  EXPECT_THAT(model.asked[7], HasSubstr("This is your last turn"));
}

TEST(Agent, WithoutTurnsLeftACheckedDraftCounts) {
  Working model(edited("x + 1"), "lineage:");
  model.options.agent_turns = 2;
  EXPECT_EQ(model.coder()->name(), "agent:local turns=2");
  EXPECT_EQ(model.work()->code.text, kernel("x + 1"));
}

TEST(Agent, TheStoreAnswersAConversationThatWasHad) {
  Working model(edited("x + 1"), "submit:", "submit:");
  ASSERT_TRUE(model.work().ok());
  ASSERT_TRUE(model.work().ok());
  EXPECT_EQ(model.asked.size(), 3u);
}

TEST(Agent, KeepsWhatItLearns) {
  const auto folder = std::filesystem::temp_directory_path() / ("agent-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  Working model("learn: Zebras | Theirs are stripes.", edited("x + 1"), "submit:", "submit:");
  model.options.knowledge = folder.string();
  ASSERT_TRUE(model.work().ok());
  const std::vector<Note> notes = read_notes(folder).value();
  const auto found = find_notes(notes, "zebra", "cpu", 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->text, "Theirs are stripes.\n");
  EXPECT_THAT(found[0]->targets, HasSubstr("learned by agent:local"));
  std::filesystem::remove_all(folder);
}

// What a model writes beside `submit:` is its newest draft.
TEST(Agent, CodeAboveSubmitIsAnEditFirst) {
  const std::string code = "```python\n" + kernel("x + 2") + "```\nsubmit:\n";
  Working model(edited("x + 1"), "submit:", code, "submit:");
  const auto made = model.work();
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->code.text, kernel("x + 2"));
  ASSERT_EQ(model.asked.size(), 4u);
  EXPECT_THAT(model.asked[3], HasSubstr("return x + 2")) << "the new draft is criticised, too";
  const std::string broken = "```python\n" + kernel("x +") + "```\nsubmit:\n";
  Working wrong(edited("x + 1"), broken, edited("x + 2") + "submit:", edited("x + 2") + "submit:");
  EXPECT_EQ(wrong.work()->code.text, kernel("x + 2")) << "the same code again is no new draft";
  ASSERT_EQ(wrong.asked.size(), 4u);
  EXPECT_THAT(wrong.asked[2], HasSubstr("This cannot be used"));
}

TEST(Agent, ThoughtsAskForNothing) {
  EXPECT_EQ(agent_call("<think>\nlater I say\nsubmit:\n</think>\n```python\nx\n```\n")->tool, "edit");
  EXPECT_EQ(agent_call("<think>\n```\n</think>\nlineage:\n")->tool, "lineage") << "a fence that never ends";
}

TEST(Agent, ADraftOutlivesTheServer) {
  Working model(edited("x + 1"));
  const auto made = model.work();
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->code.text, kernel("x + 1"));
}

TEST(Agent, WhatItLearnedItselfChangesNoConversation) {
  const auto folder = std::filesystem::temp_directory_path() / ("agent-again-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  Working model("learn: Zebras | Theirs are stripes.", "notes: zebras", edited("x + 1"), "submit:", "submit:");
  model.options.knowledge = folder.string();
  ASSERT_TRUE(model.work().ok());
  EXPECT_TRUE(model.work().ok()) << "a second run, with another coder";
  EXPECT_EQ(model.asked.size(), 5u);
  const std::string none = digest_of(read_notes("").value());
  EXPECT_EQ(model.coder()->digest(), none) << "nor does it make another run";
  ASSERT_TRUE(add_note(folder, {"Yaks", "cpu", "Hair.\n"}).ok());
  EXPECT_NE(model.coder()->digest(), none) << "what somebody adds does";
  Working elsewhere("edit:");
  elsewhere.options.knowledge = folder.string();
  EXPECT_EQ(elsewhere.coder()->digest(), digest_of(read_notes(folder).value())) << "another store has learned nothing";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mtmc
