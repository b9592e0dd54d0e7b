// The untouched start: every recorded trace printed as it was imported, run beside the module it came from.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/check.h"
#include "base/file.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "frontend/trace.h"
#include "support/golden.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

std::string python() {
  setenv("PYTHONPATH", (source_dir() + "/python").c_str(), 0);
  const char* chosen = std::getenv("MTMC_PYTHON");
  return chosen && *chosen ? chosen : "python3";
}

TEST(TorchUntouched, ComputesWhatEagerComputes) {
  const Json traces = Json::parse(*read_file(source_dir() + "/tests/frontend/traces.json"));
  const TempDir folder;
  for (const auto& [name, entry] : traces.items()) {
    const auto traced = import_trace(entry.at("trace"));
    ASSERT_TRUE(traced.ok()) << traced.error().message();
    const auto code = find_target("cpu")->emit(traced->program, Hardware{}, traced->shell);
    ASSERT_TRUE(code.ok()) << code.error().message();
    ASSERT_TRUE(write_file(folder.path() / (name + ".py"), entry.at("source").get<std::string>()).ok());
    ASSERT_TRUE(write_file(folder.path() / (name + ".kernel.py"), code->text).ok());
  }
  const auto done = run({{python(), source_dir() + "/tests/frontend/compare.py", folder.path().string()}, {}, {}, 300});
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(done->exit_code, 0) << done->out << done->err;
  EXPECT_NE(done->out.find(std::to_string(traces.size()) + " agree"), std::string::npos) << done->out;
}

TEST(TorchTrace, FromAFileToItsGoldenProgram) {
  const Json task = {{"name", "rms_norm_residual"}, {"file", source_dir() + "/examples/rms_norm_residual.py"}};
  (void)python();
  const auto traced = trace(task.dump());
  ASSERT_TRUE(traced.ok()) << traced.error().message();
  expect_golden("frontend/golden/rms_norm_residual.t", print(traced->program));
}

TEST(TorchTrace, WhatCannotBeTracedIsRefusedWithTheLine) {
  (void)python();
  const TempDir folder;
  const auto file = folder.path() / "branch.py";
  ASSERT_TRUE(write_file(file,
                         "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x if "
                         "x.sum() > 0 else -x\n"
                         "def get_inputs(): return [torch.ones(2)]\n")
                  .ok());
  const auto traced = trace(Json{{"name", "branch"}, {"file", file.string()}}.dump());
  ASSERT_FALSE(traced.ok());
  EXPECT_EQ(traced.error().doing, "tracing branch");
  EXPECT_EQ(traced.error().got, "branch.py:4: return x if x.sum() > 0 else -x");
}

Json task_of(const std::filesystem::path& folder, const std::string& name, const std::string& forward) {
  const auto file = folder / (name + ".py");
  const std::string text = "import os, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        " +
                           forward + "\ndef get_inputs(): return [torch.ones(2)]\n";
  MTMC_CHECK(write_file(file, text).ok(), "cannot write " + file.string());
  return {{"name", name}, {"file", file.string()}};
}

TEST(TorchTrace, ProcessesThatWaitAnswerAsNewOnesDo) {
  (void)python();
  const TempDir folder;
  Tracer tracer;
  for (const auto& [name, forward] :
       {std::pair("one", "return x + 1"), std::pair("branch", "return x if x.sum() > 0 else -x"),
        std::pair("ends", "os._exit(7)")}) {
    const std::string task = task_of(folder.path(), name, forward).dump();
    tracer.begin_next();
    if (std::string(name) == "ends") {  // a fault of the tracer's, as far as it can tell
      EXPECT_ANY_THROW((void)tracer.trace(task));
      continue;
    }
    const auto waited = tracer.trace(task), alone = trace(task);
    ASSERT_EQ(alone.ok(), waited.ok()) << name;
    if (!alone.ok()) {
      EXPECT_EQ(alone.error().message(), waited.error().message());
    }
    if (alone.ok()) {
      EXPECT_EQ(print(alone->program), print(waited->program));
    }
  }
}

TEST(TorchTrace, WhatWasForeseenIsFoundAndWhatWasNotIsTraced) {
  (void)python();
  const TempDir folder;
  const std::string one = task_of(folder.path(), "one", "return x + 1").dump(),
                    seen = (folder.path() / "seen").string(),
                    two = task_of(folder.path(), "two", "open('" + seen + "', 'w').close(); return x * 2").dump(),
                    other = task_of(folder.path(), "other", "return x - 3").dump();
  Tracer tracer;
  tracer.begin_next();
  ASSERT_TRUE(tracer.trace(one).ok());
  tracer.foresee(two);
  tracer.foresee(two);
  for (int i = 0; i < 1200 && !std::filesystem::exists(seen); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(std::filesystem::exists(seen)) << "nobody has begun with it";
  for (const auto& [task, operation] : {std::pair(other, "sub("), std::pair(two, "mul(")}) {
    tracer.begin_next();
    const auto traced = tracer.trace(task);
    ASSERT_TRUE(traced.ok());
    EXPECT_NE(print(traced->program).find(operation), std::string::npos) << print(traced->program);
  }
}

TEST(TorchTrace, MissingInterpreterAndMissingPackage) {
  const char* before = std::getenv("MTMC_PYTHON");
  const std::string kept = before ? before : "python3";
  setenv("MTMC_PYTHON", "/no/such/python", 1);
  const auto traced = trace(R"({"name": "m"})");
  setenv("MTMC_PYTHON", kept.c_str(), 1);
  ASSERT_FALSE(traced.ok());
  EXPECT_NE(traced.error().message().find("/no/such/python"), std::string::npos) << traced.error().message();
}

}  // namespace
}  // namespace mtmc
