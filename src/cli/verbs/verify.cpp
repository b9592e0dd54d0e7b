// `mtmc verify FILE CANDIDATE`: judges a kernel file from anyone and prints the evidence; `--list` many, with processes
// that stay warm.
#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/task_options.h"
#include "cli/verb.h"
#include "eval/evidence.h"
#include "eval/process_judge.h"
#include "llm/key.h"

namespace mtmc {
namespace {

struct VerifyOptions {
  TaskOptions task;
  std::string candidate, list, python, tier = "certify", accuracy = "eager";
  std::string device = "auto";
  std::vector<std::string> baselines;
  int64_t threads = 0, seed = 0, repeat = 1;
  bool freeze_weights = false, json = false;
};

constexpr const char* kDoing = "reading the list of candidates";

// What is judged, how often, and under which seeds.
struct Wanted {
  TaskOptions task;
  std::string candidate, tier;
  int64_t seed = 0, repeat = 1;
};

// A judge for each device, started when first asked for.
class Judges {
 public:
  // `told`: see Judge::tell.
  static Result<Judges> of(const VerifyOptions& options, std::function<void(const std::string&)> told = {}) {
    Judges made;
    made.device_ = options.device;
    JudgeOptions& judge = made.options_;
    judge.python = options.python, judge.threads = static_cast<int>(options.threads);
    judge.accuracy = accuracy_named(options.accuracy), judge.freeze_weights = options.freeze_weights;
    judge.screens_wait = true, judge.told = std::move(told);
    MTMC_TRY(judge.baselines, baselines_named(options.baselines));
    return made;
  }

  // Its hidden draws begin with those of this seed.
  Result<Judge*> judge_for(const std::string& code, int64_t seed) {
    options_.device = device_ == "auto" ? device_for(code) : device_;
    if (options_.device == "cuda" && !has_gpu())
      return Error{"choosing the device", "this machine has no NVIDIA GPU", "--device cuda", "--device cpu"};
    options_.seed = static_cast<uint64_t>(seed);
    const auto [judge, fresh] = judges_.try_emplace(options_.device);
    if (fresh)
      judge->second = make_process_judge(options_);
    else
      judge->second->reseed(options_.seed);
    return judge->second.get();
  }

 private:
  std::string device_;
  JudgeOptions options_;
  std::map<std::string, std::unique_ptr<Judge>> judges_;
};

// Hands each verdict to `print`. An Error is the user's mistake in the task or the candidate's name.
template <typename Print>
Result<bool> judge_all(const Wanted& wanted, Judges& judges, const Print& print) {
  MTMC_TRY(const Task task, wanted.task.task());
  const auto code = read_file(wanted.candidate);
  if (!code.ok() || std::filesystem::is_directory(wanted.candidate))
    return Error{"opening the candidate", code.ok() ? "not a file" : code.error().wrong, "'" + wanted.candidate + "'",
                 "a Python file with ModelNew"};
  const Tier tier = wanted.tier == "screen" ? Tier::screen : Tier::certify;
  // A SyntaxError names the copy that the judge ran.
  const std::string own_name = "(" + std::filesystem::path(wanted.candidate).filename().string() + ", line ";
  bool certified = true;
  for (int64_t i = 0; i < wanted.repeat; ++i) {
    MTMC_TRY(Judge* const judge, judges.judge_for(*code, wanted.seed == 0 ? 0 : wanted.seed + i));
    MTMC_TRY(Verdict verdict, judge->judge(task, {*code, nullptr}, tier));
    verdict.message = replace_all(verdict.message, "(kernel.py, line ", own_name);
    print(verdict);
    std::fflush(stdout);
    certified = certified && verdict.certified();
  }
  return certified;
}

Result<int> verify_one(const VerifyOptions& options) {
  for (const auto& [word, given] : {std::pair("FILE", options.task.target), std::pair("CANDIDATE", options.candidate)})
    if (given.empty())
      return Error{"reading the command line", std::string(word) + " is missing", "", "FILE CANDIDATE, or --list FILE"};
  Progress progress(stderr);
  MTMC_TRY(Judges judges, Judges::of(options, [&](const std::string& what) {
             what.empty() ? progress.clear() : progress.live(-1, -1, "", what);
           }));
  const int indent = options.repeat == 1 ? 2 : -1;  // several: a line each
  const Wanted wanted{options.task, options.candidate, options.tier, options.seed, options.repeat};
  MTMC_TRY(const bool certified, judge_all(wanted, judges, [&](const Verdict& verdict) {
             progress.clear();
             fmt::print("{}\n", options.json ? to_json(verdict).dump(indent) : render_evidence(verdict));
           }));
  return certified ? kDone : kNotBetter;
}

// A line of the list: {"file": ..., "candidate": ...} and, where they differ from the command line's, "tier", "seed"
// and "repeat".
Result<Wanted> wanted_by(const std::string& line, const VerifyOptions& options) {
  const std::string form = R"(a line of JSON such as {"file": "task.py", "candidate": "kernel.py"})";
  const Json row = Json::parse(line, nullptr, false);
  if (!row.is_object()) return Error{kDoing, "not a JSON object", "'" + line + "'", form};
  Wanted wanted{options.task, "", options.tier, options.seed, options.repeat};
  try {
    wanted.task.target = row.at("file"), wanted.candidate = row.at("candidate");
    wanted.tier = row.value("tier", wanted.tier), wanted.seed = row.value("seed", wanted.seed);
    wanted.repeat = row.value("repeat", wanted.repeat);
  } catch (const Json::exception& error) {
    return Error{kDoing, error.what(), "'" + line + "'", form};
  }
  if (wanted.tier != "certify" && wanted.tier != "screen")
    return Error{kDoing, "no tier is called that", "'" + wanted.tier + "'", "certify or screen"};
  return wanted;
}

// A line of JSON for each verdict; for a pair that cannot be judged one with `error`, and the rest goes on. Lines are
// read as they come, so that whoever makes candidates can have one judge wait for them.
Result<int> verify_list(const VerifyOptions& options) {
  if (!options.task.target.empty())
    return Error{kDoing, "--list names files and candidates", "'" + options.task.target + "' beside it", "one of both"};
  std::ifstream file(options.list);
  if (options.list != "-" && !file)
    return Error{kDoing, "cannot be read", "'" + options.list + "'", "a file, or - for standard input"};
  MTMC_TRY(Judges judges, Judges::of(options));
  bool certified = true;
  for (std::string line; std::getline(options.list == "-" ? std::cin : file, line);) {
    if (trim(line).empty()) continue;
    MTMC_TRY(const Wanted wanted, wanted_by(line, options));
    const auto print = [&](Json row) {
      row["file"] = wanted.task.target, row["candidate"] = wanted.candidate;
      fmt::print("{}\n", row.dump());
    };
    const Result<bool> judged = judge_all(wanted, judges, [&](const Verdict& verdict) { print(to_json(verdict)); });
    if (!judged.ok()) print({{"error", judged.error().message()}});
    certified = certified && judged.ok() && *judged;
  }
  return certified ? kDone : kNotBetter;
}

Result<int> verify(const VerifyOptions& options) {
  [[maybe_unused]] const Keys keys = Keys::take();  // no candidate inherits a key from our environment
  return options.list.empty() ? verify_one(options) : verify_list(options);
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<VerifyOptions>();
  given->task.declare(options, false);
  options.optional_positional(given->candidate, "CANDIDATE", "a kernel file: Python that defines ModelNew");
  options.section("Judging (docs/JUDGE.md)");
  options.text(given->list, "--list", "FILE",
               "instead of both: many, a line {\"file\": ..., \"candidate\": ...} each (-: standard input)");
  options.choice(given->tier, "--tier", {"certify", "screen"},
                 "everything, or the short examination that a search uses");
  options.choice(given->device, "--device", {"auto", "cpu", "cuda"},
                 "where both run; auto: on the GPU when there is one and the candidate names triton or cuda");
  options.words(given->baselines, "--baselines", "NAME...",
                "what to time beside eager: compile, max-autotune, graph (one CUDA graph)");
  options.text(given->python, "--python", "PATH", "the Python to judge with");
  options.integer(given->threads, "--threads", 0, "threads of every side; 0: all cores");
  options.seed(given->seed, "--seed", "random numbers of the hidden draws, to repeat a verdict; 0: new ones");
  options.integer(given->repeat, "--repeat", 1, "judge so many times, under the seeds that follow");
  declare_accuracy(options, given->accuracy);
  options.flag(given->freeze_weights, "--freeze-weights", "let the kernel pack the weights once; the verdict says so");
  options.flag(given->json, "--json", "print the verdict as JSON");
  return [given] { return verify(*given); };
}

}  // namespace

extern const Verb verify_def;
const Verb verify_def{"verify", "Judge a kernel file, whoever wrote it, and print the evidence.", declare};

}  // namespace mtmc
