#include "cli/task_options.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/tempdir.h"

namespace mtmc {
namespace {

Json json_of(const TaskOptions& options) {
  const auto task = options.task();
  EXPECT_TRUE(task.ok()) << task.error().message();
  return Json::parse(task->json);
}

TEST(TaskOptions, AFileHoldsModel) {
  const TempDir folder;
  const auto file = folder.path() / "net.py";
  ASSERT_TRUE(write_file(file, "").ok());
  const Json task = json_of({.target = file.string()});
  EXPECT_EQ(task.at("file"), file.string());
  EXPECT_EQ(task.at("attr"), "Model");
  EXPECT_EQ(task.at("name"), "net");
  EXPECT_FALSE(task.contains("init_args"));
  EXPECT_FALSE(task.contains("mode"));
}

TEST(TaskOptions, ANamedClassWithArguments) {
  const TempDir folder;
  const auto file = folder.path() / "net.py";
  ASSERT_TRUE(write_file(file, "").ok());
  const Json task = json_of({.target = file.string() + ":Encoder",
                             .init = {"64", "0.5", "gelu", "hidden=128", "wide=true", "bias=False", "cap=None"},
                             .inputs = {"f32[64,512]", "3", "mask=bool[64]", "scale=0.5"},
                             .eval = true});
  EXPECT_EQ(task.at("attr"), "Encoder");
  EXPECT_EQ(task.at("name"), "net:Encoder");
  EXPECT_EQ(task.at("init_args"), Json::parse(R"([64, 0.5, "gelu"])"));
  EXPECT_EQ(task.at("init_kwargs"), Json::parse(R"({"hidden": 128, "wide": true, "bias": false, "cap": null})"));
  EXPECT_EQ(task.at("inputs"), Json::parse(R"(["f32[64,512]", 3])"));
  EXPECT_EQ(task.at("named_inputs"), Json::parse(R"({"mask": "bool[64]", "scale": 0.5})"));
  EXPECT_EQ(task.at("mode"), "eval");
}

TEST(TaskOptions, AModuleIsSearchedFromHere) {
  const Json task = json_of({.target = "torch.nn:Linear", .init = {"4", "8"}});
  EXPECT_EQ(task.at("module"), "torch.nn");
  EXPECT_EQ(task.at("attr"), "Linear");
  EXPECT_EQ(task.at("path"), std::filesystem::current_path().string());
}

TEST(TaskOptions, SaysWhatIsWrong) {
  const auto message = [](const TaskOptions& options) { return options.task().error().message(); };
  EXPECT_EQ(message({.target = "/no/such.py"}),
            "opening the task: no such file: got '/no/such.py', wanted a Python file, FILE.py:NAME or "
            "package.module:NAME");
  EXPECT_EQ(message({.target = "nothing"}),
            "opening the task: neither a file nor a module's class: got 'nothing', wanted FILE.py, FILE.py:NAME or "
            "package.module:NAME");
  EXPECT_EQ(message({.target = "/tmp"}), "opening the task: not a file: got '/tmp', wanted a Python file");
  EXPECT_EQ(message({.target = "torch.nn:Linear", .train = true, .eval = true}),
            "opening the task: --train and --eval contradict each other: got both, wanted one of them");
  EXPECT_EQ(message({.target = "torch.nn:Linear", .weights = "/no/such.pt"}),
            "opening the task: no such checkpoint: got '/no/such.pt', wanted a file written by torch.save(state_dict)");
}

}  // namespace
}  // namespace mtmc
