#include "workbench/finished.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "base/variables.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "finished run";
constexpr double kSeconds = 60;

// This program and its Python side.
Result<std::string> own_identity() {
  MTMC_TRY(const std::string program, read_file("/proc/self/exe"));
  MTMC_TRY(const Finished python, run({{python_program(), "-m", "mtmc.device.identity"}, {}, {}, kSeconds}));
  if (python.exit_code != 0)
    return Error{"asking what answers depend on", "Python could not tell", std::string(trim(python.err)),
                 python_program() + " -m mtmc.device.identity to print a hash"};
  return sha256(program) + " " + std::string(trim(python.out));
}

// Everything that shapes a search and its verdicts, its limits of time included.
Json searcher_json(const Workbench& bench) {
  const WorkbenchOptions& options = bench.options();
  const SearchLimits& limits = options.limits;
  const StrategyOptions& strategy = options.strategy_options;
  return {{"target", bench.target().name},
          {"hardware", bench.hardware().name},
          {"evaluator", bench.evaluator()},
          {"strategy", options.strategy},
          {"width", strategy.width},
          {"patience", strategy.patience},
          {"breadth", strategy.breadth},
          {"policy", bench.policy_identity()},
          {"coder", options.coder},
          {"paper", options.paper_only},
          {"seconds", limits.seconds},
          {"steps", limits.steps},
          {"evaluations", limits.evaluations},
          {"baselines", options.baselines},
          {"accuracy", static_cast<int>(options.accuracy)},
          {"freeze_weights", options.freeze_weights},
          {"seed", options.seed}};
}

// Nothing that a task imports lies there: hidden files, an environment of Python, what a benchmark wrote.
bool is_passed_over(const fs::path& folder) {
  std::error_code code;
  return folder.filename().string().starts_with(".") || fs::exists(folder / "pyvenv.cfg", code) ||
         fs::exists(folder / "rows.jsonl", code) || fs::exists(folder / "result.json", code);
}

}  // namespace

Result<std::string> FinishedRuns::of_folder(const fs::path& folder) {
  const auto [known, fresh] = folders_.try_emplace(folder.string());
  if (!fresh) return known->second;
  std::vector<std::string> files;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (auto at = fs::recursive_directory_iterator(folder, skip); at != fs::recursive_directory_iterator(); ++at) {
    if (at->is_directory() && is_passed_over(at->path())) at.disable_recursion_pending();
    if (at->is_regular_file() && at->path().extension() == ".py") files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string& file : files) {
    MTMC_TRY(const std::string text, read_file(file));
    all += file + " " + sha256(text) + "\n";
  }
  return known->second = sha256(all);
}

Result<std::string> FinishedRuns::key_of(const Task& task) {
  if (searcher_.empty()) {
    MTMC_TRY(const std::string identity, own_identity());
    searcher_ = sha256(searcher_json(bench_).dump() + identity);
  }
  const Json json = Json::parse(task.json);
  std::string files;
  if (json.at("file").is_string()) {
    MTMC_TRY(files, of_folder(fs::path(json.at("file").get<std::string>()).parent_path()));
  }
  return sha256(task.json + files + searcher_);
}

bool FinishedRuns::answers_again() const {
  return bench_.options().coder == "builtin" && bench_.options().llm.model.empty();
}

Result<std::optional<RunId>> FinishedRuns::find(const Task& task) {
  if (!answers_again()) return std::optional<RunId>();
  MTMC_TRY(const std::string key, key_of(task));
  MTMC_TRY(const auto known, store_.recall(kKind, key));
  return known ? std::optional<RunId>(std::stoll(*known)) : std::nullopt;
}

Status FinishedRuns::keep(const Task& task, RunId run) {
  if (!answers_again()) return ok_status();
  MTMC_TRY(const std::string key, key_of(task));
  return store_.remember(kKind, key, std::to_string(run));
}

}  // namespace mtmc
