// Budgets of a real referee: a draw's own errors first, those of its kind once they are asked for.
#include "eval/task_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/tempdir.h"
#include "eval/draw_choice.h"
#include "eval/process_judge.h"
#include "eval/sandbox_command.h"

namespace mtmc {
namespace {

constexpr const char* kSoftmaxModule = R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.softmax(-1)
def get_inputs():
    return [torch.randn(4, 1024)]
)";

// Raises on some draws of one kind.
constexpr const char* kRaisingModule = R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        if x.abs().max() > 100 and int(x.flatten()[0]) % 2:
            raise ValueError("odd")
        return x * 2
def get_inputs():
    return [torch.randn(8, 8)]
)";

// Lacks, as long as a file lies beside it, what another process may have taken.
constexpr const char* kLackingModule = R"(
from pathlib import Path
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        if x.abs().max() > 100 and Path(__file__).with_name("taken").exists():
            raise RuntimeError("nothing left")
        return x * 2
def get_inputs():
    return [torch.randn(8, 8)]
)";

// Takes long on some draws, as solvers do of singular matrices.
constexpr const char* kSlowModule = R"(
import time
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        time.sleep(0.5 if x.abs().max() > 100 else 0)
        return x * 2
def get_inputs():
    return [torch.randn(8, 8)]
)";

// Divides what a row's mean errs by by the root of next to nothing where the row is of one value, whose size each draw
// chooses.
constexpr const char* kNormModule = R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])
def get_inputs():
    return [torch.randn(32, 512)]
)";

class TorchTaskFacts : public testing::Test {
 protected:
  static JudgeOptions options() {
    JudgeOptions options;
    options.seed = 1, options.threads = 1, options.measures_on = false;
    return options;
  }

  Task task(const char* module) {
    const auto file = folder_.path() / "module.py";
    EXPECT_TRUE(write_file(file, module).ok());
    return {"module", Json{{"name", "module"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  }

  void open(const char* module) {
    const JudgeOptions completed = complete_options(options());
    referee_.emplace("referee", referee_command(completed));
    auto opened =
        TaskFacts::open(*referee_, task(module), folder_.path() / "task", folder_.path() / "triton", completed);
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
  open(kSoftmaxModule);
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

TEST_F(TorchTaskFacts, HalfAnUlpIsWorthWhatItIsOnTheVeryDraw) {
  open(kNormModule);
  ASSERT_TRUE(facts_->draw("few-rows-1").ok() && facts_->draw("few-rows-2").ok());
  const auto limit = [&](const char* draw) { return error_limit((*facts_->draw(draw))->budgets.at("0"), "float32"); };
  allows_whole("few-rows-1");
  EXPECT_TRUE(facts_->allow_other_orders("few-rows-1").value());
  const double one = limit("few-rows-1"), other = limit("few-rows-2");
  EXPECT_FALSE(facts_->allow_other_orders("few-rows-1").value()) << "once";
  EXPECT_TRUE(facts_->allow_other_orders("few-rows-2").value()) << "it has a level of its own";
  EXPECT_EQ(limit("few-rows-1"), one);
  EXPECT_GE(limit("few-rows-2"), other);
}

TEST_F(TorchTaskFacts, HowLongACallMayTakeFollowsEagersOwnOnTheVeryDraw) {
  open(kSlowModule);
  EXPECT_EQ(facts_->eager_seconds("scaled-up-0"), 0) << "nobody has asked for it yet";
  ASSERT_TRUE(facts_->draw("scaled-up-0").ok() && facts_->draw("scaled-down-0").ok());
  EXPECT_GE(facts_->eager_seconds("scaled-up-0"), 0.5);
  EXPECT_LT(facts_->eager_seconds("scaled-down-0"), facts_->eager_seconds("scaled-up-0"));
}

TEST_F(TorchTaskFacts, WhatPassesAlonePassesWithItsKind) {
  open(kSoftmaxModule);
  const auto draw = facts_->draw("spread-1");
  ASSERT_TRUE(draw.ok());
  const Budgets alone = (*draw)->budgets;
  ASSERT_TRUE(allows_whole("spread-1"));
  for (const auto& [output, whole] : (*draw)->budgets) {
    EXPECT_GT(alone.at(output).error, 0);
    EXPECT_GE(error_limit(whole, "float32"), error_limit(alone.at(output), "float32"));
    EXPECT_GE(max_limit(whole, "float32", 1), max_limit(alone.at(output), "float32", 1));
    for (const auto part : {&Budget::elements, &Budget::rows})
      for (size_t i = 0; i < Tail::kSteps; ++i)
        EXPECT_GE((whole.*part).beyond[i], (alone.at(output).*part).beyond[i]) << output << " " << i;
  }
}

TEST_F(TorchTaskFacts, WhereEagerRaisesOnAnotherDrawOfTheKindItProvesNothing) {
  open(kRaisingModule);
  std::map<bool, std::vector<const DrawFacts*>> by_use;
  for (int i = 0; i < 8; ++i) {
    const auto draw = facts_->draw("scaled-up-" + std::to_string(i));
    ASSERT_TRUE(draw.ok());
    by_use[(*draw)->usable].push_back(*draw);
  }
  ASSERT_TRUE(!by_use[true].empty() && !by_use[false].empty()) << "another seed does not show it";
  const std::string name = by_use[true].front()->name;
  EXPECT_TRUE(allows_whole(name));
  for (const auto& [_, draws] : by_use)
    for (const DrawFacts* draw : draws) EXPECT_FALSE(draw->usable) << draw->name;
  EXPECT_FALSE(allows_whole(name));
  EXPECT_TRUE(facts_->allow_other_orders(name).ok()) << "and the referee lives";
}

TEST_F(TorchTaskFacts, WhereEagerRaisedIsAskedOnceMore) {
  ASSERT_TRUE(write_file(folder_.path() / "taken", "").ok());
  open(kLackingModule);
  const auto usable = [&](const Result<bool>& told) { return told.ok() && *told; };
  const auto draw = facts_->draw("scaled-up-1");
  ASSERT_TRUE(draw.ok());
  EXPECT_FALSE((*draw)->usable);
  EXPECT_FALSE(usable(facts_->raises_no_more("scaled-up-1"))) << "it still does";
  EXPECT_FALSE(usable(facts_->raises_no_more("task-0"))) << "it never did";
  std::filesystem::remove(folder_.path() / "taken");
  EXPECT_TRUE(usable(facts_->raises_no_more("scaled-up-1")));
}

// Large ones could not be kept from the beginning of a certification until their turn.
TEST_F(TorchTaskFacts, ACertificationMakesItsStructuredDrawsOneAfterTheOther) {
  open(kRaisingModule);
  const JudgeOptions with = options();
  Rng rng(1);
  DrawChoice choice(with, rng);
  choice.opened(*facts_);
  std::set<bool> met;
  for (int certification = 0; certification < 8; ++certification) {  // of other draws
    const auto names = choice.structured(*facts_, Tier::certify, false);
    ASSERT_TRUE(names.ok());
    ASSERT_EQ(names->size(), facts_->structured().size());
    const std::string scaled = "scaled-up-" + std::to_string(choice.met_index());
    EXPECT_THAT(*names, testing::Contains(scaled));
    const auto usable = choice.meets(*facts_, scaled);
    ASSERT_TRUE(usable.ok());
    EXPECT_TRUE(facts_->knows(scaled));
    const auto known_others = std::count_if(
        names->begin(), names->end(), [&](const std::string& name) { return name != scaled && facts_->knows(name); });
    EXPECT_EQ(known_others, 0);
    const auto known = facts_->draw(scaled);
    ASSERT_TRUE(known.ok());
    EXPECT_EQ(*usable, (*known)->usable);
    met.insert(*usable);
  }
  EXPECT_EQ(met.size(), 2u) << "on some the module raises; another seed does not show it";
}

// Whoever is wrong on such a draw only is not refused for it, in none of its calls, and all verdicts of the task say
// so. Another draw takes its place.
TEST_F(TorchTaskFacts, ADrawThatTurnsOutToProveNothingIsNoted) {
  const Candidate candidate{
      "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
      "        return x * 2 + (x.abs().max() > 100)\n",
      nullptr};
  const auto judge = make_process_judge(options());
  for (const bool known : {false, true}) {
    const auto verdict = judge->judge(task(kRaisingModule), candidate, Tier::screen);
    ASSERT_TRUE(verdict.ok()) << verdict.error().message();
    EXPECT_TRUE(verdict->certified() || verdict->reason == "clock-mismatch")
        << verdict->reason << ": " << verdict->message;
    EXPECT_THAT(verdict->notes, testing::Contains("proves-nothing: draws scaled-up"));
    const auto structured = std::count_if(verdict->draws.begin(), verdict->draws.end(), [](const std::string& draw) {
      return !draw.starts_with("task") && !draw.starts_with("timed") && !draw.starts_with("scaled-up");
    });
    EXPECT_EQ(structured, 2) << (known ? "known" : "another takes its place") << ": "
                             << testing::PrintToString(verdict->draws);
  }
}

}  // namespace
}  // namespace mtmc
