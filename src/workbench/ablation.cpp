#include "workbench/ablation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "eval/stats.h"
#include "workbench/plots.h"

namespace mtmc {

namespace {

constexpr size_t kBudgets[] = {1, 2, 4, 8, 16, 32, 64, 128};  // candidates

// The tasks that every way searched, in order.
std::vector<std::string> common_tasks(const std::vector<WayResult>& results) {
  std::vector<std::string> tasks;
  if (results.empty()) return tasks;
  for (const auto& [task, tried] : results.front().tried)
    if (std::all_of(results.begin(), results.end(), [&](const WayResult& one) { return one.tried.contains(task); }))
      tasks.push_back(task);
  return tasks;
}

// Geometric mean over the tasks of the best after so many candidates; a search that ended earlier keeps its best.
double best_after(const WayResult& result, const std::vector<std::string>& tasks, size_t candidates) {
  std::vector<double> speedups;
  for (const std::string& task : tasks) {
    const std::vector<double>& best = result.tried.at(task).best;
    speedups.push_back(best.empty() ? 1 : best[std::min(candidates, best.size()) - 1]);
  }
  return geometric_mean(speedups);
}

size_t most_candidates(const std::vector<WayResult>& results) {
  size_t most = 0;
  for (const WayResult& result : results)
    for (const auto& [task, tried] : result.tried) most = std::max(most, tried.best.size());
  return most;
}

std::string refusals(const WayResult& result) {
  std::map<std::string, int> all;
  for (const auto& [task, tried] : result.tried)
    for (const auto& [reason, count] : tried.refused) all[reason] += count;
  std::vector<std::string> words;
  for (const auto& [reason, count] : all) words.push_back(fmt::format("{} {}", count, reason));
  return words.empty() ? "0" : fmt::format("{}", fmt::join(words, ", "));
}

std::string line_of(const WayResult& result) {
  std::vector<double> certified;
  double sum = 0, steps = 0;
  size_t judged = 0;
  for (const auto& [task, row] : result.rows)
    if (const auto speedup = over_eager(row)) certified.push_back(*speedup), sum += *speedup;
  for (const auto& [task, tried] : result.tried) judged += tried.best.size(), steps += tried.steps;
  const double tasks = static_cast<double>(std::max<size_t>(result.rows.size(), 1));
  const auto faster = std::count_if(certified.begin(), certified.end(), [](double speedup) { return speedup > 1; });
  return fmt::format("| `{}` | {} | {:.0f} % | {:.2f} | {} | {:.0f} % | {} | {} | {:.1f} | {} |\n", result.way.text(),
                     result.rows.size(), 100 * static_cast<double>(certified.size()) / tasks, sum / tasks,
                     certified.empty() ? "" : fmt::format("{:.2f}", geometric_mean(certified)),
                     100 * static_cast<double>(faster) / tasks, judged, refusals(result),
                     steps / static_cast<double>(std::max<size_t>(result.tried.size(), 1)),
                     result.asked.requests + result.asked.remembered > 0 ? describe(result.asked) : "nothing");
}

}  // namespace

Tried tried_in(const std::vector<NodeRecord>& nodes) {
  Tried tried;
  double best = 1;
  const NodeRecord* winner = nullptr;
  for (const NodeRecord& node : nodes) {
    if (node.parent == kNoNode || !node.screen) continue;
    if (!node.screen->certified()) ++tried.refused[node.screen->reason];
    if (const double speedup = score(*node.screen, false); speedup > best) best = speedup, winner = &node;
    tried.best.push_back(best);
  }
  if (winner != nullptr) tried.steps = winner->step;
  return tried;
}

std::string ablation_table(const std::vector<WayResult>& results) {
  std::string text =
      "| way | tasks | certified | mean speedup (0 where none) | geometric mean of the certified | fast_1 | candidates "
      "judged | refused | steps to the best | asked of language models |\n| --- | --- | --- | --- | --- | --- | --- | "
      "--- "
      "| --- | --- |\n";
  for (const WayResult& result : results) text += line_of(result);
  const std::vector<std::string> tasks = common_tasks(results);
  const size_t most = most_candidates(results);
  if (tasks.empty() || most == 0) return text;
  text += fmt::format("\nBest screened speedup after so many candidates, geometric mean of {} tasks:\n\n| way |",
                      tasks.size());
  std::vector<size_t> budgets;
  for (const size_t budget : kBudgets) {
    budgets.push_back(std::min(budget, most));
    if (budget >= most) break;
  }
  for (const size_t budget : budgets) text += fmt::format(" {} |", budget);
  text += "\n| --- |";
  for (size_t i = 0; i < budgets.size(); ++i) text += " --- |";
  text += "\n";
  for (const WayResult& result : results) {
    text += "| `" + result.way.text() + "` |";
    for (const size_t budget : budgets) text += fmt::format(" {:.2f} |", best_after(result, tasks, budget));
    text += "\n";
  }
  return text;
}

std::string ablation_svg(const std::vector<WayResult>& results) {
  const std::vector<std::string> tasks = common_tasks(results);
  std::map<std::string, std::vector<double>> lines;
  for (const WayResult& result : results)
    for (size_t candidates = 1; !tasks.empty() && candidates <= most_candidates(results); ++candidates)
      lines[result.way.text()].push_back(best_after(result, tasks, candidates));
  return growth_svg(lines, "candidates judged, a task");
}

}  // namespace mtmc
