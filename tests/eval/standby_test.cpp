// Guests that stand by: spares, and those that prepare candidates while another one is judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/turn.h"
#include "eval/own_thread.h"
#include "eval/torch_judge.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

// The machinery for a GPU, on the CPU under its name.
class TorchJudgeOnPretendedGpu : public TorchJudge {
 protected:
  void choose() override {
    const char* path = std::getenv("PYTHONPATH");
    before_ = path != nullptr ? path : "";
    setenv("PYTHONPATH", (source_dir() + "/tests/support/pretend_gpu:" + before_).c_str(), 1);
    options_.memory_bytes = 0, options_.device = "cuda";
  }
  void TearDown() override { setenv("PYTHONPATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST_F(TorchJudgeOnPretendedGpu, what_was_prepared_is_loaded_before_it_is_judged) {
  // Right only where a guest of the same candidate's has left its mark in the folder for what is compiled.
  const std::string mark =
      "mark = os.path.join(os.environ['HOME'], 'mark')\n"
      "marked = os.path.exists(mark)\n"
      "open(mark, 'w').close()\n";
  const std::string body = "return self.linear(x).clamp_min(0) * marked";
  const std::string first = candidate(body, mark), second = candidate(body, mark + "# another\n");
  ASSERT_TRUE(judge_->prepare(task_).ok());
  ASSERT_TRUE(judge_->prepare(task_, {first, nullptr}).ok());
  const Verdict expected = verdict(first);
  EXPECT_TRUE(is_right(expected)) << expected.reason << ": " << expected.message;
  EXPECT_EQ(verdict(second).reason, "wrong-result") << "nobody has expected it, and marks are not shared";
}

TEST_F(TorchJudgeOnPretendedGpu, compiling_a_candidate_calls_nothing) {
  const std::string raises = candidate("raise RuntimeError('called')"),
                    broken = candidate("return x", "raise RuntimeError('cannot be built')\n");
  EXPECT_EQ(judge_->compile(task_, {raises, nullptr}).value(), std::string()) << "it is not called";
  EXPECT_THAT(judge_->compile(task_, {broken, nullptr}).value().value(), testing::HasSubstr("cannot be built"));
  EXPECT_TRUE(is_right(verdict(kGood)));
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
  ASSERT_TRUE(judge_->prepare(task_).ok());
  ASSERT_TRUE(judge_->prepare(task_, {first, nullptr}).ok());
  const Verdict expected = verdict(first);
  EXPECT_TRUE(is_right(expected)) << expected.reason << ": " << expected.message;
  EXPECT_EQ(verdict(second).reason, "wrong-result") << "nobody has expected it";
}

TEST_F(TorchJudgeOnPretendedGpu, what_is_refused_where_it_was_loaded_is_judged_in_a_new_process) {
  const std::string once = "import builtins\nbuiltins.loads = loads = getattr(builtins, 'loads', 0) + 1\n";
  const std::string code = candidate("return self.linear(x).clamp_min(0) * (loads == 1)", once);
  ASSERT_TRUE(judge_->prepare(task_).ok());
  ASSERT_TRUE(judge_->prepare(task_, {code, nullptr}).ok());
  const Verdict v = verdict(code);
  EXPECT_TRUE(is_right(v)) << v.reason << ": " << v.message;
}

TEST_F(TorchJudgeOnPretendedGpu, no_guest_sees_the_task_s_own_file_though_it_stood_by_before) {
  ASSERT_TRUE(judge_->prepare(task_).ok());  // and spares stand by
  const std::filesystem::path another = folder_.path() / "another.py";
  ASSERT_TRUE(write_file(another, kModule).ok());
  const Task task{"another", Json{{"name", "another"}, {"file", another.string()}, {"attr", "Model"}}.dump()};
  const std::string reads = candidate("return self.linear(x).clamp_min(0)",
                                      "raise RuntimeError('size %d' % os.stat('" + another.string() + "').st_size)\n");
  const Result<Verdict> v = judge_->judge(task, {reads, nullptr}, Tier::screen);
  ASSERT_TRUE(v.ok()) << v.error().message();
  EXPECT_THAT(v->message, testing::HasSubstr("size 0")) << "as if it were empty";
}

TEST_F(TorchJudgeOnPretendedGpu, who_waits_has_the_draws_of_a_certification_made) {
  judge_->rest();
  EXPECT_FALSE(judge_->get_ahead()) << "no task is open";
  ASSERT_TRUE(judge_->prepare(task_).ok());
  int draws = 0;
  while (draws < 100 && judge_->get_ahead()) ++draws;
  EXPECT_GT(draws, 15);
  EXPECT_LT(draws, 100) << "there is an end";
  EXPECT_TRUE(is_right(verdict(candidate("return self.linear(x).clamp_min(0)"))));
  EXPECT_EQ(verdict(candidate("return self.linear(x)")).reason, "wrong-result");
}

TEST_F(TorchJudgeOnPretendedGpu, a_judge_that_rested_opens_the_task_again) {
  judge_->rest();  // whatever was open
  const std::string good = candidate("return self.linear(x).clamp_min(0)");
  EXPECT_TRUE(is_right(verdict(good)));
  judge_->rest();
  EXPECT_FALSE(judge_->get_ahead()) << "no task is open";
  EXPECT_TRUE(is_right(verdict(good)));
  const pid_t referee = child_running("mtmc.referee.referee");
  ASSERT_GT(referee, 0);
  ASSERT_EQ(kill(referee, SIGKILL), 0);
  judge_->rest();  // who is gone is no fault then
  EXPECT_TRUE(is_right(verdict(good)));
}

TEST_F(TorchJudgeOnPretendedGpu, who_shares_a_gpu_gives_back_every_turn) {
  const TempDir folder;
  const std::filesystem::path file = folder.path() / "turn";
  setenv("MTMC_TURN", file.c_str(), 1);
  const Verdict v = verdict(candidate("return self.linear(x).clamp_min(0)"));
  unsetenv("MTMC_TURN");
  EXPECT_TRUE(is_right(v)) << v.reason << ": " << v.message;
  EXPECT_TRUE(std::filesystem::exists(file)) << "no turn was taken";
  const auto another = std::async(std::launch::async, [&] { const Turn alone(file, Turn::With::nobody); });
  EXPECT_EQ(another.wait_for(std::chrono::seconds(20)), std::future_status::ready) << "somebody still has one";
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
  ASSERT_TRUE(judge_->prepare(task_).ok());
  ASSERT_TRUE(judge_->prepare(task_, {code, nullptr}).ok());
  const Verdict v = verdict(code);
  // One time in eight a probe of the first time had the values that come first now; those after them are not finite.
  EXPECT_THAT(v.reason, testing::AnyOf("wrong-result", "non-finite")) << v.message;
  EXPECT_EQ(v.message.find("-0:"), v.message.npos) << "the first of a kind is known: " << v.message;
}

TEST_F(TorchJudgeOnPretendedGpu, what_was_prepared_for_another_task_ended_with_it) {
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
  ASSERT_TRUE(judge_->prepare(named("one")).ok());
  ASSERT_TRUE(judge_->prepare(named("one"), {head, nullptr}).ok());
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
  ASSERT_TRUE(judge_->prepare(task_).ok());
  ASSERT_TRUE(judge_->prepare(task_, {code, nullptr}).ok());
  const Verdict v = verdict(code);
  EXPECT_TRUE(is_right(v)) << v.reason << ": " << v.message;
}

TEST_F(TorchJudgeOnPretendedGpu, what_goes_wrong_beside_is_met_again_when_it_is_judged) {
  const std::string dies = candidate("return x", "os._exit(3)\n");
  const std::string waits = candidate("return x", "time.sleep(60)\n");
  ASSERT_TRUE(judge_->prepare(task_).ok());
  for (const std::string& code : {dies, waits}) ASSERT_TRUE(judge_->prepare(task_, {code, nullptr}).ok());
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

TEST_F(TorchJudgeOnPretendedGpu, a_judge_in_its_own_thread_judges_alike) {
  const std::unique_ptr<Judge> judge = in_own_thread(make_process_judge(options_));
  for (const bool again : {false, true}) {
    ASSERT_TRUE(judge->prepare(task_).ok());
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(judge->get_ahead());
    ASSERT_TRUE(judge->prepare(task_, {kGood, nullptr}).ok());
    const Result<Verdict> v = judge->judge(task_, {kGood, nullptr}, Tier::screen);
    ASSERT_TRUE(v.ok()) << v.error().message();
    EXPECT_TRUE(is_right(*v)) << v->reason << ": " << v->message;
    const Result<Verdict> wrong = judge->judge(task_, {candidate("return self.linear(x)"), nullptr}, Tier::screen);
    EXPECT_TRUE(wrong.ok() && wrong->reason == "wrong-result") << again;
    judge->rest();
  }
}

TEST_F(TorchJudgeOnPretendedGpu, spares_stay_for_a_task_that_was_expected_and_do_not_see_its_file) {
  const auto task_in = [&](const std::string& name) {
    const auto file = folder_.path() / (name + ".py");
    EXPECT_TRUE(write_file(file, kModule).ok());
    return Task{name, Json{{"name", name}, {"file", file.string()}, {"attr", "Model"}}.dump()};
  };
  const Task next = task_in("next"), unexpected = task_in("unexpected");
  const auto spares_of = [&](const Task& task) {
    EXPECT_TRUE(judge_->prepare(task).ok());
    std::vector<pid_t> spares;
    add_guests(child_running("mtmc.keeper.zygote"), 0, spares);
    return spares;
  };
  judge_->expect(&next);
  const std::vector<pid_t> first = spares_of(task_);
  judge_->expect(nullptr);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(spares_of(next), first);
  const std::string reads = candidate(
      "return x", "raise RuntimeError('size %d' % os.stat('" + (folder_.path() / "next.py").string() + "').st_size)\n");
  const Result<Verdict> v = judge_->judge(next, {reads, nullptr}, Tier::screen);
  ASSERT_TRUE(v.ok()) << v.error().message();
  EXPECT_THAT(v->message, testing::HasSubstr("size 0")) << "as if it were empty";
  const std::vector<pid_t> second = spares_of(unexpected);
  for (const pid_t pid : second) EXPECT_EQ(std::ranges::count(first, pid), 0) << "it would see this task's file";
  ASSERT_EQ(second.size(), 3U);
  judge_->expect(&next);
  const std::vector<pid_t> third = spares_of(task_);
  const Task anew = task_in("next");  // another file in its place
  for (const pid_t pid : spares_of(anew)) EXPECT_EQ(std::ranges::count(third, pid), 0) << "what was hidden is gone";
}

TEST_F(TorchJudgeOnPretendedGpu, guests_that_died_before_they_were_needed_are_replaced) {
  ASSERT_TRUE(judge_->prepare(task_).ok());
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

}  // namespace
}  // namespace mtmc
