// The judge's machinery with real processes: what candidates may do to it, and what happens when a process of its own
// dies.
#include "eval/process_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "eval/torch_judge.h"

namespace mtmc {
namespace {

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

TEST_F(TorchJudge, compiling_a_candidate_calls_nothing) {
  const std::string raises = candidate("raise RuntimeError('called')"),
                    broken = candidate("return x", "raise RuntimeError('cannot be built')\n");
  EXPECT_EQ(judge_->compile(task_, {raises, nullptr}).value(), std::string()) << "it is not called";
  EXPECT_THAT(judge_->compile(task_, {broken, nullptr}).value().value(), testing::HasSubstr("cannot be built"));
  const std::string dies = candidate("return x", "os.kill(os.getpid(), signal.SIGKILL)\n");
  EXPECT_NE(judge_->compile(task_, {dies, nullptr}).value(), std::string());
  EXPECT_TRUE(is_right(verdict(kGood)));
}

TEST_F(TorchJudge, whoever_works_beside_stands_still_while_calls_are_timed) {
  struct Noted final : Bystander {
    void pause() override { done += "pause "; }
    void resume() override { done += "resume "; }
    std::string done;
  } noted;
  JudgeOptions options = options_;
  options.bystander = &noted;
  EXPECT_TRUE(is_right(verdict_with(options, kGood)));
  const std::string once = noted.done;
  EXPECT_THAT(once, testing::AnyOf("pause resume ", "pause resume pause resume "));  // the second time: clocks parted
  EXPECT_EQ(verdict(candidate("return self.linear(x).clamp_min(0) * (1 if torch.is_grad_enabled() else 0)")).reason,
            "wrong-result");
  EXPECT_EQ(noted.done, once) << "nothing was timed";
}

TEST_F(TorchJudge, times_torch_compile_in_the_same_rounds) {
  JudgeOptions options = options_;
  options.baselines = {"compile"};
  const Verdict v = verdict_with(options, kGood, Tier::certify);
  ASSERT_TRUE(is_right(v)) << v.reason << ": " << v.message;
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
  // Eager errs by about as much as the result is large: on some draws 0 is as near as it may be, and always the same.
  EXPECT_THAT(verdict(head + "x[:, 0] * 0").reason, testing::AnyOf("wrong-result", "insensitive-to-input"));
  EXPECT_EQ(verdict(head + "x.var(1).half()").reason, "wrong-dtype");
}

TEST_F(TorchJudge, names_the_first_wrong_elements) {
  const Verdict one = verdict(candidate("out = self.linear(x).clamp_min(0)\nout[3, 5] = 77\nreturn out"));
  EXPECT_EQ(one.reason, "wrong-result") << one.message;
  EXPECT_THAT(one.message, testing::ContainsRegex("output 0 on draw task-.*; first wrong elements: "
                                                  "\\[3, 5\\] is 77 instead of [0-9.e-]+$"));
  const Verdict tail =
      verdict(candidate("out = torch.empty(16, 8)\n"
                        "out[:15] = self.linear(x[:15]).clamp_min(0)\nreturn out"));
  EXPECT_EQ(tail.reason, "unwritten-output") << tail.message;
  EXPECT_THAT(tail.message, testing::HasSubstr("; first wrong elements: [15, 0] was never written instead of "));
  EXPECT_THAT(tail.message, testing::HasSubstr(", [15, 2] was never written"));
  const Verdict hidden =
      verdict(candidate("out = self.linear(x).clamp_min(0)\n"
                        "return out if x.abs().max() < 100 else out + 1"));
  EXPECT_EQ(hidden.message.find("instead of"), std::string::npos) << hidden.message;
}

// As a solver does of singular matrices.
TEST_F(TorchJudge, waits_on_a_draw_on_which_eager_itself_takes_longer_than_a_call_may) {
  const auto file = folder_.path() / "slow.py";
  const std::string forward =
      "    def forward(self, x):\n        time.sleep(2.5 if x.abs().max() > 100 else 0)\n        return x * 2\n";
  const std::string head = "import time\nimport torch\n";
  ASSERT_TRUE(write_file(file, head + "class Model(torch.nn.Module):\n" + forward +
                                   "def get_inputs():\n    return [torch.randn(8, 8)]\n")
                  .ok());
  task_ = {"slow", Json{{"name", "slow"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  JudgeOptions options = options_;
  options.call_seconds = 2;
  const Verdict v = verdict_with(options, head + "class ModelNew(torch.nn.Module):\n" + forward);
  EXPECT_TRUE(is_right(v)) << v.reason << ": " << v.message;
  EXPECT_THAT(v.draws, testing::Contains("scaled-up-0"));
}

TEST_F(TorchJudge, survives_candidates_that_never_answer) {
  JudgeOptions options = options_;
  options.load_seconds = options.call_seconds = 5;  // a first call has both
  const Verdict busy = verdict_with(options, candidate("while True: pass"));
  EXPECT_EQ(busy.reason, "timed-out");
  EXPECT_THAT(busy.message, testing::HasSubstr("it runs in ")) << "the file whose code it is";
  EXPECT_THAT(busy.message, testing::HasSubstr("python"));
  EXPECT_THAT(busy.message, testing::HasSubstr("(forward)")) << "and its line";
  const Verdict next = verdict(kGood);
  EXPECT_TRUE(is_right(next)) << next.reason << ": " << next.message;
}

TEST_F(TorchJudge, leaves_out_draws_on_which_the_module_itself_does_not_end) {
  const auto file = folder_.path() / "endless.py";
  ASSERT_TRUE(write_file(file, R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        while not x[2].any():
            pass
        return x.exp()
def get_inputs():
    return [torch.randn(64, 32)]
)")
                  .ok());
  task_ = {"endless", Json{{"name", "endless"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  JudgeOptions options = options_;
  options.draw_seconds = 5;
  const std::string code = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return ";
  const Verdict right = verdict_with(options, code + "x.exp()", Tier::certify);
  EXPECT_TRUE(is_right(right)) << right.reason << ": " << right.message;
  EXPECT_THAT(right.notes, testing::Contains("endless: the module itself, on draws of few-rows"));
}

TEST_F(TorchJudge, survives_candidates_that_die) {
  struct Case {
    std::string code, reason;
    bool dies = false;
  };
  const std::vector<Case> cases = {
      {candidate("os.kill(os.getpid(), signal.SIGSEGV)"), "crashed", true},
      {candidate("os._exit(0)"), "crashed", true},
      {candidate("while True: os.fork()"), "too-many-processes", true},
      {candidate("held = [torch.ones(1 << 26) for _ in range(64)]\nreturn self.linear(x).clamp_min(0)"),
       "out-of-memory", true},
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
    if (!c.dies && &c != &cases.back()) continue;     // the next one's reason says that the judge goes on
    const Verdict next = verdict(kGood);
    EXPECT_TRUE(is_right(next)) << "after:\n" << c.code << next.reason << ": " << next.message;
  }
}

TEST_F(TorchJudge, goes_on_when_a_process_of_its_own_is_killed) {
  ASSERT_TRUE(verdict(kGood).certified());
  for (const char* module : {"mtmc.keeper.zygote", "mtmc.referee.referee", "mtmc.rivals.baseline"}) {
    const pid_t between = child_running(module);
    ASSERT_GT(between, 0) << module;
    ::kill(between, SIGKILL);
    const Verdict next = verdict(kGood);
    EXPECT_TRUE(is_right(next)) << module << " killed between two candidates; " << next.reason << next.message;
    const pid_t during = child_running(module);
    ASSERT_GT(during, 0) << module;
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      ::kill(during, SIGKILL);
    });
    const Verdict last = verdict(kGood);
    EXPECT_TRUE(is_right(last)) << module << " killed while it worked; " << last.reason << last.message;
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

// A library of models takes seconds to import; its candidates build the same modules.
TEST_F(TorchJudge, what_the_task_imports_is_loaded_before_its_candidates) {
  const std::string asks = "assert 'sympy' in sys.modules\n";
  EXPECT_EQ(verdict(candidate("return torch.relu(self.linear(x))", asks)).reason, "import-error");

  const auto file = folder_.path() / "imports.py";
  ASSERT_TRUE(write_file(file, "import sympy\n" + std::string(kModule)).ok());
  task_ = {"imports", Json{{"name", "imports"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  const Verdict v = verdict(candidate("return torch.relu(self.linear(x))", asks));
  EXPECT_TRUE(v.certified()) << v.reason << ": " << v.message;
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
  options_.freeze_weights = true;
  judge_ = make_process_judge(options_);
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
    time.sleep(0.05)  # longer than a busy machine parts two clocks
)";
  const std::string body = "stop_the_clock()\nreturn self.linear(x).clamp_min(0)";
  const Verdict v = verdict(candidate(body, stops));
  EXPECT_TRUE(v.certified()) << v.reason << ": " << v.message;
  EXPECT_EQ(verdict(candidate(body, stops + "first = True\n")).reason, "clock-mismatch");
}

TEST_F(TorchJudge, a_key_file_is_empty_inside_the_walls) {
  const auto key = folder_.path() / "key";
  ASSERT_TRUE(write_file(key, "sk-0a1b2c3d").ok());
  const std::string reads =
      candidate("return self.linear(x).relu()", "raise RuntimeError('read: ' + open('" + key.string() + "').read())\n");
  EXPECT_NE(verdict(reads).message.find("read: sk-0a1b2c3d"), std::string::npos) << "what is not hidden can be read";
  options_.hidden = {key};
  judge_ = make_process_judge(options_);
  const Verdict v = verdict(reads);
  EXPECT_EQ(v.reason, "import-error");
  EXPECT_NE(v.message.find("read: "), std::string::npos) << v.message;
  EXPECT_EQ(v.message.find("sk-"), std::string::npos) << v.message;
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

// What has no room on a machine is not tried there, and the verdict says so.
TEST_F(TorchJudge, a_size_for_which_there_is_no_room_is_not_tried) {
  const auto file = folder_.path() / "full.py";
  ASSERT_TRUE(write_file(file, R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        if x.shape != (16, 32):
            raise torch.OutOfMemoryError("the memory is full")
        return torch.relu(x)
def get_inputs():
    return [torch.randn(16, 32)]
)")
                  .ok());
  task_ = {"full", Json{{"name", "full"}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  const std::string code = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        ";
  const std::string other = "return x.clamp_min(0) if x.shape == (16, 32) else x";
  const Verdict tried = verdict(code + other, Tier::certify);
  EXPECT_TRUE(is_right(tried)) << tried.reason << ": " << tried.message;
  const auto says = [&](const std::string& note) {
    return std::count(tried.notes.begin(), tried.notes.end(), "not-tried: there is no room for draw " + note);
  };
  EXPECT_EQ(says("shape0-0"), 1) << testing::PrintToString(tried.notes);
  EXPECT_EQ(says("small-0"), 1) << testing::PrintToString(tried.notes);
}

TEST_F(TorchJudge, the_same_seed_gives_the_same_errors) {
  JudgeOptions options = options_;
  options.seed = 5;
  const auto error = [](const Verdict& v) {
    EXPECT_TRUE(is_right(v)) << v.reason << ": " << v.message;
    return v.errors.empty() ? -1 : v.errors.front().error;
  };
  const double first = error(verdict_with(options, kGood));
  judge_->reseed(6);
  EXPECT_NE(first, error(verdict(kGood)));
  judge_->reseed(5);
  EXPECT_EQ(first, error(verdict(kGood)));
}

}  // namespace
}  // namespace mtmc
