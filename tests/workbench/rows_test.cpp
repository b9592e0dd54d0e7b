#include "workbench/rows.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

using ::testing::HasSubstr;

const SuiteTask kRelu{"level1/19_ReLU", {"19_ReLU", "{}"}};
const SuiteTask kGelu{"level1/26_GELU", {"26_GELU", "{}"}};

TEST(Rows, CarryTheResultUnderTheSuitesName) {
  const Json row = row_of("kernelbench", kRelu, {{"task", "19_ReLU"}, {"answer", "faster"}});
  EXPECT_EQ(row["suite"], "kernelbench");
  EXPECT_EQ(row["task"], "level1/19_ReLU");
  EXPECT_EQ(row["answer"], "faster");
  EXPECT_TRUE(row["error"].is_null());
}

TEST(Rows, AreKeptAndTheLastOneOfATaskCounts) {
  TempDir dir;
  const auto file = dir.path() / "rows.jsonl";
  RowFile rows = RowFile::open(file).value();
  EXPECT_FALSE(rows.finished(kRelu.name));
  ASSERT_TRUE(rows.append(failed_row("s", kRelu, {"tracing 19_ReLU", "it took too long", "", ""})).ok());
  EXPECT_FALSE(rows.finished(kRelu.name)) << "what failed is tried again";
  ASSERT_TRUE(rows.append(row_of("s", kRelu, {{"answer", "faster"}})).ok());
  ASSERT_TRUE(rows.append(row_of("s", kGelu, {{"answer", "not-faster"}})).ok());
  const RowFile again = RowFile::open(file).value();
  EXPECT_TRUE(again.finished(kRelu.name));
  EXPECT_EQ(again.rows().at(kGelu.name)["answer"], "not-faster");
  EXPECT_EQ(again.rows().size(), 2u);
}

TEST(Rows, ALineThatWasCutOffIsTakenAway) {
  TempDir dir;
  const auto file = dir.path() / "rows.jsonl";
  ASSERT_TRUE(RowFile::open(file).value().append(row_of("s", kRelu, Json::object())).ok());
  std::ofstream(file, std::ios::app) << R"({"suite":"s","task":"level1/2)";
  RowFile rows = RowFile::open(file).value();
  EXPECT_EQ(rows.rows().size(), 1u);
  ASSERT_TRUE(rows.append(row_of("s", kGelu, Json::object())).ok());
  EXPECT_EQ(RowFile::open(file).value().rows().size(), 2u);
}

TEST(Rows, AnotherFileIsNotTouched) {
  TempDir dir;
  const auto file = dir.path() / "notes.txt";
  ASSERT_TRUE(write_file(file, "my notes\n").ok());
  EXPECT_THAT(RowFile::open(file).error().message(), HasSubstr("a line is no row: got 'my notes'"));
}

}  // namespace
}  // namespace mtmc
