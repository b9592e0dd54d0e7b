// Text for the terminal: the tree of a run, the differences between two.
#include "report/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/sample_report.h"

namespace mtmc {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Tables, ColumnsLineUpByCharacters) {
  EXPECT_EQ(table({{"a", "b"}, {"2.38×", "x"}, {"–", "long"}}), "a      b\n2.38×  x\n–      long");
}

TEST(Tables, TheTreeOfARun) {
  EXPECT_EQ(tree_table(sample_report(), false),
            R"(  node   eager
     1   0.99×  ● start
     2   0.67×  ├─○ lower linear in line 34
     3   0.80×  ├─○ lower linear in line 35
     5   0.98×  ├─○ capture all kernels
     4   1.27×  ○ lower gelu in line 34
     6   1.29×  ├─○ tile gelu in lines 11-27
     7          ├─· fuse gelu and linear in lines 11-35  no code
     8          ├─✗ precision linear in line 34  precision
     9          │ ✗ fuse linear and gelu in lines 11-34  wrong-result
    10   1.86×  ○ fuse linear and gelu in lines 11-34
    11   1.79×  ├─○ pipeline linear and gelu in lines 11-27
    12          ├─✗ split linear in line 35  timed-out
    13   2.38×  ● tile linear and gelu in lines 11-27  certified, the result
    15          ├─✗ lower linear in line 36  compile-error
    14   2.19×  ○ reorder linear in line 36)");
  EXPECT_THAT(tree_table(sample_report(), true), HasSubstr("\x1b[31m✗\x1b[0m"));
}

TEST(Tables, WhatIsCrossedNamesItsOtherParent) {
  ReportData data = sample_report();
  data.nodes[4].partner = 2;
  EXPECT_THAT(tree_table(data, false), HasSubstr("capture all kernels, from node 2\n"));
}

TEST(Tables, ARunDiffersInNothingFromItself) {
  const std::string text = difference_table(sample_report(), sample_report());
  EXPECT_THAT(text, Not(HasSubstr("≠")));
  EXPECT_THAT(text, HasSubstr("codes in both runs: 14, only in run 1: 0, only in run 1: 0"));
  EXPECT_THAT(text, Not(HasSubstr("two verdicts")));
}

TEST(Tables, TwoRunsDiffer) {
  const ReportData a = sample_report();
  ReportData b = sample_report();
  b.run.id = 2;
  b.run.options = R"({"actions":"all","coder":"builtin","policy":"random","strategy":"beam","steps":8,"width":4})";
  b.nodes.resize(10);
  b.best = 10;
  b.nodes[1].screen->outcome = Outcome::refused, b.nodes[1].screen->reason = "nondeterministic";
  const std::string text = difference_table(a, b);
  EXPECT_THAT(text, testing::ContainsRegex("option policy +greedy +random +≠"));
  EXPECT_THAT(text, testing::ContainsRegex("step 3 +tile %4 %5 +– +≠"));
  EXPECT_THAT(text, testing::ContainsRegex("step 2 +fuse %4 %5 +fuse %4 %5\n"));
  EXPECT_THAT(text, HasSubstr("the same code, two verdicts: node 2 passed screen, node 2 nondeterministic"));
}

}  // namespace
}  // namespace mtmc
