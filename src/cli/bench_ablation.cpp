#include "cli/bench_ablation.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/bench_work.h"
#include "cli/verb.h"
#include "store/store.h"
#include "workbench/ablation.h"
#include "workbench/rows.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

// What the rows of one way amount to, with what each search tried.
Result<WayResult> way_result(const Way& way, const fs::path& folder, Store& store) {
  WayResult result{way, {}, {}, {}};
  MTMC_TRY(result.rows, read_rows(folder / "rows.jsonl"));
  for (const auto& [task, row] : result.rows) {
    if (!row.contains("run") || !row.at("run").is_number()) continue;
    MTMC_TRY(const std::vector<NodeRecord> nodes, store.nodes(row.at("run").get<RunId>()));
    result.tried.emplace(task, tried_in(nodes));
    if (const Json account = row.value("account", Json()); account.is_object()) {
      result.asked = result.asked + spent_from_json(account);
    }
  }
  return result;
}

std::string folder_of(const Way& way) {
  std::string name = way.text();
  for (const char* sign : {"/", ":", "@", ","}) name = replace_all(name, sign, "-");
  return name;
}

}  // namespace

Result<int> run_ablation(const BenchOptions& options, LlmAccess& llm) {
  std::vector<std::string> words = options.ways;
  if (words.empty()) words = {"greedy/rollout", "random/rollout", "greedy/rollout/paper", "random/rollout/paper"};
  std::vector<Way> ways;
  for (const std::string& word : words) {
    MTMC_TRY(Way way, parse_way(word));
    ways.push_back(std::move(way));
  }
  int worst = kDone;
  std::vector<WayResult> results;
  for (const Way& way : ways) {
    BenchOptions one = options;
    one.suite = options.of, one.way = way.text();
    one.out = fs::path(options.out) / folder_of(way);
    one.search.search_by(way);
    if (!options.list && !options.member) fmt::print("{}\n", way.text());
    MTMC_TRY(const int code, run_bench(one, llm));
    worst = std::max(worst, code);
    if (options.list || options.member) return code;
    MTMC_TRY(const auto store, open_store(store_path(options.search.store), OpenFor::reading));
    MTMC_TRY(WayResult result, way_result(way, one.out, *store));
    results.push_back(std::move(result));
  }
  const std::string table = ablation_table(results);
  MTMC_RETURN_IF_ERROR(write_file(fs::path(options.out) / "ablation.md", table));
  MTMC_RETURN_IF_ERROR(write_file(fs::path(options.out) / "ablation.svg", ablation_svg(results)));
  fmt::print("\n{}\nin {}\n", table, (fs::path(options.out) / "ablation.md").string());
  return worst;
}

}  // namespace mtmc
