#include "cli/summary.h"

#include <gtest/gtest.h>

namespace mtmc {
namespace {

NodeRecord attempt(const Speedup& eager, Tier tier = Tier::screen) {
  NodeRecord node;
  node.step = 1, node.rendered = "fuse linear and gelu in lines 31-47", node.code = "code";
  Verdict verdict;
  verdict.tier = tier, verdict.outcome = Outcome::certified, verdict.speedup["eager"] = eager;
  (tier == Tier::screen ? node.screen : node.certify) = verdict;
  return node;
}

TEST(Summary, AnAttemptIsToldByItsHeadline) {
  EXPECT_EQ(outcome_text(attempt({1.82, 1.80, 1.84})), "1.82x eager");
  EXPECT_EQ(outcome_text(attempt({1.82, 1.60, 1.90}, Tier::certify)), "certified, at least 1.60x eager");
  EXPECT_EQ(outcome_text(attempt({35.67, 2, 51.7})), "faster, but this machine was too busy to say by how much");
  EXPECT_EQ(outcome_text(attempt({35.67, 0.17, 51.7})), "this machine was too busy to compare it with eager");
  NodeRecord estimate = attempt({1.82, 1.82, 1.82}, Tier::certify);
  estimate.certify->evaluator = "cost-1";
  EXPECT_EQ(outcome_text(estimate), "1.82x eager, estimated");
}

TEST(Summary, TheLastLineNamesEveryBaselineThatHasAFigure) {
  Verdict verdict;
  verdict.speedup = {{"eager", {4.3, 4.25, 4.35}}, {"compile", {3.7, 3.4, 3.9}}, {"graph", {2, 0.1, 9}}};
  EXPECT_EQ(gains_text(verdict), "4.30x eager, at least 3.40x torch.compile");
  verdict.speedup["eager"] = {35.67, 2, 51.7};
  EXPECT_EQ(gains_text(verdict), "faster, but this machine was too busy to say by how much");
}

}  // namespace
}  // namespace mtmc
