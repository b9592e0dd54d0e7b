#include "workbench/function_score.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json row(bool called, bool strict, const char* reason) {
  return {{"error", nullptr},   {"golden_fails", ""},       {"excluded", nullptr}, {"called", called},
          {"executed", called}, {"reconstructed", nullptr}, {"strict", strict},    {"reason", reason}};
}

TEST(FunctionScore, CountsAndNames) {
  TaskRows rows = {{"T/a", row(true, true, "")},
                   {"T/b", row(true, false, "call 1: 3 elements differ")},
                   {"T/c", row(false, false, "cannot be traced")},
                   {"T/d", row(true, false, "its signs")},
                   {"T/e", row(false, false, "")}};
  rows["T/a"].update(Json{{"certified", true}, {"speedup", {{"eager", 4.0}}}});
  rows["T/d"].update(Json{{"excluded", "not unique"}, {"reconstructed", true}});
  rows["T/e"].update(Json{{"golden_fails", "no such operator"}});
  const std::string table = function_table(rows);
  EXPECT_THAT(table, HasSubstr("| golden code that runs here | 4 of 5 (80.0 %) |"));
  EXPECT_THAT(table, HasSubstr("| call accuracy (official) | 3 of 5 (60.0 %) |"));
  EXPECT_THAT(table, HasSubstr("| strict accuracy, without the excluded | 1 of 4 (25.0 %) |"));
  EXPECT_THAT(table, HasSubstr("| factors that are not unique, by reconstruction | 1 of 1 (100.0 %) |"));
  EXPECT_THAT(table, HasSubstr("| over eager, geometric mean | 4.00 (mean 4.00, over all tasks 0.80; 1 tasks) |"));
  EXPECT_THAT(table, HasSubstr("### Not called\n\n- `T/c`: cannot be traced\n"));
  EXPECT_THAT(table, HasSubstr("### Called, and not strictly right\n\n- `T/b`: call 1: 3 elements differ\n"));
  EXPECT_THAT(table, HasSubstr("### Golden code that does not run here\n\n- `T/e`: no such operator\n"));
  EXPECT_THAT(table, Not(HasSubstr("its signs")));
}

TEST(FunctionScore, SizesAreNamedAndOnlyTheBenchmarksRuleDropsExtremes) {
  TaskRows rows;
  for (const auto& [task, speedup] : {std::pair("T/a", 0.05), {"T/b", 2.0}, {"T/c", 4.0}, {"T/d", 40.0}}) {
    rows[task] = row(true, true, "");
    rows[task].update(Json{{"certified", true}, {"sizes", "performance"}, {"speedup", {{"eager", speedup}}}});
  }
  rows["T/b"]["left_out"] = "2 of 16 sizes, which take more than 64 bytes";
  rows["T/a"]["roofline_share"] = 0.1, rows["T/b"]["roofline_share"] = 0.3, rows["T/c"]["roofline_share"] = 0.8;
  rows["T/d"]["roofline_share"] = nullptr;
  const std::string table = function_table(rows);
  EXPECT_THAT(table,
              HasSubstr("| efficiency at performance sizes, median share of this device's own roofline | 30 % (3 "
                        "tasks) |"));
  EXPECT_THAT(table, HasSubstr("| strict accuracy at performance sizes, without the excluded | 4 of 4 (100.0 %) |"));
  EXPECT_THAT(table, HasSubstr("| sizes left out for the memory that they take | 1 of 4 (25.0 %) |"));
  EXPECT_THAT(table, HasSubstr("| over eager at performance sizes, geometric mean | 2.00 (mean 11.51, over all"));
  EXPECT_THAT(table, HasSubstr("mean of those between 0.1 and 10 | 3.00 (2 of 4 tasks) |"));
  for (auto& [task, one] : rows) one["sizes"] = "tests";
  EXPECT_THAT(function_table(rows), Not(HasSubstr("sizes")));
}

TEST(FunctionScore, InstructionsAreNeitherCertifiedNorTimed) {
  TaskRows rows = {{"G/a", row(true, true, "")}, {"G/b", row(false, false, "NameError")}};
  for (auto& [task, one] : rows) one["goldens"] = false;
  const std::string table = function_table(rows);
  EXPECT_THAT(table, HasSubstr("| strict accuracy, without the excluded | 1 of 2 (50.0 %) |"));
  for (const char* what : {"certified", "over eager", "efficiency", "reconstruction"})
    EXPECT_THAT(table, Not(HasSubstr(what)));
}

TEST(FunctionScore, InstructionsAreTimedBesideTheirGoldenCode) {
  TaskRows rows;
  for (const auto& [task, speedup, reached] :
       {std::tuple("G/a", 0.5, 0.2), {"G/b", 2.0, 0.4}, {"G/c", 4.0, 1.25}, {"G/d", 16.0, 0.3}}) {
    rows[task] = row(true, true, "");
    rows[task].update(Json{{"goldens", false},
                           {"sizes", "performance"},
                           {"strict_at_sizes", true},
                           {"untimed", ""},
                           {"measured", Json::array()},
                           {"efficiency", reached},
                           {"golden_efficiency", 0.1},
                           {"speedup", {{"eager", nullptr}, {"golden", speedup}}}});
  }
  rows["G/e"] = rows["G/a"];
  rows["G/e"].update(
      Json{{"strict_at_sizes", false}, {"untimed", "size 3: 1 of 4 elements differ"}, {"left_out", "2 of 16 sizes"}});
  rows["G/a"]["measured"] = {{{"place", 7}, {"golden_fails", "out of memory"}}, {{"place", 6}, {"golden_fails", ""}}};
  rows["G/f"] = row(false, false, "NameError");
  rows["G/f"].update(Json{{"goldens", false}, {"strict_at_sizes", nullptr}, {"untimed", "it is not strictly right"}});
  const std::string table = function_table(rows);
  EXPECT_THAT(table, HasSubstr("| strict accuracy, without the excluded | 5 of 6 (83.3 %) |")) << "by its tests";
  EXPECT_THAT(table, HasSubstr("| strict at performance sizes, too | 4 of 5 (80.0 %) |"));
  EXPECT_THAT(table, HasSubstr("| over the golden code at performance sizes, geometric mean | 2.83 (mean 5.62; 4 "
                               "tasks) |"));
  EXPECT_THAT(table, HasSubstr("median share of this device's own peaks | 35.0 % (4 tasks) |"));
  EXPECT_THAT(table, HasSubstr("| the golden code's, median | 10.0 % (4 tasks) |"));
  EXPECT_THAT(table, HasSubstr("below 100 % efficient | 1.25, efficiency 30.0 % (2 of 4 tasks) |"));
  EXPECT_THAT(table, HasSubstr("### Without a time\n\n- `G/a`: size 7: golden code: out of memory\n"
                               "- `G/e`: size 3: 1 of 4 elements differ; left out: 2 of 16 sizes\n"));
  EXPECT_THAT(table, Not(HasSubstr("over eager")));
}

TEST(FunctionScore, RowsOfOthersCountAsNothing) {
  const std::string table =
      function_table({{"T/a", Json{{"error", "died"}}}, {"T/b", Json{{"error", nullptr}, {"called", 1}}}});
  EXPECT_THAT(table, HasSubstr("| call accuracy (official) | 0 of 2 (0.0 %) |"));
  EXPECT_THAT(table, HasSubstr("- `T/a`: died\n"));
}

}  // namespace
}  // namespace mtmc
