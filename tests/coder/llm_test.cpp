// The coder that asks a language model, on a transport that plays one; and coders in a chain.
#include "coder/llm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text.h"
#include "coder/chain.h"
#include "ops/op.h"
#include "source/regions.h"
#include "support/scripted_model.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

using testing::Said;
using testing::ScriptedModel;

std::string module_text(const std::string& result) {
  return "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return " + result +
         "\n";
}
std::string fenced(const std::string& code) { return "```python\n" + code + "```\n"; }

struct Talk : ScriptedModel {
  using ScriptedModel::ScriptedModel;

  std::unique_ptr<Store> store = open_store(":memory:").value();
  Ledger ledger;
  Hardware hardware = null_hardware();
  LlmOptions options;

  std::unique_ptr<LlmCoder> coder() {
    return std::make_unique<LlmCoder>(LlmParts{
        parts(), PromptFacts{*find_target("cpu"), hardware, options.prompt, "a task"}, options, false, ledger, *store});
  }
};

const Action kFuse{"fuse", {}, ""};
const CodeState kState{nullptr, Code{.text = module_text("x")}};
CoderRequest fuse() { return {kState, kFuse, nullptr, "fuse in lines 4-6"}; }

TEST(Llm, TakesOneStep) {
  Talk talk("Here:\n" + fenced(module_text("x + 1")));
  const auto coder = talk.coder();
  EXPECT_EQ(coder->name(), "llm:local");
  const auto made = coder->implement(fuse());
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->code.text, module_text("x + 1"));
  EXPECT_EQ(made->program, nullptr);
  EXPECT_EQ(Json::parse(made->notes)["llm"]["questions"], 1);
  EXPECT_TRUE(coder->implement(fuse()).ok()) << "remembered";
  EXPECT_EQ(talk.asked.size(), 1u);
  EXPECT_EQ(Json::parse(coder->account())["remembered"], 1);
}

TEST(Llm, AsksAgainForWhatCannotBeUsed) {
  Talk talk("", "Das kann ich leider nicht.", fenced(module_text("x + 1")));
  ASSERT_TRUE(talk.coder()->implement(fuse()).ok());
  ASSERT_EQ(talk.asked.size(), 3u);
  EXPECT_NE(talk.asked[2].find("This cannot be used: reading the answer: there is no code in it"), std::string::npos);
  Talk stubborn("no", "no", "no", "no");
  EXPECT_EQ(stubborn.coder()->implement(fuse()).error().wrong, "there is no code in it");
  EXPECT_EQ(stubborn.asked.size(), 3u) << "the question and two repairs";
  Talk same(fenced(module_text("x")));
  same.options.repairs = 0;
  EXPECT_EQ(same.coder()->implement(fuse()).error().wrong, "the code is what it was");
}

TEST(Llm, LetsALongAnswerGoOn) {
  const std::string whole = fenced(module_text("x + 1"));
  Talk talk(Said(whole.substr(0, 40), "length"), whole.substr(40));
  const auto made = talk.coder()->implement(fuse());
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->code.text, module_text("x + 1"));
  EXPECT_EQ(talk.requests[1]["messages"].size(), 4u);
  Talk endless;
  endless.says.assign(9, Said("```python\nclass", "length"));
  EXPECT_EQ(endless.coder()->implement(fuse()).error().wrong, "it is too long");
}

TEST(Llm, GivesUpForGoodWithoutAKey) {
  Talk talk;
  const auto coder = talk.coder();
  EXPECT_FALSE(coder->given_up());
  EXPECT_EQ(coder->implement(fuse()).error().wrong, "the key is refused");
  EXPECT_TRUE(coder->given_up());
}

TEST(Llm, OffersStepsAndRepairsOfFreeCodeOnly) {
  Talk talk;
  const auto coder = talk.coder();
  const auto proposals = coder->proposals(kState, {});
  ASSERT_TRUE(proposals.ok());
  ASSERT_FALSE(proposals->empty());
  EXPECT_EQ(proposals->front().text, "fuse in lines 4-6");
  const std::string two = replace_all(module_text("y * x"), "return ", "y = torch.tanh(x)\n        return ");
  const auto steps = coder->proposals({nullptr, {.text = two}}, {}).value();
  const auto offers = [&](const std::string& text) {
    return std::any_of(steps.begin(), steps.end(), [&](const Proposal& one) { return one.text == text; });
  };
  if (regions_of(two).ok()) {  // else this program was built without tree-sitter
    EXPECT_TRUE(offers("lower tanh in line 6")) << steps.front().text;
    EXPECT_TRUE(offers("simplify in lines 4-7")) << "what has no regions is asked for all lines";
  }
  for (const Proposal& one : steps) EXPECT_EQ(parse_action(store_text(one.action)).value(), one.action) << one.text;
  Verdict wrong;
  wrong.reason = "wrong-result";
  EXPECT_EQ(coder->repair(kState, wrong, 1)->text, "repair wrong-result in lines 4-6");
  EXPECT_FALSE(coder->repair(kState, wrong, 2));
  const CodeState printed{std::make_shared<const Program>(), {}};
  EXPECT_TRUE(coder->proposals(printed, {})->empty());
  EXPECT_FALSE(coder->repair(printed, wrong, 0));
}

TEST(Prompt, TheStandardOneHasMachineRulesExamplesAndVerdict) {
  const Hardware hardware = null_hardware();
  const PromptFacts facts{*find_target("cpu"), hardware, PromptStyle::standard, "a task"};
  const ChatRequest step = coding_prompt(fuse(), facts);
  EXPECT_NE(step.system.find("ctypes"), std::string::npos) << "the target's rules";
  const std::string& text = step.messages[0].text;
  for (const char* part :
       {"# Machine\n\nnull", "# Task\n\na task", "   6 |         return x\n", "# Action\n\nfuse in lines 4-6\n",
        "Law: k1 -> %t -> k2  becomes  k12", "# Examples\n", "void scale_relu"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  Verdict refused;
  refused.reason = "wrong-result", refused.stage = "correctness", refused.message = "element 3 is 7 instead of 8";
  const Origin origin{kState, "fuse scale and relu"};
  const Action repair{"repair", {}, ""};
  const std::string mend =
      coding_prompt({kState, repair, &refused, "repair wrong-result", &origin}, facts).messages[0].text;
  EXPECT_NE(mend.find("wrong-result at the stage correctness: element 3 is 7 instead of 8"), std::string::npos) << mend;
  EXPECT_NE(mend.find("what became of this step: fuse scale and relu"), std::string::npos);
}

TEST(Prompt, ThatForCudaHasTheClassThatLaunches) {
  const Hardware hardware = h200_hardware();
  const ChatRequest asked = coding_prompt(fuse(), {*find_target("cuda"), hardware, PromptStyle::standard, "a task"});
  const std::string_view rules = guide_of("cuda");
  EXPECT_NE(asked.system.find(rules), std::string::npos);
  const size_t begin = rules.find("class Cuda:"), end = rules.find("\n```", begin);
  ASSERT_NE(end, rules.npos);
  for (const WorkedExample& example : worked_examples()) {
    if (example.target != "cuda") continue;
    EXPECT_NE(example.after.find(rules.substr(begin, end - begin)), std::string::npos) << example.type;
  }
  EXPECT_NE(asked.messages[0].text.find("void scale_relu"), std::string::npos);
}

TEST(Prompt, ThePapersHasItsThreeElementsAlone) {
  const Hardware hardware = null_hardware();
  const ChatRequest asked = coding_prompt(fuse(), {*find_target("cpu"), hardware, PromptStyle::paper, "a task"});
  EXPECT_EQ(asked.system, "");
  std::vector<std::string> heads;
  std::istringstream lines(asked.messages[0].text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# ")) heads.push_back(line);
  EXPECT_EQ(heads, (std::vector<std::string>{"# Kernel code", "# Action", "# Examples"}));
}

TEST(Prompt, ExamplesAreTheirFiles) {
  int types = 0;
  for (const WorkedExample& example : worked_examples()) {
    std::ifstream file(source_dir() + "/src/coder/examples/" + example.target + "_" + example.type + ".md");
    std::stringstream text;
    text << file.rdbuf();
    for (const std::string& part : {example.action, example.task, example.before, example.after})
      EXPECT_NE(text.str().find(part), std::string::npos) << example.target << " " << example.type;
    EXPECT_NE(find_action(example.type), nullptr);
    EXPECT_TRUE(example.action.starts_with(example.type + " ")) << example.action;
    ++types;
  }
  EXPECT_GE(types, 21);
}

// Declines everything, or answers with this.
class Fixed final : public Coder {
 public:
  explicit Fixed(std::string answer) : answer_(std::move(answer)) {}
  std::string name() const override { return answer_.empty() ? "idle" : "fixed"; }
  Result<Implementation> implement(const CoderRequest&) override {
    if (answer_.empty()) return Error{"working", "no", "", ""};
    return Implementation{nullptr, Code{.text = answer_}, ""};
  }

 private:
  std::string answer_;
};

TEST(Chain, AsksTheNextWhereOneDeclines) {
  std::vector<std::unique_ptr<Coder>> coders;
  coders.push_back(std::make_unique<Fixed>(""));
  coders.push_back(std::make_unique<Fixed>("code"));
  ChainCoder chain(std::move(coders));
  EXPECT_EQ(chain.name(), "idle,fixed");
  const auto made = chain.implement(fuse());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->code.text, "code");
  EXPECT_EQ(made->coder, "fixed");
  std::vector<std::unique_ptr<Coder>> idle;
  idle.push_back(std::make_unique<Fixed>(""));
  EXPECT_EQ(ChainCoder(std::move(idle)).implement(fuse()).error().message(), "idle: working: no");
}

}  // namespace
}  // namespace mtmc
