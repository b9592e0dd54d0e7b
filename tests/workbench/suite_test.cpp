#include "workbench/suite.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTask = "import torch\n\n\nclass Model(torch.nn.Module):\n    pass\n";

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  ASSERT_TRUE(write_file(file, text).ok());
}

std::vector<std::string> names(const char* suite, const std::filesystem::path& root) {
  std::vector<std::string> found;
  const auto tasks = find_suite(suite)->tasks(root);
  EXPECT_TRUE(tasks.ok());
  for (const SuiteTask& task : *tasks) found.push_back(task.name);
  return found;
}

TEST(Suite, FilesAreThoseThatDefineAModel) {
  TempDir dir;
  write(dir.path() / "b.py", kTask);
  write(dir.path() / "a.py", kTask);
  write(dir.path() / "helper.py", "def Model():\n    pass\n");
  write(dir.path() / "notes.txt", kTask);
  EXPECT_THAT(names("files", dir.path()), ElementsAre("a", "b"));
  const auto tasks = find_suite("files")->tasks(dir.path());
  const Json task = Json::parse(tasks->front().task.json);
  EXPECT_EQ(task["name"], "a");
  EXPECT_EQ(task["attr"], "Model");
  EXPECT_EQ(task["file"], (dir.path() / "a.py").string());
}

TEST(Suite, KernelBenchHasLevelsAndItsNumbersAreInOrder) {
  TempDir dir;
  write(dir.path() / "KernelBench/level1/10_Pool.py", kTask);
  write(dir.path() / "KernelBench/level1/9_Matmul.py", kTask);
  write(dir.path() / "KernelBench/level2/1_Conv.py", kTask);
  EXPECT_THAT(names("kernelbench", dir.path()), ElementsAre("level1/9_Matmul", "level1/10_Pool", "level2/1_Conv"));
  EXPECT_THAT(names("kernelbench", dir.path() / "KernelBench"), ::testing::SizeIs(3)) << "that folder will do, too";
}

TEST(Suite, TritonBenchTasksHaveTwoHalves) {
  TempDir dir;
  const std::string line(146, '#');
  write(dir.path() / "data/TritonBench_T_v1/relu.py", "def relu(x): ...\n" + line + "\nrelu(1)\n");
  write(dir.path() / "data/TritonBench_T_v1/abs.py", "def abs(x): ...\n" + line + "\nabs(1)\n");
  write(dir.path() / "data/TritonBench_T_v1/other.py", "#" + line + "\n");
  EXPECT_THAT(names("tritonbench", dir.path()), ElementsAre("T/abs", "T/relu"));
}

TEST(Suite, MatmulsAreWrittenAndSayTheirSizes) {
  TempDir dir;
  EXPECT_THAT(names("matmuls", dir.path() / "new"), ElementsAre("1_square", "2_oblong", "6_long_sums", "7_short_sums",
                                                                "8_odd_sizes", "9_outer", "13_symmetric"));
  EXPECT_THAT(read_file(dir.path() / "new/6_long_sums.py").value(),
              HasSubstr("return [torch.randn(256, 131072), torch.randn(131072, 256)]"));
  const std::string file = (dir.path() / "new/1_square.py").string();
  EXPECT_THAT(find_suite("matmuls")->tasks(file).error().message(), HasSubstr(file)) << "a file is no folder";
}

TEST(Suite, AFolderWithoutTasksIsTold) {
  TempDir dir;
  for (const SuiteDef* suite : all_suites()) {
    if (suite->writes) continue;
    EXPECT_THAT(suite->tasks(dir.path()).error().message(), HasSubstr("'" + dir.path().string() + "'")) << suite->name;
  }
}

}  // namespace
}  // namespace mtmc
