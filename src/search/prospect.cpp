#include "search/prospect.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "base/hash.h"
#include "base/parallel.h"
#include "ir/kernel_program.h"
#include "targets/cost.h"
#include "targets/import_time.h"

namespace mtmc {

namespace {

constexpr size_t kGraphs = 16;

// "^" of the first kernel of a capture, "_" of those behind it: their launches cost otherwise.
std::string mark_of(Captured place) { return place == Captured::no ? "" : place == Captured::first ? "^" : "_"; }

std::string mark_of(int graph, const Kernel& kernel, Captured place, const std::vector<ValueId>& writes) {
  std::string mark = std::to_string(graph) + " " + std::string(name(kernel.family));
  for (const auto& [choice, word] : kernel.choices) mark += " " + choice + ":" + word;
  for (const auto* ids : {&kernel.values, &writes}) {
    mark += " |";
    for (ValueId id : *ids) mark += " " + std::to_string(id);
  }
  return mark + mark_of(place);
}

}  // namespace

int Forecaster::graph_of(const Program& program) {
  const auto is_its = [&](const Graph& graph) {
    return graph.nodes == program.nodes && graph.values == program.values;
  };
  {
    const std::shared_lock lock(mutex_);
    const auto found = std::find_if(graphs_.rbegin(), graphs_.rend(), is_its);
    if (found != graphs_.rend()) return found->number;
  }
  const std::unique_lock lock(mutex_);
  const auto found = std::find_if(graphs_.rbegin(), graphs_.rend(), is_its);  // another thread was here
  if (found != graphs_.rend()) return found->number;
  if (graphs_.size() == kGraphs) {
    graphs_.clear();
    here_.clear();
  }
  graphs_.push_back({numbers_++, program.nodes, program.values});
  return graphs_.back().number;
}

Prospect Forecaster::known_or_new(const Program& program, const Kernel& kernel, Captured place) {
  // It copies what the whole capture reads and leaves: another Program's is another.
  if (place == Captured::first) return of_kernel(program, kernel, place);
  const std::string key = tuning_key(program, kernel, context_.hardware) + mark_of(place);
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  const Prospect made = of_kernel(program, kernel, place);
  const std::unique_lock lock(mutex_);
  return known_.emplace(key, made).first->second;
}

std::vector<Prospect> Forecaster::prospects(const Program& program) {
  const int graph = graph_of(program);
  const std::vector<std::vector<ValueId>> writes = program.writes_of_all();
  const std::vector<Captured> places = captured_of_all(program);
  std::vector<std::string> marks;
  for (size_t k = 0; k < program.kernels.size(); ++k)
    marks.push_back(mark_of(graph, program.kernels[k], places[k], writes[k]));
  std::vector<Prospect> found(marks.size());
  std::vector<size_t> missing;
  const std::set<ValueId> at_import = made_at_import(program);
  {
    const std::shared_lock lock(mutex_);
    for (size_t k = 0; k < marks.size(); ++k) {
      if (runs_at_import(program.kernels[k], at_import)) continue;  // no call pays for it
      const auto here = here_.find(marks[k]);
      if (here == here_.end()) {
        missing.push_back(k);
      } else {
        found[k] = here->second;
      }
    }
  }
  in_parallel(missing.size(), [&](size_t i) {
    const size_t k = missing[i];
    found[k] = known_or_new(program, program.kernels[k], places[k]);
    const std::unique_lock lock(mutex_);
    here_.emplace(std::move(marks[k]), found[k]);
  });
  return found;
}

Prospect Forecaster::prospect(const Program& program) {
  Prospect total;
  for (const Prospect& one : prospects(program))
    total.now += one.now, total.completed += one.completed, total.host += one.host;
  return total;
}

Prospect Forecaster::of_kernel(const Program& whole, const Kernel& kernel, Captured place) const {
  // Alone it is as fast as in its Program, but for captures; and a step on it costs what it costs on a small one.
  const bool alone = place == Captured::no;
  Program best = alone ? kernel_program(whole, kernel) : whole;
  const std::string name = alone ? best.kernels.front().name : kernel.name;
  const std::vector<ValueId> values = best.kernel(name)->values;
  const KernelCost cost = context_.target.cost(best, *best.kernel(name), context_.hardware);
  Prospect prospect{cost.seconds, cost.seconds, cost.host};
  if (kernel.family == Family::library) return prospect;
  for (const auto& [type, word] : {std::pair{"tile", "tiled"}, {"pipeline", "pipelined"}, {"split", "split"}}) {
    if (context_.target.measures(word)) continue;  // the model knows a kernel as it will be then
    const auto next = apply_action(best, {type, {values}, ""}, context_);
    if (!next.ok()) continue;
    const double seconds = context_.target.cost(*next, *next->kernel(name), context_.hardware).seconds;
    if (seconds > prospect.completed) continue;
    prospect.completed = seconds;
    best = std::move(next).value();
  }
  return prospect;
}

}  // namespace mtmc
