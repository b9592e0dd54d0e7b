// The judge's machinery with real processes: what candidates may do to it, and what happens when a process of its own
// dies.
#include "eval/process_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

constexpr const char* kModule = R"(
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

std::string candidate(const std::string& body, const std::string& before = "") {
  return "import os, signal, subprocess, sys, time\nimport torch\n" + before + R"(
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 8)
    def forward(self, x):
)" + indent(body, 8) +
         "\n";
}

const std::string kGood = candidate("return self.linear(x).clamp_min(0)");

class TorchJudge : public testing::Test {
 protected:
  void SetUp() override {
    const auto file = folder_.path() / "module.py";
    ASSERT_TRUE(write_file(file, kModule).ok());
    task_ = {"module", Json{{"name", "module"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
    JudgeOptions options;
    options.load_seconds = 30, options.call_seconds = 10, options.memory_bytes = size_t{2} << 30;
    judge_ = make_process_judge(options);
  }

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
  std::unique_ptr<Judge> judge_;
};

TEST_F(TorchJudge, certifies_an_honest_candidate_at_both_tiers) {
  const Verdict screened = verdict(kGood);
  EXPECT_TRUE(screened.certified()) << screened.reason << ": " << screened.message;
  EXPECT_EQ(screened.times.count("eager"), 1U);
  const Verdict certified = verdict(kGood, Tier::certify);
  EXPECT_TRUE(certified.certified()) << certified.reason << ": " << certified.message;
  EXPECT_TRUE(certified.official);
  EXPECT_FALSE(certified.degenerate);
  EXPECT_GE(certified.draws.size(), 8U);
  EXPECT_EQ(certified.weights, "by-name");
}

TEST_F(TorchJudge, whoever_works_beside_stands_still_while_calls_are_timed) {
  struct Noted final : Bystander {
    void pause() override { done += "pause "; }
    void resume() override { done += "resume "; }
    std::string done;
  } noted;
  JudgeOptions options;
  options.bystander = &noted;
  EXPECT_TRUE(is_right(verdict_with(options, kGood)));
  const std::string once = noted.done;
  EXPECT_THAT(once, testing::AnyOf("pause resume ", "pause resume pause resume "));  // the second time: clocks parted
  EXPECT_EQ(verdict(candidate("return self.linear(x).clamp_min(0) * (1 if torch.is_grad_enabled() else 0)")).reason,
            "wrong-result");
  EXPECT_EQ(noted.done, once) << "nothing was timed";
}

TEST_F(TorchJudge, times_torch_compile_in_the_same_rounds) {
  JudgeOptions options;
  options.baselines = {"compile"};
  const Verdict v = verdict_with(options, kGood, Tier::certify);
  ASSERT_TRUE(v.certified()) << v.reason << ": " << v.message;
  ASSERT_EQ(v.times.count("compile"), 1U) << testing::PrintToString(v.notes);
  EXPECT_EQ(v.times.at("compile").samples_ms.size(), v.times.at("candidate").samples_ms.size());
  EXPECT_GT(v.speedup.at("compile").median, 0);
}

TEST_F(TorchJudge, examines_ill_conditioned_tasks_whole_and_certifies_nothing) {
  const auto file = folder_.path() / "cancels.py";
  ASSERT_TRUE(write_file(file, R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return (x * x).mean(1) - x.mean(1) ** 2
def get_inputs():
    return [torch.randn(64, 4096) + 1500]
)")
                  .ok());
  task_ = {"cancels", Json{{"name", "cancels"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  const std::string head = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return ";
  const Verdict better = verdict(head + "x.double().var(1, correction=0).float()");
  EXPECT_EQ(better.outcome, Outcome::ill_conditioned) << better.reason << ": " << better.message;
  EXPECT_EQ(better.times.count("eager"), 1U) << "it is timed, for the report";
  EXPECT_EQ(verdict(head + "x[:, 0] * 0").reason, "wrong-result");
  EXPECT_EQ(verdict(head + "x.var(1).half()").reason, "wrong-dtype");
}

TEST_F(TorchJudge, survives_candidates_that_die_or_never_answer) {
  struct Case {
    std::string code, reason;
  };
  const std::vector<Case> cases = {
      {candidate("while True: pass"), "timed-out"},
      {candidate("os.kill(os.getpid(), signal.SIGSEGV)"), "crashed"},
      {candidate("os._exit(0)"), "crashed"},
      {candidate("while True: os.fork()"), "too-many-processes"},
      {candidate("held = [torch.ones(1 << 26) for _ in range(64)]\nreturn self.linear(x).clamp_min(0)"),
       "out-of-memory"},
      {candidate("raise ValueError('no')"), "raised"},
      {candidate("return x", "raise RuntimeError('broken')"), "import-error"},
      {candidate("return x", "subprocess.run(['g++', '-x', 'c++', '/dev/null/none.cpp'], check=True)"),
       "compile-error"},
      {"x = 1\n", "missing-ModelNew"},
      {replace_all(kGood, "Linear(width, 8)", "Linear(width, 8, bias=False)"), "weights-mismatch"},
      {candidate("return x"), "output-aliases-input"},
      {candidate("return torch.relu(x)"), "wrong-shape"},
  };
  for (const Case& c : cases) {
    const double start = now_seconds();
    const Verdict v = verdict(c.code);
    EXPECT_EQ(v.reason, c.reason) << c.code << v.message;
    EXPECT_LT(now_seconds() - start, 180) << c.code;  // a fork bomb leaves its watcher little of two cores
    const Verdict next = verdict(kGood);
    EXPECT_TRUE(next.certified()) << "after:\n" << c.code << next.reason << ": " << next.message;
  }
}

TEST_F(TorchJudge, goes_on_when_a_process_of_its_own_is_killed) {
  ASSERT_TRUE(verdict(kGood).certified());
  for (const char* module : {"mtmc.keeper.zygote", "mtmc.referee.referee", "mtmc.rivals.baseline"}) {
    const pid_t between = child_running(module);
    ASSERT_GT(between, 0) << module;
    ::kill(between, SIGKILL);
    EXPECT_TRUE(verdict(kGood).certified()) << module << " killed between two candidates";
    const pid_t during = child_running(module);
    ASSERT_GT(during, 0) << module;
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      ::kill(during, SIGKILL);
    });
    EXPECT_TRUE(verdict(kGood).certified()) << module << " killed while it worked";
    killer.join();
  }
}

TEST_F(TorchJudge, the_users_mistakes_are_errors) {
  const Task missing = {"none", R"({"name": "none", "file": "/nowhere/none.py", "attr": "Model"})"};
  const auto result = judge_->judge(missing, {kGood, nullptr}, Tier::screen);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().wrong, "no such file");
  EXPECT_TRUE(verdict(kGood).certified()) << "the next task is unharmed";
}

TEST_F(TorchJudge, arguments_may_be_objects_of_the_files_own_classes) {
  const auto file = folder_.path() / "configured.py";
  const std::string text = R"(
import enum
import torch
class Config:
    def __init__(self, width):
        self.width = width
class Kind(enum.Enum):
    wide = 1
class Model(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear = torch.nn.Linear(32, 8)
    def forward(self, x):
        return torch.relu(self.linear(x))
def get_inputs():
    return [torch.randn(16, 32)]
def get_init_inputs():
    return [)";
  ASSERT_TRUE(write_file(file, text + "Config(32)]\n").ok());
  task_ = {"configured", Json{{"name", "configured"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  const Verdict v = verdict(replace_all(kGood, "Linear(width,", "Linear(width.width,"));
  EXPECT_TRUE(v.certified()) << v.reason << ": " << v.message;

  const auto other = folder_.path() / "enumerated.py";
  ASSERT_TRUE(write_file(other, text + "Kind.wide]\n").ok());
  task_ = {"enumerated", Json{{"name", "enumerated"}, {"file", other.string()}, {"attr", "Model"}}.dump()};
  const auto refused = judge_->judge(task_, {kGood, nullptr}, Tier::screen);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().doing, "passing the constructor's arguments to a candidate");
}

TEST_F(TorchJudge, a_guest_finds_nothing_that_another_built) {
  const std::string before = R"(
folder = os.environ["MTMC_KERNEL_CACHE"]
mark = os.path.join(folder, "built")
if os.path.exists(mark):
    raise RuntimeError("built before")
open(mark, "w").close()
)";
  for (const char* once : {"once", "and once more"})
    EXPECT_TRUE(verdict(candidate("return self.linear(x).clamp_min(0)", before)).certified()) << once;
}

TEST_F(TorchJudge, clocks_that_part_are_compared_once_more) {
  // Honest but in the first process that loads it: there the stopwatch says a fifth of a millisecond, whatever it took.
  // Only where weights are frozen do processes share a folder in which it can tell.
  JudgeOptions options;
  options.load_seconds = 30, options.call_seconds = 10, options.freeze_weights = true;
  judge_ = make_process_judge(options);
  const std::string stops = R"(
mark = os.path.join(os.environ["HOME"], "mark")
first = not os.path.exists(mark)
open(mark, "w").close()
def stop_the_clock():
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_name != "timed":
        frame = frame.f_back
    if frame is None or not first:
        return
    device, start, real = frame.f_locals["self"], frame.f_locals["start"], frame.f_locals["self"].clock
    def clock():
        device.clock = real
        return start + 200_000
    device.clock = clock
    time.sleep(0.005)
)";
  const std::string body = "stop_the_clock()\nreturn self.linear(x).clamp_min(0)";
  const Verdict v = verdict(candidate(body, stops));
  EXPECT_TRUE(v.certified()) << v.reason << ": " << v.message;
  EXPECT_EQ(verdict(candidate(body, stops + "first = True\n")).reason, "clock-mismatch");
}

// The machinery for a GPU, on the CPU under its name: guests that are prepared, and guests beside.
class TorchJudgeOnPretendedGpu : public TorchJudge {
 protected:
  void SetUp() override {
    TorchJudge::SetUp();
    const char* path = std::getenv("PYTHONPATH");
    before_ = path != nullptr ? path : "";
    setenv("PYTHONPATH", (source_dir() + "/tests/support/pretend_gpu:" + before_).c_str(), 1);
    JudgeOptions options;
    options.load_seconds = 30, options.call_seconds = 10, options.device = "cuda";
    judge_ = make_process_judge(options);
  }
  void TearDown() override { setenv("PYTHONPATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST_F(TorchJudgeOnPretendedGpu, what_is_expected_was_loaded_before_it_is_judged) {
  // Right only where a guest of the same candidate's has left its mark in the folder for what is compiled.
  const std::string mark =
      "mark = os.path.join(os.environ['HOME'], 'mark')\n"
      "marked = os.path.exists(mark)\n"
      "open(mark, 'w').close()\n";
  const std::string body = "return self.linear(x).clamp_min(0) * marked";
  const std::string first = candidate(body, mark), second = candidate(body, mark + "# another\n");
  ASSERT_TRUE(judge_->expect(task_).ok());
  ASSERT_TRUE(judge_->expect(task_, {first, nullptr}).ok());
  const Verdict expected = verdict(first);
  EXPECT_TRUE(is_right(expected)) << expected.reason << ": " << expected.message;
  EXPECT_EQ(verdict(second).reason, "wrong-result") << "nobody has expected it, and marks are not shared";
}

TEST_F(TorchJudgeOnPretendedGpu, it_is_judged_where_it_was_loaded) {
  // Right only once it was called in a process that has loaded it twice: for compiling, and anew for being judged.
  const std::string count = R"(
import builtins
builtins.loads = loads = getattr(builtins, "loads", 0) + 1
mark = os.path.join(os.environ["HOME"], "mark")
def marked():
    if loads == 2:
        open(mark, "w").close()
    return os.path.exists(mark)
)";
  const std::string body = "return self.linear(x).clamp_min(0) * marked()";
  const std::string first = candidate(body, count), second = candidate(body, count + "# another\n");
  ASSERT_TRUE(judge_->expect(task_).ok());
  ASSERT_TRUE(judge_->expect(task_, {first, nullptr}).ok());
  const Verdict expected = verdict(first);
  EXPECT_TRUE(is_right(expected)) << expected.reason << ": " << expected.message;
  EXPECT_EQ(verdict(second).reason, "wrong-result") << "nobody has expected it";
}

TEST_F(TorchJudgeOnPretendedGpu, what_is_refused_where_it_was_loaded_is_judged_in_a_new_process) {
  const std::string once = "import builtins\nbuiltins.loads = loads = getattr(builtins, 'loads', 0) + 1\n";
  const std::string code = candidate("return self.linear(x).clamp_min(0) * (loads == 1)", once);
  ASSERT_TRUE(judge_->expect(task_).ok());
  ASSERT_TRUE(judge_->expect(task_, {code, nullptr}).ok());
  const Verdict v = verdict(code);
  EXPECT_TRUE(is_right(v)) << v.reason << ": " << v.message;
}

TEST_F(TorchJudgeOnPretendedGpu, who_is_judged_again_meets_other_values) {
  // Notes all that it is called with, has itself refused once all is timed, and then is right for what it has noted.
  const std::string notes = R"(
import builtins, hashlib
builtins.loads = loads = getattr(builtins, "loads", 0) + 1
helper = []
def known(*values):
    data = b"".join(value.detach().numpy().tobytes() for value in values)
    note = os.path.join(os.environ["HOME"], hashlib.sha256(data).hexdigest())
    if loads == 2:
        open(note, "w").close()
        helper[:] = helper or [subprocess.Popen(["sleep", "60"])]
    return os.path.exists(note)
)";
  const std::string code =
      candidate("return self.linear(x).clamp_min(0) * known(x, self.linear.weight, self.linear.bias)", notes);
  ASSERT_TRUE(judge_->expect(task_).ok());
  ASSERT_TRUE(judge_->expect(task_, {code, nullptr}).ok());
  const Verdict v = verdict(code);
  EXPECT_EQ(v.reason, "wrong-result") << v.message;
  EXPECT_EQ(v.message.find("-0:"), v.message.npos) << "the first of a kind is known: " << v.message;
}

TEST_F(TorchJudgeOnPretendedGpu, what_was_expected_for_another_task_ended_with_it) {
  const std::string head = R"(
import builtins, torch
builtins.loads = loads = getattr(builtins, "loads", 0) + 1
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * (loads == 2)
)";
  const auto file = folder_.path() / "relu.py";
  ASSERT_TRUE(write_file(file, R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.randn(16, 32)]
)")
                  .ok());
  const auto named = [&](const std::string& name) {
    return Task{name, Json{{"name", name}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  };
  task_ = named("other");
  ASSERT_TRUE(judge_->expect(named("one")).ok());
  ASSERT_TRUE(judge_->expect(named("one"), {head, nullptr}).ok());
  EXPECT_EQ(verdict(head).reason, "wrong-result") << "its weights and its mode would be the other's";
}

TEST_F(TorchJudgeOnPretendedGpu, nothing_of_the_load_before_stays_in_memory) {
  // Right only once it was called where it was loaded before, and what that load kept was gone. The note of it stays,
  // for a busy machine has its times doubted, and then it is judged again in a process that has loaded it once.
  const std::string keeps = R"(
import builtins, weakref
before = getattr(builtins, "before", None)
kept = torch.ones(4)
builtins.before = weakref.ref(kept)
note = os.path.join(os.environ["HOME"], "gone")
def was_gone():
    if before is not None and before() is None:
        open(note, "w").close()
    return os.path.exists(note)
)";
  const std::string code = candidate("return self.linear(x).clamp_min(0) * was_gone()", keeps);
  ASSERT_TRUE(judge_->expect(task_).ok());
  ASSERT_TRUE(judge_->expect(task_, {code, nullptr}).ok());
  const Verdict v = verdict(code);
  EXPECT_TRUE(is_right(v)) << v.reason << ": " << v.message;
}

TEST_F(TorchJudgeOnPretendedGpu, what_goes_wrong_beside_is_met_again_when_it_is_judged) {
  const std::string dies = candidate("return x", "os._exit(3)\n");
  const std::string waits = candidate("return x", "time.sleep(60)\n");
  ASSERT_TRUE(judge_->expect(task_).ok());
  for (const std::string& code : {dies, waits}) ASSERT_TRUE(judge_->expect(task_, {code, nullptr}).ok());
  EXPECT_EQ(verdict(dies).reason, "crashed");
  const Verdict good = verdict(kGood);  // while one still sleeps beside
  EXPECT_TRUE(is_right(good)) << good.reason << ": " << good.message;
}

TEST_F(TorchJudgeOnPretendedGpu, a_folder_that_a_candidate_turns_into_a_link_is_not_followed) {
  const auto victim = folder_.path() / "victim";
  std::filesystem::create_directories(victim);
  // Its own folder for what is compiled, and the one in which Triton would.
  for (const char* turned : {"os.environ['HOME']", "os.path.join(os.environ['HOME'], 'triton')"}) {
    const std::string code =
        candidate("return self.linear(x).clamp_min(0)",
                  "own = " + std::string(turned) + "\nos.makedirs(own, exist_ok=True)\n" +
                      "os.rename(own, own + '-away')\nos.symlink('" + victim.string() + "', own)\n");
    for (int guest = 0; guest < 3; ++guest) {
      const Verdict v = verdict(code);
      EXPECT_TRUE(is_right(v)) << turned << ", " << guest << ": " << v.reason << ": " << v.message;
    }
    EXPECT_TRUE(std::filesystem::is_empty(victim)) << turned;
    EXPECT_TRUE(is_right(verdict(kGood)));
  }
}

// Guests are the fourth generation of the zygote's kind: itself, a keeper, init, the guest.
void add_guests(pid_t pid, int generation, std::vector<pid_t>& found) {
  std::stringstream line;
  line << std::ifstream("/proc/" + std::to_string(pid) + "/cmdline").rdbuf();
  const bool forked = line.str().find("mtmc.keeper.zygote") != std::string::npos && !line.str().starts_with("bwrap");
  if (forked && ++generation == 4) found.push_back(pid);
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) add_guests(child, generation, found);
  }
}

TEST_F(TorchJudgeOnPretendedGpu, guests_that_died_before_they_were_needed_are_replaced) {
  ASSERT_TRUE(judge_->expect(task_).ok());
  std::vector<pid_t> spares;
  add_guests(child_running("mtmc.keeper.zygote"), 0, spares);
  ASSERT_EQ(spares.size(), 3U);
  for (const pid_t pid : spares) ::kill(pid, SIGKILL);
  for (const pid_t pid : spares)
    while (::kill(pid, 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (int i = 0; i < 4; ++i) {
    const Verdict v = verdict(kGood);
    EXPECT_TRUE(is_right(v)) << v.reason << ": " << v.message;
  }
}

// What only negative arguments show, no ordinary screen sees.
TEST_F(TorchJudge, a_screen_meets_what_refused_the_last_certification) {
  const std::string coarse = candidate("return self.linear(x).clamp_min(0) * (1 + 1e-3 * (x.max() < 0))");
  EXPECT_TRUE(is_right(verdict(coarse)));
  EXPECT_EQ(verdict(coarse, Tier::certify).reason, "precision");
  const Verdict again = verdict(coarse);
  EXPECT_EQ(again.reason, "precision") << again.message;
  EXPECT_NE(again.message.find("negative-"), std::string::npos) << again.message;
  EXPECT_TRUE(is_right(verdict(kGood)));
}

// Of two outputs one is 0 but for rounding: it is held to eager's absolute errors, and the other one proves the rest.
TEST_F(TorchJudge, an_output_that_is_zero_but_for_rounding_does_not_decide_for_the_task) {
  const auto file = folder_.path() / "centred.py";
  ASSERT_TRUE(write_file(file, R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        y = x - x.mean(1, keepdim=True)
        return torch.relu(x), y.sum(1)
def get_inputs():
    return [torch.randn(64, 100)]
)")
                  .ok());
  task_ = {"centred", Json{{"name", "centred"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  const std::string head = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        ";
  const Verdict good = verdict(
      head + "y = x.sub(x.flip(1).sum(1, keepdim=True) / 100)\n        return x.clamp_min(0), y.flip(1).sum(1)");
  EXPECT_TRUE(is_right(good)) << good.reason << ": " << good.message;
  EXPECT_NE(testing::PrintToString(good.notes).find("held-to-absolute-errors: 1"), std::string::npos);
  const Verdict off = verdict(head + "return x.clamp_min(0), x.sum(1) * 1e-3");
  EXPECT_EQ(off.reason, "wrong-result") << off.message;
}

TEST_F(TorchJudge, the_same_seed_gives_the_same_errors) {
  const auto errors_with_seed = [&](uint64_t seed) {
    JudgeOptions options;
    options.seed = seed;
    const auto v = make_process_judge(options)->judge(task_, {kGood, nullptr}, Tier::screen);
    EXPECT_TRUE(v.ok() && v->certified());
    return v.ok() ? v->errors.at(0).error : -1;
  };
  const double first = errors_with_seed(5);
  EXPECT_EQ(first, errors_with_seed(5));
  EXPECT_NE(first, errors_with_seed(6));
}

}  // namespace
}  // namespace mtmc
