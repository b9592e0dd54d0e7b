#include "eval/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mtmc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Evidence, a_refusal_names_its_reason_first) {
  Verdict v;
  v.stage = "correctness", v.reason = "input-modified", v.message = "argument 0 was changed", v.sandbox = "namespaces";
  const std::string text = render_evidence(v);
  EXPECT_THAT(text, StartsWith("refused: input-modified at the stage correctness\n  argument 0 was changed"));
  EXPECT_THAT(text, HasSubstr("sandbox: namespaces"));
}

TEST(Evidence, a_verdict_shows_the_worst_error_and_the_times) {
  Verdict v;
  v.outcome = Outcome::certified, v.accuracy_class = "fp32", v.draws = {"task-0", "negative-0"};
  v.errors = {{"task-0", "0", 1e-7, 1e-6, 0, 0, 2e-7, true, ""}, {"negative-0", "0", 5e-7, 1e-6, 0, 0, 2e-7, true, ""}};
  v.times["candidate"] = {{1, 1}, 1, 0}, v.times["eager"] = {{2, 2}, 2, 0}, v.speedup["eager"] = {2, 1.75, 2.25};
  const std::string text = render_evidence(v);
  EXPECT_THAT(text, StartsWith("passed the screen: as exact as fp32"));
  EXPECT_THAT(text, HasSubstr("2 calls measured, worst relative error 5e-07 on negative-0"));
  EXPECT_THAT(text, HasSubstr("2.00 times (1.75 to 2.25)"));
  EXPECT_THAT(text, HasSubstr("95 % interval"));
  EXPECT_THAT(text, HasSubstr("in short: at least 1.75x eager"));
  EXPECT_THAT(text, HasSubstr("certified: only screened"));
  v.tier = Tier::certify;
  EXPECT_THAT(render_evidence(v), StartsWith("certified: as exact as fp32"));
  EXPECT_THAT(render_evidence(v), HasSubstr("certified: yes"));
}

TEST(Evidence, AnEstimateIsNoCertificate) {
  Verdict v;
  v.outcome = Outcome::certified, v.evaluator = "cost-1", v.official = true;
  v.times["candidate"] = {{1}, 1, 0}, v.times["eager"] = {{2}, 2, 0}, v.speedup["eager"] = {2, 2, 2};
  const std::string text = render_evidence(v);
  EXPECT_EQ(text, "estimated by the cost model: no code was run\nin short: 2.00x eager");
}

TEST(Evidence, a_profile_names_what_takes_the_time) {
  Verdict v;
  v.kernel_shares = {{"gemm", 0.25}, {"fused_gelu", 0.7}, {"fill", 0.001}};
  const std::vector<std::string> lines = profile_lines(v);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "   70.0 %  fused_gelu");
  EXPECT_THAT(render_evidence(v), HasSubstr("25.0 %  gemm"));
  EXPECT_TRUE(profile_lines(Verdict()).empty());
}

TEST(Evidence, WordsOfACandidateMoveNoCursor) {
  EXPECT_EQ(without_controls("\r\x1b[1A\x1b[2Kcertified\x7f\xc2\x9b"), "??[1A?[2Kcertified???");
  EXPECT_EQ(without_controls("0.3 \xc2\xb5s\n\tin two lines"), "0.3 \xc2\xb5s\n\tin two lines");
}

}  // namespace
}  // namespace mtmc
