// The judge that trusts: what it measures is what a screen measures, and what it cannot do it says.
#include "eval/trusting_judge.h"

#include <gmock/gmock.h>

#include "eval/torch_judge.h"

namespace mtmc {
namespace {

using testing::HasSubstr;

class TorchTrustingJudge : public TorchJudge {
 protected:
  void choose() override {
    options_.trusts = true;
    if (!trusting_) trusting_ = make_trusting_judge(options_);
  }
  static void TearDownTestSuite() {
    trusting_.reset();
    TorchJudge::TearDownTestSuite();
  }
  Verdict trusted(const std::string& code) {
    const Result<Verdict> found = trusting_->judge(task_, {code, nullptr}, Tier::screen);
    EXPECT_TRUE(found.ok()) << found.error().message();
    return found.ok() ? *found : Verdict{};
  }
  static std::shared_ptr<Judge> trusting_;
};
std::shared_ptr<Judge> TorchTrustingJudge::trusting_;

TEST_F(TorchTrustingJudge, measures_the_same_errors_as_a_screen_on_the_same_draws) {
  options_.seed = 7, options_.trusts = false;
  const Verdict screen = verdict_with(options_, kGood);
  options_.trusts = true;
  trusting_ = make_trusting_judge(options_);
  const Verdict v = trusted(kGood);
  EXPECT_TRUE(v.certified()) << v.reason << ": " << v.message;
  EXPECT_EQ(v.evaluator, "trusting judge 1, briefly");
  EXPECT_EQ(v.sandbox, "none");
  for (const OutputError& one : v.errors) {
    const auto same = std::find_if(screen.errors.begin(), screen.errors.end(),
                                   [&](const OutputError& other) { return other.draw == one.draw; });
    ASSERT_NE(same, screen.errors.end()) << one.draw;
    EXPECT_DOUBLE_EQ(one.error, same->error) << one.draw;
    EXPECT_DOUBLE_EQ(one.limit, same->limit) << one.draw;
  }
  EXPECT_GE(v.errors.size(), 2u) << "the task's own draw, and a structured one";
  EXPECT_GT(*v.time_ms, 0);
  EXPECT_EQ(v.times.at("eager").samples_ms.size(), v.times.at("candidate").samples_ms.size());
}

TEST_F(TorchTrustingJudge, who_sleeps_is_slower) {
  const Verdict v = trusted(candidate("time.sleep(0.02)\nreturn self.linear(x).clamp_min(0)"));
  EXPECT_TRUE(v.certified()) << v.reason << ": " << v.message;
  EXPECT_GE(*v.time_ms, 20);
  EXPECT_LT(v.speedup.at("eager").high, 1);
}

TEST_F(TorchTrustingJudge, says_what_is_wrong) {
  const std::map<std::string, std::string> bodies = {
      {"return self.linear(x).clamp_min(0) + 1", "wrong-result"},
      {"return self.linear(x).clamp_min(0)[:, :4]", "wrong-shape"},
      {"return [self.linear(x).clamp_min(0)]", "wrong-shape"},
      {"x.mul_(2)\nreturn self.linear(x / 2).clamp_min(0)", "input-modified"},
      {"raise RuntimeError('no')", "raised"},
      {"return self.linear(x).clamp_min(0).t().contiguous().t()", "wrong-shape"},
  };
  for (const auto& [body, reason] : bodies) EXPECT_EQ(trusted(candidate(body)).reason, reason) << body;
  EXPECT_EQ(trusted("def").reason, "import-error");
  EXPECT_EQ(trusted("x = 1").reason, "missing-ModelNew");
}

TEST_F(TorchTrustingJudge, a_candidate_leaves_nothing_to_the_next) {
  const Verdict counts = trusted(candidate("return self.linear(x).clamp_min(0) * (calls() > 0)",
                                           "import builtins\n"
                                           "def calls():\n"
                                           "    return 1\n"));
  EXPECT_TRUE(counts.certified()) << counts.message;
  EXPECT_EQ(trusted(candidate("return self.linear(x).clamp_min(0) * (calls() > 0)")).reason, "raised");
}

TEST_F(TorchTrustingJudge, goes_on_after_one_that_ends_the_process) {
  const Verdict v = trusted(candidate("os._exit(3)"));
  EXPECT_EQ(v.reason, "crashed") << v.message;
  EXPECT_TRUE(trusted(kGood).certified());
}

TEST_F(TorchTrustingJudge, does_not_wait_for_ever) {
  options_.load_seconds = 1, options_.call_seconds = 1;
  trusting_ = make_trusting_judge(options_);
  EXPECT_TRUE(trusting_->prepare(task_).ok());
  EXPECT_EQ(trusted(candidate("time.sleep(600)")).reason, "timed-out");
  trusting_.reset();
}

TEST_F(TorchTrustingJudge, a_task_that_draws_random_numbers_is_the_full_judges) {
  const auto file = folder_.path() / "random.py";
  std::string module = kModule;
  const size_t at = module.find("torch.relu(");
  module.replace(at, 11, "torch.nn.functional.dropout(");
  ASSERT_TRUE(write_file(file, module).ok());
  const Task random = {"random", Json{{"name", "random"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  const auto found = trusting_->judge(random, {kGood, nullptr}, Tier::screen);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message(), HasSubstr("--judge full"));
}

}  // namespace
}  // namespace mtmc
