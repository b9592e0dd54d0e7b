// What tests of the judge with real processes share: a small task, candidates for it, and a judge of them.
#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/file.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "eval/process_judge.h"

namespace mtmc {

inline constexpr const char* kModule = R"(
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 8)
    def forward(self, x):
        return torch.relu(self.linear(x))
def get_inputs():
    return [torch.randn(16, 32)]
def get_init_inputs():
    return [32]
)";

// A kernel file for it: `body` is its forward, `before` stands in front of the class.
inline std::string candidate(const std::string& body, const std::string& before = "") {
  return "import os, signal, subprocess, sys, time\nimport torch\n" + before + R"(
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 8)
    def forward(self, x):
)" + indent(body, 8) +
         "\n";
}

inline const std::string kGood = candidate("return self.linear(x).clamp_min(0)");

// The tests of a suite run in one process, and share a judge where they need no other.
class TorchJudge : public testing::Test {
 protected:
  static void TearDownTestSuite() { shared().reset(); }

  void SetUp() override {
    const auto file = folder_.path() / "module.py";
    ASSERT_TRUE(write_file(file, kModule).ok());
    task_ = {"module", Json{{"name", "module"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
    options_.load_seconds = 15, options_.call_seconds = 10, options_.memory_bytes = size_t{2} << 30;
    options_.threads = 1, options_.measures_on = false;  // tests run beside each other
    choose();
    if (!shared()) shared() = make_process_judge(options_);
    judge_ = shared();
  }
  // What else the suite's judge is told, or needs.
  virtual void choose() {}

  Verdict verdict(const std::string& code, Tier tier = Tier::screen) {
    const Result<Verdict> result = judge_->judge(task_, {code, nullptr}, tier);
    EXPECT_TRUE(result.ok()) << result.error().message();
    return result.ok() ? *result : Verdict{};
  }

  Verdict verdict_with(const JudgeOptions& options, const std::string& code, Tier tier = Tier::screen) {
    judge_ = make_process_judge(options);
    return verdict(code, tier);
  }

  // Right, whatever a machine that others use makes of the clocks.
  static bool is_right(const Verdict& v) { return v.certified() || v.reason == "clock-mismatch"; }

  // The judge's process that runs a Python module; it is a child of ours.
  static pid_t child_running(const std::string& module) {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream children(thread.path() / "children");
      for (pid_t pid = 0; children >> pid;) {
        std::stringstream line;
        line << std::ifstream("/proc/" + std::to_string(pid) + "/cmdline").rdbuf();
        if (line.str().find(module) != std::string::npos) return pid;
      }
    }
    return -1;
  }

  TempDir folder_;
  Task task_;
  JudgeOptions options_;
  std::shared_ptr<Judge> judge_;

 private:
  static std::shared_ptr<Judge>& shared() {
    static std::shared_ptr<Judge> judge;
    return judge;
  }
};

}  // namespace mtmc
