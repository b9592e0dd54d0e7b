// Budgets of a real referee: a draw's own errors first, those of its kind once they are asked for.
#include "eval/task_facts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/tempdir.h"
#include "eval/sandbox_command.h"

namespace mtmc {
namespace {

class TorchTaskFacts : public testing::Test {
 protected:
  static constexpr const char* kSoftmax = R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.softmax(-1)
def get_inputs():
    return [torch.randn(4, 1024)]
)";

  void SetUp() override {
    const auto file = folder_.path() / "module.py";
    ASSERT_TRUE(write_file(file, kSoftmax).ok());
    JudgeOptions options;
    options.seed = 1, options.threads = 1;
    options = complete_options(std::move(options));
    referee_.emplace("referee", referee_command(options));
    const Task task{"module", Json{{"name", "module"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
    auto opened = TaskFacts::open(*referee_, task, folder_.path() / "task", folder_.path() / "triton", options);
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    facts_.emplace(std::move(opened).value());
  }

  bool allows_whole(const std::string& draw) {
    const auto whole = facts_->allow_whole_budget(draw);
    EXPECT_TRUE(whole.ok());
    return whole.ok() && *whole;
  }

  TempDir folder_;
  std::optional<JudgeProcess> referee_;
  std::optional<TaskFacts> facts_;
};

TEST_F(TorchTaskFacts, ADrawAllowsWhatItsKindAllowsOnceThatIsAskedFor) {
  const std::string other = facts_->others().at(0);
  for (const std::string& kind : {std::string("one-hot"), other}) {
    const auto draw = facts_->draw(kind + "-1"), beside = facts_->draw(kind + "-2");
    ASSERT_TRUE(draw.ok() && beside.ok());
    EXPECT_FALSE((*draw)->whole);
    const Budget alone = (*draw)->budgets.at("0");
    EXPECT_EQ(alone.spread, 1) << "one run scatters from nothing";
    EXPECT_TRUE(allows_whole(kind + "-1"));
    const Budget& whole = (*draw)->budgets.at("0");
    EXPECT_TRUE((*draw)->whole && (*beside)->whole) << "of all draws of the kind";
    EXPECT_GE(whole.error, alone.error);
    EXPECT_GE(whole.max_error, alone.max_error);
    EXPECT_GE(whole.spread, 1);
    EXPECT_GT(error_limit(whole, "float32"), error_limit(alone, "float32"));
    EXPECT_TRUE(whole.exact_suffices && alone.exact_suffices);
    EXPECT_FALSE(allows_whole(kind + "-1")) << "it does by now";
  }
  const auto task = facts_->draw("task-1"), timed = facts_->draw("timed-3");
  ASSERT_TRUE(task.ok() && timed.ok());
  EXPECT_FALSE(allows_whole("task-1")) << "the task's own kind is known from the start";
  EXPECT_FALSE(allows_whole("timed-3")) << "and timed calls are held to it";
}

TEST_F(TorchTaskFacts, WhatPassesAlonePassesWithItsKind) {
  const auto draw = facts_->draw("spread-1");
  ASSERT_TRUE(draw.ok());
  const Budgets alone = (*draw)->budgets;
  ASSERT_TRUE(allows_whole("spread-1"));
  for (const auto& [output, whole] : (*draw)->budgets)
    for (const auto part : {&Budget::elements, &Budget::rows})
      for (size_t i = 0; i < Tail::kSteps; ++i)
        EXPECT_GE((whole.*part).beyond[i], (alone.at(output).*part).beyond[i]) << output << " " << i;
}

}  // namespace
}  // namespace mtmc
