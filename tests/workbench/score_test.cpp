#include "workbench/score.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json certified(double over_eager, double low, double high, double over_compile = 1.0) {
  return {{"error", nullptr},
          {"certified", true},
          {"degenerate", false},
          {"official", true},
          {"legacy", true},
          {"answer", over_eager > 1 ? "faster" : "not-faster"},
          {"speedup", {{"eager", over_eager}, {"compile", over_compile}}},
          {"speedup_interval", {{"eager", {{"low", low}, {"high", high}}}}},
          {"roofline_share", 0.5},
          {"own_kernel_share", 1.0},
          {"rewrites", Json::array()},
          {"evaluations", 7},
          {"seconds", 3.5}};
}

Json failed() { return {{"error", "it took too long"}}; }

Json with(Json row, const char* field, const Json& value) {
  row[field] = value;
  return row;
}

Json refused(const char* reason) {
  return {{"error", nullptr}, {"certified", false}, {"refusal", {{"reason", reason}, {"message", "so"}}}};
}

Json at_roofline(Json row) {
  row["roofline_ms"] = 1.0, row["times"] = {{"eager", {{"median_ms", 1.05}}}};
  return row;
}

TEST(Score, CountsWhatIsCertifiedAndHowFast) {
  const TaskRows rows = {{"level1/1_a", certified(4, 3, 5, 2)},
                         {"level1/2_b", at_roofline(certified(1, 0.9, 1.1, 0.5))},
                         {"level1/3_c", failed()},
                         {"level1/4_d", with(certified(9, 8, 10), "degenerate", true)},
                         {"level1/5_e", refused("ill-conditioned")}};
  const std::string table = score_table(rows);
  EXPECT_THAT(table, HasSubstr("| | level1 |\n| --- | ---: |\n| tasks | 5 |\n| failed | 1 |\n"));
  EXPECT_THAT(
      table,
      HasSubstr(
          "| degenerate, ill-conditioned (left out below) | 1, 1 |\n| certified | 2 |\n| official, legacy | 2, 2 |\n"));
  EXPECT_THAT(table, HasSubstr("| fast_0 | 67 % |"));
  EXPECT_THAT(table, HasSubstr("| fast_0.8 | 67 % |\n| fast_1 | 33 % |")) << "1.00x is not faster";
  EXPECT_THAT(table, HasSubstr("| fast_1 beyond noise | 33 % |"));
  EXPECT_THAT(table, HasSubstr("| the same, where eager is not within 1.1 of the roofline | 50 % |"));
  EXPECT_THAT(table, HasSubstr("| over eager, geometric mean | 2.00 (mean 2.50, median 2.50; 2 tasks) |"));
  EXPECT_THAT(table, HasSubstr("| over torch.compile | 1.00 (mean 1.25, median 1.25; 2 tasks) |"));
  EXPECT_THAT(table, HasSubstr("| over eager, degenerate tasks too | 3.30 (mean 4.67, median 4.00; 3 tasks) |"));
  EXPECT_THAT(table, HasSubstr("| candidates judged | 21 |")) << "of the degenerate one, too";
}

TEST(Score, HasAColumnForEachLevelAndOneForAll) {
  const TaskRows rows = {{"level1/1_a", certified(2, 1.9, 2.1)},
                         {"level2/1_a", with(certified(8, 7, 9), "rewrites", Json::array({"a product left out"}))}};
  const std::string table = score_table(rows);
  EXPECT_THAT(table, HasSubstr("| | level1 | level2 | all |"));
  EXPECT_THAT(table, HasSubstr("| tasks | 1 | 1 | 2 |"));
  EXPECT_THAT(table, HasSubstr("| over eager, graph not rewritten | 2.00 (mean 2.00, median 2.00; 1 tasks) |  | 2.00"));
  EXPECT_THAT(score_table({{"one", certified(2, 1, 3)}}), HasSubstr("| | all |")) << "a suite without levels";
}

TEST(Score, WhatWasNotMeasuredIsNoFigure) {
  Json row = certified(2, 1.9, 2.1);
  row["speedup"] = {{"eager", nullptr}, {"compile", nullptr}}, row["speedup_interval"] = Json::object();
  const std::string table = score_table({{"one", row}});
  EXPECT_THAT(table, HasSubstr("| certified | 1 |"));
  EXPECT_THAT(table, HasSubstr("| fast_0 | 100 % |\n| fast_0.5 | 0 % |")) << "right, and nobody knows how fast";
  EXPECT_THAT(table, HasSubstr("| over eager, geometric mean |  |"));
}

TEST(Score, FieldsOfAnotherKindCountAsMissing) {
  const Json row = {{"error", nullptr}, {"certified", "yes"}, {"speedup", 3}, {"speedup_interval", nullptr}};
  EXPECT_THAT(score_table({{"one", row}}), HasSubstr("| certified | 0 |"));
  EXPECT_EQ(compare({{"one", row}}, {{"one", with(row, "certified", true)}}).differences.size(), 1u);
}

TEST(Comparison, AChangeIsWhatLiesBeyondBothIntervals) {
  const TaskRows before = {{"a", certified(2, 1.8, 2.2)}, {"b", certified(2, 1.8, 2.2)}, {"c", certified(2, 1.8, 2.2)}};
  const TaskRows after = {
      {"a", certified(4, 3.6, 4.4)}, {"b", certified(2.3, 2.1, 2.5)}, {"c", certified(1, 0.9, 1.1)}};
  const Comparison found = compare(before, after);
  ASSERT_EQ(found.differences.size(), 2u);
  EXPECT_EQ(found.differences[0].task, "a");
  EXPECT_EQ(found.differences[0].change, Change::faster);
  EXPECT_EQ(found.differences[0].before + " " + found.differences[0].after, "2.00x 4.00x");
  EXPECT_EQ(found.differences[1].change, Change::slower);
  EXPECT_EQ(found.alike, 1);
  EXPECT_EQ(found.in_both, 3);
  EXPECT_NEAR(found.ratio, std::cbrt(2.3 / 2), 1e-9);
}

TEST(Comparison, FailuresAndCertificatesAreChangesToo) {
  const Json refused = with(certified(2, 1, 3), "certified", false);
  const TaskRows before = {
      {"a", failed()}, {"b", refused}, {"c", certified(2, 1, 3)}, {"d", failed()}, {"f", failed()}};
  const TaskRows after = {{"a", refused}, {"b", certified(2, 1, 3)}, {"c", refused}, {"e", failed()}, {"f", failed()}};
  std::map<std::string, Change> changes;
  const Comparison found = compare(before, after);
  for (const Difference& one : found.differences) changes[one.task] = one.change;
  EXPECT_EQ(changes, (std::map<std::string, Change>{{"a", Change::works},
                                                    {"b", Change::certified},
                                                    {"c", Change::lost},
                                                    {"d", Change::gone},
                                                    {"e", Change::added}}));
  EXPECT_EQ(found.alike, 1) << "what fails in both";
  EXPECT_EQ(found.in_both, 0);
}

}  // namespace
}  // namespace mtmc
