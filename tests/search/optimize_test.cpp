#include "search/optimize.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/tempdir.h"
#include "coder/faulty.h"
#include "search/world.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

using ::testing::Combine;
using testing::PreparingCoder;
using testing::tried;
using ::testing::Values;
using testing::WatchedJudge;
using testing::World;

TEST(Optimize, FindsSomethingFasterAndSaysHow) {
  World world;
  const auto done = world.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_EQ(done->verdict.tier, Tier::certify);
  EXPECT_GT(done->verdict.speedup.at("eager").low, 1.1);
  ASSERT_GT(done->steps.size(), 1u);
  EXPECT_EQ(done->steps.front().action, "");
  EXPECT_EQ(done->steps.back().node, done->best);
  const auto runs = world.store->runs();
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs->front().state, RunState::done);
  EXPECT_EQ(runs->front().conclusion, (Conclusion{"faster", done->best}));
}

class EveryStrategy : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(EveryStrategy, RepeatsItselfBySeedAndKeepsItsLimits) {
  const auto [strategy, policy] = GetParam();
  const auto attempts = [&](uint64_t seed) {
    World world;
    world.strategy = strategy, world.policy = policy;
    world.request.seed = seed;
    world.request.limits = {.steps = 4, .seconds = 0, .evaluations = 15};
    const auto done = world.run();
    EXPECT_TRUE(done.ok()) << done.error().message();
    EXPECT_LE(done->evaluations, 15);
    std::set<std::string> states;
    for (const NodeRecord& attempt : world.recorder.attempts) {
      EXPECT_LE(attempt.step, 4);
      if (!attempt.failure.empty() || attempt.certify) continue;
      EXPECT_TRUE(states.insert(attempt.state_hash).second) << "judged twice: " << attempt.rendered;
    }
    return tried(world.recorder.attempts);
  };
  EXPECT_EQ(attempts(1), attempts(1));
  if (std::string(policy) == "random") {
    EXPECT_NE(attempts(1), attempts(2));
  }
}

INSTANTIATE_TEST_SUITE_P(Search, EveryStrategy, Combine(Values("rollout", "beam", "tree"), Values("greedy", "random")),
                         [](const auto& chosen) {
                           return std::string(std::get<0>(chosen.param)) + "_" + std::get<1>(chosen.param);
                         });

TEST(Optimize, WhatComesNextIsPreparedAndNothingElseChanges) {
  for (const char* strategy : {"tree", "beam", "rollout"}) {
    World plain, world;
    plain.strategy = world.strategy = strategy;
    const auto without = plain.run();
    std::vector<std::string> judged;
    WatchedJudge judge(world.judge, [&](const Candidate& candidate, Tier tier, Verdict&) {
      if (tier == Tier::screen) judged.push_back(candidate.code);
    });
    PreparingCoder coder(world.coder);
    const auto with = world.run(judge, coder);
    ASSERT_TRUE(without.ok() && with.ok());
    EXPECT_EQ(tried(world.recorder.attempts), tried(plain.recorder.attempts)) << strategy;
    EXPECT_GT(coder.prepared, with->evaluations) << strategy;
    EXPECT_TRUE(coder.ended) << strategy;
    const std::set<std::string> known(judge.prepared.begin(), judge.prepared.end());
    for (size_t i = 1; i < judged.size(); ++i)  // the start is what all wait for
      EXPECT_TRUE(known.contains(judged[i])) << strategy << " judged what nobody prepared";
  }
}

TEST(Optimize, NothingIsPreparedForWhichThereIsNoTime) {
  World world;
  world.request.limits = {.steps = 8, .seconds = 30, .evaluations = 0};
  PreparingCoder coder(world.coder);
  world.request.clock = [&] { return coder.now; };
  coder.seconds = 40;  // the first preparation takes all of it
  const auto done = world.run(world.judge, coder);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_LE(coder.prepared, 1);
  EXPECT_LE(coder.implemented, 1);
}

TEST(Optimize, EveryStrategyAndPolicyIsFoundByName) {
  EXPECT_EQ(all_strategies().size(), 5u);
  EXPECT_EQ(all_policies().size(), 4u);
  EXPECT_EQ(find_strategy("dfs"), nullptr);
  EXPECT_EQ(find_policy("oracle"), nullptr);
}

TEST(Optimize, EndsInTime) {
  World world;
  world.strategy = "tree", world.policy = "random";
  world.request.limits = {.steps = 50, .seconds = 30, .evaluations = 0};
  double now = 0;
  world.request.clock = [&] { return now; };
  WatchedJudge slow(world.judge, [&](const Candidate&, Tier, Verdict& verdict) {
    now += 1.5;
    verdict.seconds = 1.5;
  });
  const auto done = world.run(slow);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_GT(done->evaluations, 3);
  EXPECT_LT(done->seconds, 31);
  EXPECT_LE(world.recorder.last.fraction, 1);
}

TEST(Optimize, SaysHowLongAFirstCandidateTakesWhereThereWasNoTimeForOne) {
  World world;
  world.request.limits = {.steps = 8, .seconds = 10, .evaluations = 0};
  double now = 0, step = 6;  // whoever looks at the clock finds that it took so long to come to that
  world.request.clock = [&] { return now += step; };
  const auto late = world.run();
  ASSERT_TRUE(late.ok()) << late.error().message();
  EXPECT_EQ(late->evaluations, 0);
  EXPECT_EQ(late->answer, Answer::not_faster);
  EXPECT_GT(late->seconds_for_one, 10);
  World other;
  other.request.limits = world.request.limits;
  other.request.clock = [&] { return now += 0.1; };
  const auto in_time = other.run();
  ASSERT_TRUE(in_time.ok()) << in_time.error().message();
  EXPECT_GT(in_time->evaluations, 0);
  EXPECT_EQ(in_time->seconds_for_one, 0);
}

TEST(Optimize, WhoWatchesHearsWhatTheJudgeDoesAndWhatCertificationTook) {
  World world;
  WatchedJudge slow(world.judge, [&](const Candidate&, Tier tier, Verdict& verdict) {
    verdict.seconds = tier == Tier::certify ? 40 : 1;
  });
  const auto done = world.run(slow);
  ASSERT_TRUE(done.ok());
  const std::vector<std::string>& heard = world.recorder.doing;
  ASSERT_GT(heard.size(), 3u);
  EXPECT_EQ(heard[0], "judging the module as it is");
  EXPECT_EQ(heard[1], "screening");
  EXPECT_EQ(heard[2], heard[0]) << "when that is over";
  EXPECT_EQ(std::count(heard.begin(), heard.end(), "certifying") * 40, done->certify_seconds);
  const auto again = world.run(slow);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->certify_seconds, 0) << "all is remembered";
}

TEST(Optimize, FallsBackToTheNextBestWhenCertificationFails) {
  World reference;
  const auto best = reference.run();
  ASSERT_TRUE(best.ok());
  World world;
  int refused = 0;
  WatchedJudge strict(world.judge, [&](const Candidate& candidate, Tier tier, Verdict& verdict) {
    if (tier != Tier::certify || candidate.code != best->code.text) return;
    verdict.outcome = Outcome::refused, verdict.reason = "wrong-result", ++refused;
  });
  const auto done = world.run(strict);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(refused, 1);
  EXPECT_TRUE(done->verdict.certified());
  EXPECT_EQ(done->verdict.tier, Tier::certify);
  EXPECT_NE(done->code.text, best->code.text);
  EXPECT_LE(done->verdict.speedup.at("eager").low, best->verdict.speedup.at("eager").low);
  EXPECT_GT(done->verdict.speedup.at("eager").low, 1);
}

TEST(Optimize, TheUntouchedStartIsTheResultWhenNothingElseIsCertified) {
  World world;
  const std::string start = state_hash(*world.request.program);
  WatchedJudge strict(world.judge, [&](const Candidate& candidate, Tier, Verdict& verdict) {
    if (state_hash(*candidate.program) != start) verdict.outcome = Outcome::refused, verdict.reason = "wrong-result";
  });
  const auto done = world.run(strict);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->answer, Answer::not_faster);
  EXPECT_EQ(done->steps.size(), 1u);
  EXPECT_TRUE(done->verdict.certified());
}

TEST(Optimize, ALuckyStartDoesNotStandBeforeTheWinner) {
  World world;
  const std::string start = state_hash(*world.request.program);
  WatchedJudge lucky(world.judge, [&](const Candidate& candidate, Tier, Verdict& verdict) {
    if (state_hash(*candidate.program) == start) verdict.speedup["eager"] = exactly(1e6);
  });
  const auto done = world.run(lucky);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_GT(done->steps.size(), 1u);
}

// The second candidate's median is the highest by far, and says nothing.
TEST(Optimize, ALuckyWideMeasurementDoesNotWin) {
  World world;
  int screens = 0;
  std::string lucky_code;
  WatchedJudge lucky(world.judge, [&](const Candidate& candidate, Tier tier, Verdict& verdict) {
    if (tier == Tier::screen && ++screens == 2) lucky_code = candidate.code;
    if (candidate.code == lucky_code) verdict.speedup["eager"] = {35.67, 0.17, 51.7};
  });
  const auto done = world.run(lucky);
  ASSERT_TRUE(done.ok());
  ASSERT_FALSE(lucky_code.empty());
  EXPECT_NE(done->code.text, lucky_code);
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_LT(world.recorder.last.best_speedup, 35);
}

TEST(Optimize, ABusyMachineIsNotCalledFaster) {
  World world;
  const std::string start = state_hash(*world.request.program);
  WatchedJudge busy(world.judge, [&](const Candidate& candidate, Tier, Verdict& verdict) {
    const bool first = state_hash(*candidate.program) == start;
    verdict.speedup["eager"] = first ? Speedup{0.97, 0.4, 1.9} : Speedup{3.1, 0.8, 12};
  });
  const auto done = world.run(busy);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->answer, Answer::unclear);
  EXPECT_EQ(done->steps.size(), 1u) << "what nobody knows to be faster does not replace the module as it is";
}

// A wide interval that is mostly a loss is no reason to ask for another run.
TEST(Optimize, OnlyWhatMayWellBeFasterIsUnclear) {
  for (const auto& [median, answer] : {std::pair(0.99, Answer::unclear), std::pair(0.7, Answer::not_faster)}) {
    World world;
    const std::string start = state_hash(*world.request.program);
    WatchedJudge busy(world.judge, [&](const Candidate& candidate, Tier, Verdict& verdict) {
      const bool first = state_hash(*candidate.program) == start;
      verdict.speedup["eager"] = first ? exactly(1) : Speedup{median, 0.28, 7.3};
    });
    const auto done = world.run(busy);
    ASSERT_TRUE(done.ok());
    EXPECT_EQ(done->answer, answer) << median;
  }
}

TEST(Optimize, WhatScreensCouldNotTellIsCertifiedAllTheSame) {
  World world;
  const std::string start = state_hash(*world.request.program);
  WatchedJudge quick(world.judge, [&](const Candidate& candidate, Tier tier, Verdict& verdict) {
    if (tier == Tier::screen && state_hash(*candidate.program) != start) verdict.speedup["eager"] = {3.1, 0.8, 12};
    if (tier == Tier::certify && state_hash(*candidate.program) != start) verdict.speedup["eager"] = {1.5, 1.4, 1.7};
  });
  const auto done = world.run(quick);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_EQ(done->verdict.speedup.at("eager").low, 1.4);
}

// Where certification ends with an interval that is a little wide, what was screened a little slower is no better.
TEST(Optimize, ALowEndDoesNotCallForAnotherCertificate) {
  for (const double low : {2.7, 2.0}) {
    World world;
    const std::string start = state_hash(*world.request.program);
    int screens = 0, certificates = 0;
    double now = 0;
    world.request.limits.seconds = 100, world.request.clock = [&] { return now; };
    WatchedJudge judge(world.judge, [&](const Candidate& candidate, Tier tier, Verdict& verdict) {
      if (state_hash(*candidate.program) == start) return;
      if (tier == Tier::screen) verdict.speedup["eager"] = exactly(++screens == 1 ? 3.0 : 2.9);
      if (tier == Tier::screen && screens == 4) now = 100;
      if (tier == Tier::certify) verdict.speedup["eager"] = {3.0, low, 3.3}, ++certificates;
    });
    const auto done = world.run(judge);
    ASSERT_TRUE(done.ok()) << done.error().message();
    EXPECT_EQ(certificates > 1, low == 2.0) << "a wide interval says less than a screen";
  }
}

TEST(Optimize, ResultAndStoreAgreeOnTheHeadline) {
  World world;
  WatchedJudge wide(world.judge, [&](const Candidate&, Tier, Verdict& verdict) {
    Speedup& eager = verdict.speedup["eager"];
    eager.low = 0.9 * eager.median, eager.high = 1.1 * eager.median;
  });
  const auto done = world.run(wide);
  ASSERT_TRUE(done.ok());
  const auto nodes = world.store->nodes(done->run);
  ASSERT_TRUE(nodes.ok());
  const NodeRecord* result = result_node(world.store->run(done->run).value(), *nodes);
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->id, done->best);
  EXPECT_EQ(result->verdict()->speedup.at("eager").low, done->verdict.speedup.at("eager").low);
}

TEST(Optimize, ACertificateWithoutAWantedBaselineIsNotReused) {
  World world;
  int certified = 0;
  WatchedJudge judge(world.judge, [&](const Candidate&, Tier tier, Verdict& verdict) {
    certified += tier == Tier::certify;
    for (const std::string& name : world.request.baselines) verdict.speedup[name] = verdict.speedup["eager"];
  });
  const auto certifies = [&] {
    certified = 0;
    const auto done = world.run(judge);
    EXPECT_TRUE(done.ok());
    for (const std::string& name : world.request.baselines) EXPECT_TRUE(done->verdict.speedup.contains(name)) << name;
    return certified;
  };
  EXPECT_GT(certifies(), 0);
  EXPECT_EQ(certifies(), 0) << "it is in the store";
  world.request.baselines = {"compile"};
  EXPECT_GT(certifies(), 0);
  EXPECT_EQ(certifies(), 0) << "and so is this one";
}

TEST(Optimize, ARefusedStartEndsTheRunWithItsReason) {
  World world;
  WatchedJudge strict(world.judge, [](const Candidate&, Tier, Verdict& verdict) {
    verdict.outcome = Outcome::ill_conditioned, verdict.reason = "ill-conditioned";
  });
  const auto done = world.run(strict);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->answer, Answer::refused);
  EXPECT_EQ(done->verdict.outcome, Outcome::ill_conditioned);
  EXPECT_EQ(strict.calls, 1);
}

// Peaks that were measured on a busy machine are lower than they are.
TEST(Optimize, AStartBeyondTheRooflineOfACpuIsNoAnswer) {
  World world("cpu");
  world.request.shell.constructor_source = "class ModelNew(torch.nn.Module):\n    # mtmc: forward\n";
  const double least = roofline_seconds(*world.request.program, world.hardware);
  WatchedJudge fast(world.judge, [&](const Candidate&, Tier, Verdict& verdict) { verdict.time_ms = 0.97e3 * least; });
  const auto done = world.run(fast);
  ASSERT_TRUE(done.ok());
  EXPECT_NE(done->answer, Answer::at_roofline);
  EXPECT_GT(done->evaluations, 0);
}

TEST(Optimize, AStartAtTheRooflineIsAnAnswer) {
  World world;
  const double least = roofline_seconds(*world.request.program, world.hardware);
  WatchedJudge fast(world.judge, [&](const Candidate&, Tier, Verdict& verdict) { verdict.time_ms = 1.04e3 * least; });
  const auto done = world.run(fast);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->answer, Answer::at_roofline);
  EXPECT_EQ(done->evaluations, 0);
  EXPECT_NEAR(done->roofline_share, 1 / 1.04, 1e-6);
}

TEST(Optimize, ASecondRunJudgesNothing) {
  World world;
  WatchedJudge counted(world.judge, [](const Candidate&, Tier, Verdict&) {});
  const auto first = world.run(counted);
  const int calls = counted.calls;
  const auto second = world.run(counted);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(counted.calls, calls);
  EXPECT_NE(first->run, second->run);
  EXPECT_EQ(first->code.text, second->code.text);
  EXPECT_EQ(first->evaluations, second->evaluations);
}

// A run that is killed while it judges its n-th candidate, and the same command again.
TEST(Optimize, AKilledRunResumesAndEndsWhereItWouldHave) {
  World whole;
  whole.policy = "random", whole.strategy = "tree";
  WatchedJudge counted(whole.judge, [](const Candidate&, Tier, Verdict&) {});
  const auto expected = whole.run(counted);
  ASSERT_TRUE(expected.ok());
  for (const int fatal : {1, 4, 9}) {
    const TempDir folder;
    const auto path = folder.path() / "store.db";
    const pid_t child = fork();
    if (child == 0) {
      World world;
      world.policy = "random", world.strategy = "tree";
      world.store = open_store(path).value();
      int calls = 0;
      WatchedJudge killer(world.judge, [&](const Candidate&, Tier, Verdict&) {
        if (++calls == fatal) ::kill(getpid(), SIGKILL);
      });
      const auto never = world.run(killer);
      _exit(never.ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    World world;
    world.policy = "random", world.strategy = "tree";
    world.store = open_store(path).value();
    WatchedJudge rest(world.judge, [](const Candidate&, Tier, Verdict&) {});
    const auto done = world.run(rest);
    ASSERT_TRUE(done.ok()) << done.error().message();
    EXPECT_TRUE(done->resumed);
    EXPECT_EQ(done->code.text, expected->code.text);
    EXPECT_EQ(done->evaluations, expected->evaluations);
    EXPECT_EQ(rest.calls, counted.calls - (fatal - 1)) << "only the attempt in flight is lost";
    EXPECT_EQ(tried(world.recorder.attempts), tried(whole.recorder.attempts));
    EXPECT_EQ(world.store->runs()->size(), 1u);
  }
}

TEST(Optimize, AJudgeThatCannotWorkLeavesAResumableRun) {
  struct Broken final : Judge {
    Result<Verdict> judge(const Task&, const Candidate&, Tier) override {
      return Error{"judging", "no more memory", "", ""};
    }
  } broken;
  World world;
  const auto failed = world.run(broken);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(world.store->runs()->front().state, RunState::interrupted);
  const auto done = world.run();
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->resumed);
}

TEST(Optimize, AFaultyCoderCostsAttemptsAndNothingElse) {
  World world;
  world.policy = "random", world.strategy = "tree";
  FaultyCoder faulty(world.builtin(), {.compile = 0.2, .wrong = 0.2, .crash = 0.1, .hang = 0.1}, 3);
  const auto done = world.run(world.judge, faulty);
  ASSERT_TRUE(done.ok());
  int refused = 0;
  for (const NodeRecord& attempt : world.recorder.attempts) refused += attempt.screen && !attempt.screen->certified();
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(done->verdict.certified());
  EXPECT_EQ(done->code.text.find("# fault"), std::string::npos);
}

// A policy that stops at once gets the untouched start; one that never stops is ended by the step limit.
TEST(Optimize, StopIsAlwaysOnOffer) {
  struct Stops final : Policy {
    std::string name() const override { return "stops"; }
    Result<Ranking> rank(const Observation& seen, const std::vector<Proposal>& proposals) override {
      EXPECT_FALSE(seen.code.empty());
      EXPECT_EQ(std::count_if(proposals.begin(), proposals.end(), [](const Proposal& p) { return p.stop(); }), 1);
      ++asked;
      std::vector<size_t> order(proposals.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = walks ? i : order.size() - 1 - i;
      return order;
    }
    bool walks = false;
    int asked = 0;
  } policy;
  World world;
  const auto optimized = [&] {
    return optimize(world.request, world.judge, *world.store, world.coder, policy, *find_strategy("rollout"),
                    world.recorder);
  };
  const auto stopped = optimized();
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->evaluations, 0);
  policy.walks = true;
  policy.asked = 0;
  const auto walked = optimized();
  ASSERT_TRUE(walked.ok());
  EXPECT_GE(policy.asked, 2);
}

}  // namespace
}  // namespace mtmc
