#include "workbench/finished_searches.h"

#include <sys/utsname.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/cores.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "base/turn.h"
#include "base/variables.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "finished search";
constexpr double kIdentitySeconds = 60;
constexpr size_t kMostFiles = 4000;
constexpr int kDeepest = 12;

// This program and its Python side.
Result<std::string> own_identity() {
  MTMC_TRY(const std::string program, read_file("/proc/self/exe"));
  MTMC_TRY(const Finished python, run({{python_program(), "-m", "mtmc.device.identity"}, {}, {}, kIdentitySeconds}));
  if (python.exit_code != 0)
    return Error{"asking what answers depend on", "Python could not tell", std::string(trim(python.err)),
                 python_program() + " -m mtmc.device.identity to print a hash"};
  return sha256(program) + " " + std::string(trim(python.out));
}

std::string host() {
  utsname names{};
  return uname(&names) == 0 ? names.nodename : "";
}

// Everything that shapes a search and its verdicts, its limits of time and where it runs included.
Json searcher_json(const Workbench& bench) {
  const WorkbenchOptions& options = bench.options();
  const SearchLimits& limits = options.limits;
  const StrategyOptions& strategy = options.strategy_options;
  return {{"target", bench.target().name},
          {"hardware", to_json(bench.hardware())},
          {"host", host()},
          {"processors", usable_cores().size()},
          {"shares", !turn_file().empty()},
          {"compiler", variable("CXX", "")},
          {"sandbox", variable("MTMC_SANDBOX", "")},
          {"evaluator", bench.evaluator()},
          {"strategy", options.strategy},
          {"width", strategy.width},
          {"patience", strategy.patience},
          {"breadth", strategy.breadth},
          {"policy", options.policy},
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

// The builtin coder and a policy without weights: neither a language model nor another program has a say.
bool repeatable(const WorkbenchOptions& options) {
  return options.coder == "builtin" && options.policy.find(':') == options.policy.npos && options.llm.model.empty();
}

// Nothing that a task imports lies there: hidden files, an environment of Python, what mtmc wrote.
bool is_passed_over(const fs::path& folder, const fs::path& out) {
  std::error_code code;
  const auto has = [&](const char* file) { return fs::exists(folder / file, code); };
  const std::string name = folder.filename();
  return name.starts_with(".") || name == "site-packages" || has("pyvenv.cfg") || has("conda-meta") ||
         (has("kernel.py") && has("result.json")) || (has("rows.jsonl") && has("summary.md")) ||
         fs::equivalent(folder, out, code);
}

// Of all Python files there and below; none where they are too many, or cannot all be read.
std::optional<std::string> hash_of_folder(const fs::path& folder, const fs::path& out) {
  std::error_code code;
  std::vector<std::string> files;
  auto at = fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code)) {
    std::error_code gone;  // a link that leads nowhere
    if (at->is_directory(gone) && is_passed_over(at->path(), out)) at.disable_recursion_pending();
    if (at->path().extension() == ".py" && at->is_regular_file(gone)) files.push_back(at->path());
    if (files.size() > kMostFiles || at.depth() > kDeepest) return std::nullopt;
  }
  if (code) return std::nullopt;
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return std::nullopt;
    all += file + " " + sha256(*text) + "\n";
  }
  return sha256(all);
}

}  // namespace

Result<std::optional<std::string>> FinishedSearches::key_of(const Task& task) {
  const Json json = Json::parse(task.json);
  const std::optional<std::string> none;
  if (!repeatable(bench_.options()) || !json.at("file").is_string()) return none;
  if (searcher_.empty()) {
    MTMC_TRY(const std::string identity, own_identity());
    searcher_ = sha256(searcher_json(bench_).dump() + identity);
  }
  const auto files = hash_of_folder(fs::path(json.at("file").get<std::string>()).parent_path(), out_);
  return files ? std::optional(sha256(task.json + *files + searcher_)) : none;
}

Result<std::optional<RunId>> FinishedSearches::find(const std::optional<std::string>& key) {
  const std::optional<RunId> none;
  if (!key) return none;
  MTMC_TRY(const auto known, store_.recall(kKind, *key));
  return known ? std::optional<RunId>(std::stoll(*known)) : none;
}

Status FinishedSearches::keep(const std::optional<std::string>& key, const Task& task, const Optimized& done) {
  if (!key || done.resumed || done.given_up || done.answer == Answer::unclear) return ok_status();
  MTMC_TRY(const std::vector<NodeRecord> nodes, store_.nodes(done.run));
  for (const NodeRecord& node : nodes)
    for (const std::optional<Verdict>& verdict : {node.screen, node.certify})
      if (verdict && is_of_the_moment(verdict->reason)) return ok_status();
  MTMC_TRY(const auto now, key_of(task));
  return now == key ? store_.remember(kKind, *key, std::to_string(done.run)) : ok_status();
}

}  // namespace mtmc
