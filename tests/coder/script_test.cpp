// Scripts from instructions: what is asked, what is taken, what is asked again.
#include "coder/script.h"

#include <gmock/gmock.h>

#include "coder/answer.h"
#include "ops/op.h"
#include "support/scripted_model.h"

namespace mtmc {
namespace {

using ::testing::HasSubstr;

constexpr const char* kScript = "import torch\n\ndef double(x):\n    return x + x\n";

struct Writing : testing::ScriptedModel {
  using ScriptedModel::ScriptedModel;
  Result<Implementation> write() {
    const Hardware hardware = null_hardware();
    ScriptCoder coder({parts(), PromptFacts{*find_target("triton"), hardware}, options, false, ledger, *store});
    return coder.write("Write a function double.");
  }
  std::unique_ptr<Store> store = open_store(":memory:").value();
  LlmOptions options;
  Ledger ledger;
};

TEST(Script, IsTheLastPythonBlockOrAnAnswerThatIsCode) {
  const std::string fenced = std::string("```python\n") + kScript + "```\n";
  EXPECT_EQ(script_of("Here:\n" + fenced + "Run it so:\n```bash\npython x.py\n```\n").value(), kScript);
  EXPECT_EQ(script_of(kScript).value(), kScript);
  EXPECT_EQ(script_of("<think>```python\nold\n```</think>" + fenced).value(), kScript);
  EXPECT_THAT(script_of("I cannot.").error().message(), HasSubstr("there is no code in it"));
  EXPECT_THAT(script_of("").error().message(), HasSubstr("it is empty"));
}

TEST(Script, NeedsNoModelNewAndNothingElseIsAllowed) {
  EXPECT_TRUE(check_code(kScript, CodeKind::script).ok());
  EXPECT_THAT(check_code(kScript).error().message(), HasSubstr("it defines no class ModelNew"));
  EXPECT_THAT(check_code("import socket\n", CodeKind::script).error().message(), HasSubstr("it may not import socket"));
  EXPECT_FALSE(check_code("def f(:\n", CodeKind::script).ok());
}

TEST(Script, WhatCannotBeUsedIsAskedForAgain) {
  Writing model("I would rather not.", "```python\ndef f(:\n```", std::string("```python\n") + kScript + "```\n");
  const auto made = model.write();
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->code.text, kScript);
  ASSERT_EQ(model.asked.size(), 3u);
  EXPECT_EQ(model.asked[0], "Write a function double.");
  EXPECT_THAT(model.asked[1], HasSubstr("there is no code in it"));
  EXPECT_THAT(model.asked[2], HasSubstr("line 1"));
  Writing hopeless("No.", "No.", "No.");
  EXPECT_THAT(hopeless.write().error().message(), HasSubstr("there is no code in it"));
  EXPECT_EQ(hopeless.asked.size(), 3u);
}

}  // namespace
}  // namespace mtmc
