// `mtmc verify FILE CANDIDATE`: judges a kernel file from anyone and prints the evidence.
#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/task_options.h"
#include "cli/verb.h"
#include "eval/evidence.h"
#include "eval/process_judge.h"

namespace mtmc {
namespace {

struct VerifyOptions {
  TaskOptions task;
  std::string candidate, python, tier = "certify", accuracy = "eager";
  std::string device = "auto";
  std::vector<std::string> baselines;
  int64_t threads = 0, seed = 0, repeat = 1;
  bool compile = false, freeze_weights = false, json = false;
};

Result<int> verify(const VerifyOptions& options) {
  MTMC_TRY(const Task task, options.task.task());
  const auto code = read_file(options.candidate);
  if (!code.ok() || std::filesystem::is_directory(options.candidate))
    return Error{"opening the candidate", code.ok() ? "not a file" : code.error().wrong, "'" + options.candidate + "'",
                 "a Python file with ModelNew"};
  JudgeOptions judge_options;
  judge_options.python = options.python;
  judge_options.threads = static_cast<int>(options.threads);
  judge_options.seed = static_cast<uint64_t>(options.seed);
  judge_options.device = options.device == "auto" ? device_for(*code) : options.device;
  if (judge_options.device == "cuda" && !has_gpu())
    return Error{"choosing the device", "this machine has no NVIDIA GPU", "--device cuda", "--device cpu"};
  std::vector<std::string> baselines = options.baselines;
  if (options.compile) baselines.push_back("compile");
  MTMC_TRY(judge_options.baselines, baselines_named(baselines));
  judge_options.screens_wait = true;
  judge_options.accuracy = accuracy_named(options.accuracy);
  judge_options.freeze_weights = options.freeze_weights;
  const std::unique_ptr<Judge> judge = make_process_judge(judge_options);
  const Tier tier = options.tier == "screen" ? Tier::screen : Tier::certify;
  bool certified = true;
  for (int64_t i = 0; i < options.repeat; ++i) {
    if (i > 0) judge->reseed(options.seed == 0 ? 0 : static_cast<uint64_t>(options.seed + i));
    MTMC_TRY(const Verdict verdict, judge->judge(task, {*code, nullptr}, tier));
    const int indent = options.repeat == 1 ? 2 : -1;  // several: a line each
    fmt::print("{}\n", options.json ? to_json(verdict).dump(indent) : render_evidence(verdict));
    std::fflush(stdout);
    certified = certified && verdict.certified();
  }
  return certified ? kDone : kNotBetter;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<VerifyOptions>();
  given->task.declare(options);
  options.positional(given->candidate, "CANDIDATE", "a kernel file: Python that defines ModelNew");
  options.choice(given->tier, "--tier", {"certify", "screen"}, "everything, or the short examination of the search");
  options.choice(
      given->device, "--device", {"auto", "cpu", "cuda"},
      "where module and candidate run; auto: on the GPU when there is one and the candidate is written for it "
      "(it names triton or cuda), else on the CPU");
  options.words(given->baselines, "--baselines", "NAME...",
                "what to time beside eager: compile, max-autotune, graph (eager in one CUDA graph)");
  options.text(given->python, "--python", "PATH", "the Python to judge with");
  options.integer(given->threads, "--threads", 0, "threads of every side (0: all cores)");
  options.integer(given->seed, "--seed", 0, "of the hidden draws, to repeat a verdict (0: drawn from the system)");
  options.integer(given->repeat, "--repeat", 1, "judge so often, under the seeds that follow; a line of JSON each");
  options.flag(given->compile, "--compile", "the same as --baselines compile");
  declare_accuracy(options, given->accuracy);
  options.flag(given->freeze_weights, "--freeze-weights", "allow weights to be packed once");
  options.flag(given->json, "--json", "print the verdict as JSON");
  return [given] { return verify(*given); };
}

}  // namespace

extern const Verb verify_def;
const Verb verify_def{"verify", "Judge a kernel file from anyone, with all defences, and print the evidence.", declare};

}  // namespace mtmc
