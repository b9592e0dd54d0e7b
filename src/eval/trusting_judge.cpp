#include "eval/trusting_judge.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/trace.h"
#include "base/turn.h"
#include "eval/draw_choice.h"
#include "eval/examination.h"
#include "eval/sandbox_command.h"
#include "eval/stats.h"

namespace mtmc {

namespace {

constexpr int kRounds = 9;
constexpr const char* kEnded = "it has ended";  // JudgeProcess::lost

Timing timing_of(const Json& nanoseconds) {
  std::vector<double> samples;
  for (const Json& one : nanoseconds) samples.push_back(one.get<double>() / 1e6);
  return summarize(std::move(samples));
}

class TrustingJudge final : public Judge {
 public:
  explicit TrustingJudge(const JudgeOptions& options)
      : options_(complete_options(options)), folder_(memory_folder()), process_("process", command()) {
    claim_folder(folder_.path());
  }

  Status prepare(const Task& task) override {
    MTMC_RETURN_IF_ERROR(open(task));
    MTMC_TRY([[maybe_unused]] const std::vector<std::string> known, draws());
    return ok_status();
  }

  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override {
    MTMC_CHECK(tier == Tier::screen, "who trusts certifies nothing");
    const double start = now_seconds();
    MTMC_RETURN_IF_ERROR(open(task));
    MTMC_TRY(const std::vector<std::string> names, draws());
    MTMC_TRY(const std::filesystem::path file, file_of(candidate));

    Verdict verdict;
    verdict.tier = tier, verdict.evaluator = evaluator_of(options_), verdict.sandbox = "none";
    verdict.stage = "run", verdict.draws = names;
    Examination examination(*facts_, file, folder_.path(), options_.threads, TimeLimits(), verdict);
    const Json asked = {{"op", "try"}, {"file", file.string()}, {"draws", names}, {"rounds", kRounds}};
    Result<Json> told = ask(asked);
    if (!told.ok() && told.error().wrong == kEnded) {  // not by the candidate, maybe
      MTMC_RETURN_IF_ERROR(open(task));
      MTMC_TRY([[maybe_unused]] const std::filesystem::path again, file_of(candidate));
      told = ask(asked);
    }
    if (!told.ok() && process_.running()) return told.error();
    MTMC_TRY(const bool passed,
             told.ok() ? judged(*told, names, examination, verdict) : lost(told.error(), examination));
    examination.conclude(passed);
    verdict.seconds = now_seconds() - start;
    return verdict;
  }

  void reseed(uint64_t seed) override { options_.seed = seed_or_any(seed), facts_.reset(); }

 private:
  Command command() const {
    Command command = trusting_command(options_);
    command.environment["TRITON_CACHE_DIR"] = kernels();
    return command;
  }

  // Where Triton keeps what it has compiled: one place for all who explore on this machine beside each other.
  std::filesystem::path kernels() const {
    const std::filesystem::path turn = turn_file();
    return (turn.empty() ? folder_.path() : turn.parent_path()) / "triton";
  }

  Status open(const Task& task) {
    const std::string key = short_hash(task.json);
    if (facts_ && key == open_task_ && process_.running()) return ok_status();
    facts_.reset();
    std::filesystem::remove_all(folder_.path() / "task");
    std::filesystem::remove_all(folder_.path() / "candidates");
    MTMC_TRY(TaskFacts facts, TaskFacts::open(process_, task, folder_.path() / "task", kernels(), options_));
    facts_ = std::move(facts), open_task_ = key;
    return ok_status();
  }

  Result<std::filesystem::path> file_of(const Candidate& candidate) const {
    const std::filesystem::path file = folder_.path() / "candidates" / short_hash(candidate.code) / "kernel.py";
    std::filesystem::create_directories(file.parent_path());
    MTMC_RETURN_IF_ERROR(write_file(file, candidate.code));
    return file;
  }

  Result<Json> ask(const Json& trial) {
    return process_.ask(trial, options_.load_seconds + options_.call_seconds + 100 * facts_->eager_seconds());
  }

  // The task's own first: its arguments are those that calls are timed on.
  Result<std::vector<std::string>> draws() {
    std::vector<std::string> names = {"task-0"};
    MTMC_TRY([[maybe_unused]] const DrawFacts* own, facts_->draw(names[0]));
    MTMC_TRY(const std::vector<std::string> others, facts_->structured(structured_count(Tier::screen)));
    names.insert(names.end(), others.begin(), others.end());
    return names;
  }

  Result<bool> judged(const Json& told, const std::vector<std::string>& names, Examination& examination,
                      Verdict& verdict) {
    if (told.contains("fail")) {
      if (told.at("lost").get<bool>()) process_.stop();
      return examination.refuse(told.at("fail"), told.at("message"));
    }
    trace_note("try " + told.at("spent").dump());
    verdict.weights = told.at("weights"), verdict.stage = "correctness";
    for (const std::string& name : names) {
      const Json& measured = told.at("measured").at(name);
      MTMC_TRY(const DrawFacts* facts, facts_->draw(name));
      MTMC_TRY(const bool right,
               examination.judge_results(*facts, measurements_from(measured.at("outputs")), measured.at("hash"), 0));
      if (!right) return false;
    }
    verdict.stage = "timing";
    const Timing own = timing_of(told.at("candidate_ns")), eager = timing_of(told.at("eager_ns"));
    verdict.time_ms = own.median_ms;
    verdict.times = {{"candidate", own}, {"eager", eager}};
    verdict.speedup["eager"] = speedup_of(eager, own, level_of(Tier::screen));
    return true;
  }

  // The process is gone: it crashed with this candidate twice, or gave no answer in time.
  static Result<bool> lost(const Error& error, Examination& examination) {
    return examination.refuse(error.wrong == kUnanswered ? "timed-out" : "crashed", error.message());
  }

  JudgeOptions options_;
  TempDir folder_;
  JudgeProcess process_;
  std::string open_task_;  // hash of the open task's JSON
  std::optional<TaskFacts> facts_;
};

}  // namespace

std::unique_ptr<Judge> make_trusting_judge(const JudgeOptions& options) {
  return std::make_unique<TrustingJudge>(options);
}

}  // namespace mtmc
