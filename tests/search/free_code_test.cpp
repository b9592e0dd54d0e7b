// States without a Program: code that only its coder understands is searched like any other.
#include <gmock/gmock.h>

#include <set>

#include "search/world.h"

namespace mtmc {
namespace {

using testing::World;

// Answers every action on a Program with the same text of its own; of that it can make a faster and a wrong one, up to
// four times in a row.
class FreeCoder final : public Coder {
 public:
  std::string name() const override { return "free"; }
  Result<Implementation> implement(const CoderRequest& request) override {
    const std::string& text = request.state.code.text;
    const std::string before = text.starts_with("# free") ? text : "# free";
    return Implementation{nullptr, Code{.text = before + " " + request.action.detail}, ""};
  }
  Result<std::vector<Proposal>> proposals(const CodeState& state, const std::vector<Proposal>&) override {
    if (state.program != nullptr) return std::vector<Proposal>{};
    ++asked;
    if (state.code.text.starts_with("# free") && state.code.text.size() > 24) return std::vector<Proposal>{};
    return std::vector<Proposal>{{{"rewrite", {}, "fast"}, "rewrite it faster"},
                                 {{"rewrite", {}, "wrong"}, "rewrite it wrongly"}};
  }
  int asked = 0;
};

// Free code is the faster the oftener it says so; Programs are priced.
class FreeJudge final : public Judge {
 public:
  explicit FreeJudge(Judge& inner) : inner_(inner) {}
  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override {
    if (!candidate.code.starts_with("# free")) return inner_.judge(task, candidate, tier);
    EXPECT_TRUE(tier == Tier::certify || judged.insert(candidate.code).second) << "judged twice: " << candidate.code;
    Verdict verdict;
    verdict.tier = tier;
    verdict.reason = "wrong-result";
    if (candidate.code.find("wrong") != candidate.code.npos) return verdict;
    double faster = 10;
    for (size_t at = 0; (at = candidate.code.find("fast", at)) != candidate.code.npos; ++at) faster *= 2;
    verdict.reason = "", verdict.outcome = Outcome::certified;
    verdict.speedup["eager"] = exactly(faster);
    verdict.time_ms = 1 / faster;
    return verdict;
  }
  std::set<std::string> judged;

 private:
  Judge& inner_;
};

class FreeCode : public ::testing::TestWithParam<const char*> {};

TEST_P(FreeCode, IsSearchedJudgedAndStored) {
  World world;
  world.strategy = GetParam();
  world.request.limits = {.steps = 6, .seconds = 0, .evaluations = 40};
  FreeJudge judge(world.judge);
  FreeCoder coder;
  const auto done = world.run(judge, coder);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->program, nullptr);
  EXPECT_EQ(done->code.text, "# free  fast fast fast fast");
  EXPECT_EQ(done->answer, Answer::faster);
  EXPECT_GT(coder.asked, 0);
  const auto nodes = world.store->nodes(done->run);
  ASSERT_TRUE(nodes.ok());
  const NodeRecord* result = result_node(world.store->run(done->run).value(), *nodes);
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->program, "");
  EXPECT_EQ(result->code, done->code.text);
  EXPECT_EQ(result->rendered, "rewrite it faster");
}

// A target for which nothing is printed: the first step is free code already, wherever it begins.
TEST(FreeCodeForCuda, HasNoProgramFromTheStart) {
  World world("cuda", testing::network(), h200_hardware());
  world.strategy = "rollout";
  world.request.shell.constructor_source = "class ModelNew:\n    # mtmc: forward\n";
  world.request.shell.arguments = {"x"};
  FreeJudge judge(world.judge);
  FreeCoder coder;
  const auto done = world.run(judge, coder);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->program, nullptr);
  const auto nodes = world.store->nodes(done->run).value();
  EXPECT_EQ(nodes.front().program, "");
  EXPECT_NE(nodes.front().code.find("class ModelNew"), std::string::npos) << nodes.front().code;
  EXPECT_EQ(nodes.at(1).rendered, "rewrite it faster");
  const auto builtin = find_coder("builtin")->make(
      {.target = world.target, .hardware = world.hardware, .shell = world.request.shell, .store = *world.store});
  EXPECT_EQ(
      builtin.error().message(),
      "opening the coder builtin: it prints no kernels for this target: got cuda, wanted --coder llm, or any that "
      "writes free code; or --target triton");
}

INSTANTIATE_TEST_SUITE_P(Search, FreeCode, ::testing::Values("rollout", "beam", "tree"));

}  // namespace
}  // namespace mtmc
