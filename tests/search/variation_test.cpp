// Variations one by one: what each makes of an island's states.
#include "search/variation.h"

#include "search/islet.h"

namespace mtmc {
namespace {

using testing::Islet;

// Writes a number; keeps what it was asked with.
class NumberCoder final : public Coder {
 public:
  explicit NumberCoder(bool crosses) : crosses_(crosses) {}
  std::string name() const override { return "numbers"; }
  bool chooses() const override { return true; }
  bool crosses() const override { return crosses_; }
  Result<Implementation> implement(const CoderRequest& request) override {
    partners += request.partner != nullptr;
    if (request.partner != nullptr) {
      EXPECT_NE(request.partner->state.code.text, request.state.code.text);
    }
    return Implementation{nullptr, Code{.text = "# " + std::to_string(++written)}, ""};
  }
  Result<std::vector<Proposal>> proposals(const CodeState&, const std::vector<Proposal>&) override {
    std::vector<Proposal> all;
    for (const char* which : {"1", "2", "3", "4"}) all.push_back({{"rewrite", {}, which}, "rewrite"});
    return all;
  }
  int written = 0, partners = 0;

 private:
  bool crosses_;
};

// All numbers are right.
class KindJudge final : public Judge {
 public:
  Result<Verdict> judge(const Task&, const Candidate&, Tier tier) override {
    Verdict verdict;
    verdict.tier = tier, verdict.outcome = Outcome::certified, verdict.time_ms = 1;
    verdict.speedup["eager"] = exactly(1.5);
    return verdict;
  }
};

TEST(Variation, SharesAndNamesAreSane) {
  for (const VariationDef* def : all_variations()) {
    EXPECT_EQ(find_variation(def->name), def);
    EXPECT_GT(def->share, 0) << def->name;
  }
  EXPECT_EQ(find_variation("magic"), nullptr);
}

TEST(Variation, SchedulesGrowCrossAndLose) {
  Islet islet;
  SearchNode& start = islet.shared.start;
  EXPECT_TRUE(islet.can("grow", start));
  EXPECT_FALSE(islet.can("cross", start) || islet.can("lose", start) || islet.can("agent", start));
  ASSERT_TRUE(islet.vary("grow", start).ok());
  ASSERT_TRUE(islet.vary("grow", *islet.island.states().back()).ok());
  SearchNode& grown = *islet.island.states().back();
  ASSERT_EQ(grown.step, 2);
  EXPECT_TRUE(islet.can("lose", grown) && islet.can("cross", grown));
  ASSERT_TRUE(islet.vary("lose", grown).ok());
  EXPECT_LE(islet.environment.nodes().back().step, 2);
  const size_t before = islet.environment.nodes().size();
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(islet.vary("grow", start).ok());
    ASSERT_TRUE(islet.vary("cross", islet.island.drawn()).ok());
  }
  int crossed = 0;
  for (size_t i = before; i < islet.environment.nodes().size(); ++i)
    crossed += islet.environment.nodes()[i].partner != nullptr;
  EXPECT_GT(crossed, 0);
}

TEST(Variation, AnAgentIsAskedForWhateverItLikesAndShownASecondParent) {
  KindJudge judge;
  for (const bool crosses : {true, false}) {
    NumberCoder coder(crosses);
    Islet islet(&coder, &judge);
    SearchNode& start = islet.shared.start;
    EXPECT_TRUE(islet.can("agent", start));
    EXPECT_FALSE(islet.can("grow", start) || islet.can("cross", start) || islet.can("lose", start));
    for (int i = 0; i < 16; ++i) ASSERT_TRUE(islet.vary("agent", islet.island.drawn()).ok());
    EXPECT_GT(coder.written, 8);
    EXPECT_EQ(coder.partners > 0, crosses);
    int kept = 0;
    for (const SearchNode& node : islet.environment.nodes()) kept += node.partner != nullptr;
    EXPECT_EQ(kept, coder.partners);
  }
}

TEST(Variation, AnIslandKeepsTheMostPromising) {
  Islet islet;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(islet.vary("grow", islet.shared.start).ok());
  ASSERT_GT(islet.island.states().size(), 2u);
  islet.island.join(islet.shared.start);
  islet.island.select(2);
  ASSERT_EQ(islet.island.states().size(), 2u);
  EXPECT_GE(islet.environment.promise(*islet.island.states()[0]), islet.environment.promise(*islet.island.states()[1]));
}

}  // namespace
}  // namespace mtmc
