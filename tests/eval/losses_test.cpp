// What is left when processes of the judge die: baselines, those that a candidate takes along, and all of them when the
// judge itself is killed. tests/support/lost_processes says how they die.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "base/turn.h"
#include "eval/process_judge.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

const std::string kHead = "import time\nimport torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n";
const std::string kCounts =
    "    def __init__(self):\n        super().__init__()\n        self.register_buffer('count', torch.zeros(()))\n"
    "    def forward(self, x):\n        self.count += 1\n        return x * 2 + self.count\n";
const std::string kSoftmax = kHead + "        return torch.softmax(x, -1)\n";

class TorchLosses : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("PYTHONPATH");
    before_ = path != nullptr ? path : "";
  }
  void TearDown() override {
    setenv("PYTHONPATH", before_.c_str(), 1);
    unsetenv("MTMC_TEST_LOSES");
  }

  void lose(const std::string& what) {
    setenv("PYTHONPATH", (source_dir() + "/tests/support/lost_processes:" + before_).c_str(), 1);
    setenv("MTMC_TEST_LOSES", what.c_str(), 1);
  }
  // Ends the compiled baseline so many times.
  void lose_baseline(const std::string& when, int times) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(write_file(folder_.path() / std::to_string(i), "").ok());
    lose(when + " " + folder_.path().string());
  }

  static Task task() {
    return {"softmax",
            Json{{"name", "softmax"}, {"file", source_dir() + "/tests/tasks/softmax.py"}, {"attr", "Model"}}.dump()};
  }

  static Verdict verdict(Judge& judge, const std::string& code, Tier tier = Tier::screen) {
    const Result<Verdict> result = judge.judge(task(), {code, nullptr}, tier);
    EXPECT_TRUE(result.ok()) << result.error().message();
    return result.ok() ? *result : Verdict{};
  }

  // Right, whatever a machine that others use makes of the clocks.
  static bool is_right(const Verdict& v) { return v.certified() || v.reason == "clock-mismatch"; }

  // In a certification, or in a screen that waits for baselines, which takes less time.
  static bool is_timed_with_compile(Tier tier) {
    JudgeOptions options;
    options.baselines = {"compile"}, options.threads = 1, options.measures_on = false;
    options.screens_wait = tier == Tier::screen;
    const auto judge = make_process_judge(options);
    if (tier == Tier::certify) {
      EXPECT_FALSE(verdict(*judge, kSoftmax).times.contains("compile")) << "a screen waits for none";
    }
    const Verdict v = verdict(*judge, kSoftmax, tier);
    EXPECT_TRUE(is_right(v)) << v.reason << ": " << v.message;
    EXPECT_EQ(v.times.count("eager"), 1U);
    const bool timed = v.times.contains("compile");
    const auto note = std::find_if(v.notes.begin(), v.notes.end(),
                                   [](const std::string& one) { return one.starts_with("no-compile: "); });
    EXPECT_EQ(note == v.notes.end(), timed) << testing::PrintToString(v.notes);
    EXPECT_EQ(std::count_if(v.notes.begin(), v.notes.end(), [](const auto& n) { return n.starts_with("no-"); }),
              !timed);
    return timed;
  }

 private:
  TempDir folder_;
  std::string before_;
};

TEST_F(TorchLosses, a_baseline_that_dies_once_is_made_again) {
  lose_baseline("compile", 1);
  EXPECT_TRUE(is_timed_with_compile(Tier::screen));
}

TEST_F(TorchLosses, a_baseline_that_dies_twice_is_missing_and_said_to_be) {
  lose_baseline("compile", 2);
  EXPECT_FALSE(is_timed_with_compile(Tier::screen));
}

TEST_F(TorchLosses, rounds_begin_anew_when_a_baseline_dies_on_the_way) {
  lose_baseline("timing", 1);
  EXPECT_TRUE(is_timed_with_compile(Tier::certify));
}

TEST_F(TorchLosses, a_baseline_that_dies_twice_on_the_way_is_missing) {
  lose_baseline("timing", 2);
  EXPECT_FALSE(is_timed_with_compile(Tier::screen));
}

// What a baseline's calls moved would else go on for as long as it is timed, and the candidate's state begins anew.
TEST_F(TorchLosses, a_baseline_begins_each_timed_call_with_the_state_that_the_candidate_begins_with) {
  const TempDir folder;
  ASSERT_TRUE(write_file(folder.path() / "counts.py", "import torch\nclass Model(torch.nn.Module):\n" + kCounts +
                                                          "def get_inputs():\n    return [torch.randn(8, 8)]\n")
                  .ok());
  lose("state " + folder.path().string());
  JudgeOptions options;
  options.baselines = {"compile"}, options.threads = 1, options.measures_on = false, options.screens_wait = true;
  const Task counts = {
      "counts", Json{{"name", "counts"}, {"file", (folder.path() / "counts.py").string()}, {"attr", "Model"}}.dump()};
  const auto verdict = make_process_judge(options)->judge(
      counts, {"import torch\nclass ModelNew(torch.nn.Module):\n" + kCounts, nullptr}, Tier::screen);
  ASSERT_TRUE(verdict.ok()) << verdict.error().message();
  EXPECT_TRUE(is_right(*verdict)) << verdict->reason << ": " << verdict->message;
  const auto sums = split(trim(read_file(folder.path() / "sums").value()), '\n');
  ASSERT_GT(sums.size(), 5U);
  EXPECT_EQ(sums[2], "2.0") << "warming up, it counts";
  // That state has run.
  EXPECT_THAT(std::vector<std::string>(sums.begin() + 3, sums.end()), testing::Each("2.0"));
}

TEST_F(TorchLosses, a_baseline_that_lacks_the_memory_that_other_tasks_take_is_made_when_there_are_none) {
  lose_baseline("memory", 3);  // beside others, then alone, and once more when the referee has dropped what it keeps
  const TempDir folder;
  setenv("MTMC_TURN", (folder.path() / "turn").c_str(), 1);
  JudgeOptions options;
  options.baselines = {"compile"}, options.threads = 1, options.measures_on = false, options.screens_wait = true;
  const auto judge = make_process_judge(options);
  {
    const Turn memory(memory_file(), Turn::With::others);
    const auto beside = judge->judge(task(), {kSoftmax, nullptr}, Tier::screen);
    ASSERT_FALSE(beside.ok());
    EXPECT_EQ(beside.error().wrong, kNoMemory) << beside.error().message();
  }
  const auto alone = [&] {
    const Turn memory(memory_file(), Turn::With::nobody);
    return verdict(*judge, kSoftmax);
  };
  const Verdict small = alone();
  EXPECT_TRUE(is_right(small)) << small.reason << ": " << small.message;
  EXPECT_EQ(std::count(small.notes.begin(), small.notes.end(),
                       "no-compile: OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB."),
            1)
      << "alone it is what the row says: " << testing::PrintToString(small.notes);
  judge->reseed(1);  // all is made anew
  const Verdict again = alone();
  EXPECT_TRUE(again.times.contains("compile")) << again.reason << ": " << testing::PrintToString(again.notes);
  unsetenv("MTMC_TURN");
}

TEST_F(TorchLosses, a_candidate_that_lacks_memory_beside_other_tasks_is_not_refused_for_it) {
  const TempDir folder;
  setenv("MTMC_TURN", (folder.path() / "turn").c_str(), 1);
  JudgeOptions options;
  options.threads = 1, options.measures_on = false;
  const auto judge = make_process_judge(options);
  const std::string code = kHead + "        raise torch.OutOfMemoryError('CUDA out of memory.')\n";
  {
    const Turn memory(memory_file(), Turn::With::others);
    const auto beside = judge->judge(task(), {code, nullptr}, Tier::screen);
    ASSERT_FALSE(beside.ok());
    EXPECT_EQ(beside.error().wrong, kNoMemory) << beside.error().message();
  }
  const Turn memory(memory_file(), Turn::With::nobody);
  EXPECT_EQ(verdict(*judge, code).reason, "out-of-memory");
  unsetenv("MTMC_TURN");
}

TEST_F(TorchLosses, whoever_takes_the_referee_along_twice_is_refused) {
  lose("zeros");
  JudgeOptions options;
  options.threads = 1;
  const auto judge = make_process_judge(options);
  const Verdict v = verdict(*judge, kHead + "        return torch.zeros_like(x)\n");
  EXPECT_EQ(v.reason, "crashed") << v.message;
  EXPECT_NE(v.message.find("asking the judge's referee"), v.message.npos) << v.message;
  const Verdict next = verdict(*judge, kSoftmax);
  EXPECT_TRUE(is_right(next)) << next.reason << ": " << next.message;
}

TEST_F(TorchLosses, nobody_is_refused_for_a_draw_on_which_the_referee_raises_without_them_as_well) {
  lose("timed");
  JudgeOptions options;
  options.threads = 1;
  const Result<Verdict> result = make_process_judge(options)->judge(task(), {kSoftmax, nullptr}, Tier::screen);
  ASSERT_FALSE(result.ok()) << result->reason << ": " << result->message;
  EXPECT_EQ(result.error().doing, "asking the judge's referee") << result.error().message();
  EXPECT_EQ(result.error().got, "RuntimeError: value cannot be converted") << result.error().message();
}

void add_descendants(pid_t pid, std::vector<pid_t>& found) {
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) {
      found.push_back(child);
      add_descendants(child, found);
    }
  }
}

bool runs(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  return stat.ok() && !stat->empty() && stat->find(") Z ") == stat->npos;
}

template <typename Condition>
bool soon(const Condition& condition) {
  for (int i = 0; i < 6000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

TEST_F(TorchLosses, nothing_outlives_a_judge_that_is_killed) {
  // One that says when it is called, and never looks whether somebody is left to answer to.
  const std::string busy = kHead + "        import ctypes\n        ctypes.CDLL(None).prctl(15, b'called', 0, 0, 0)\n" +
                           "        while True: pass\n";
  for (const char* level : {"", "namespaces", "rlimits"}) {
    const pid_t victim = fork();
    if (victim == 0) {
      JudgeOptions options;
      options.sandbox = level, options.call_seconds = 1000;
      const auto ended = make_process_judge(options)->judge(task(), {busy, nullptr}, Tier::screen);
      _exit(1);
    }
    std::vector<pid_t> all;
    EXPECT_TRUE(soon([&] {
      all.clear();
      add_descendants(victim, all);
      return std::any_of(all.begin(), all.end(), [](pid_t pid) {
        const auto name = read_file("/proc/" + std::to_string(pid) + "/comm");
        return name.ok() && *name == "called\n";
      });
    })) << level;
    ::kill(victim, SIGKILL);
    waitpid(victim, nullptr, 0);
    EXPECT_TRUE(soon([&] { return std::none_of(all.begin(), all.end(), runs); })) << level;
    for (const pid_t pid : all) ::kill(pid, SIGKILL);
  }
}

}  // namespace
}  // namespace mtmc
