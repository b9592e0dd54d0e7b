#include "workbench/chosen.h"

#include <gtest/gtest.h>

#include "coder/coder.h"

namespace mtmc {
namespace {

const CoderDef kPlain{"plain", "takes nothing", "", nullptr};
const CoderDef kModel{"llm", "asks a model", "MODEL", nullptr};
const std::vector<const CoderDef*> kAll = {&kPlain, &kModel};

std::string refusal(const std::string& word) { return chosen("a coder", word, kAll).error().message(); }

TEST(Chosen, IsANameOrANameWithAnArgument) {
  EXPECT_EQ(chosen("a coder", "plain", kAll)->def, &kPlain);
  const auto model = chosen("a coder", "llm:host:8000/small", kAll);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->def, &kModel);
  EXPECT_EQ(model->argument, "host:8000/small") << "only the first colon parts them";
}

TEST(Chosen, SaysWhatIsOnOffer) {
  EXPECT_EQ(refusal("plan"), "choosing a coder: there is no such one: got 'plan', wanted plain, llm:MODEL");
  EXPECT_EQ(refusal("plain:x"), "choosing a coder: plain takes no argument: got 'plain:x', wanted plain");
  EXPECT_EQ(refusal("llm"), "choosing a coder: llm needs an argument: got 'llm', wanted llm:MODEL");
  EXPECT_EQ(refusal("llm:"), "choosing a coder: llm needs an argument: got 'llm:', wanted llm:MODEL");
}

}  // namespace
}  // namespace mtmc
