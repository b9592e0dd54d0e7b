#include "search/prospect.h"

#include <algorithm>

#include "base/hash.h"
#include "ir/kernel_program.h"
#include "targets/cost.h"
#include "targets/cost_parts.h"

namespace mtmc {

namespace {

constexpr size_t kGraphs = 16;

// "^" of the first kernel of a capture, "_" of those behind it: their launches cost otherwise.
std::string in_captures(const Program& program, const Kernel& kernel) {
  std::string places;
  for (const auto& capture : program.captures)
    if (std::count(capture.begin(), capture.end(), kernel.name) > 0)
      places += capture.front() == kernel.name ? "^" : "_";
  return places;
}

std::string mark_of(int graph, const Program& program, const Kernel& kernel, const std::vector<ValueId>& writes) {
  std::string mark = std::to_string(graph) + " " + std::string(name(kernel.family));
  for (const auto& [choice, word] : kernel.choices) mark += " " + choice + ":" + word;
  for (const auto* ids : {&kernel.values, &writes}) {
    mark += " |";
    for (ValueId id : *ids) mark += " " + std::to_string(id);
  }
  return mark + in_captures(program, kernel);
}

}  // namespace

int Forecaster::graph_of(const Program& program) {
  for (size_t g = graphs_.size(); g-- > 0;)
    if (graphs_[g].first == program.nodes && graphs_[g].second == program.values) return static_cast<int>(g);
  if (graphs_.size() == kGraphs) {
    graphs_.clear();
    here_.clear();
  }
  graphs_.emplace_back(program.nodes, program.values);
  return static_cast<int>(graphs_.size()) - 1;
}

std::vector<Prospect> Forecaster::prospects(const Program& program) {
  const int graph = graph_of(program);
  const std::vector<std::vector<ValueId>> writes = program.writes_of_all();
  std::vector<Prospect> found;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const Kernel& kernel = program.kernels[k];
    std::string mark = mark_of(graph, program, kernel, writes[k]);
    auto here = here_.find(mark);
    if (here == here_.end()) {
      std::string key = tuning_key(program, kernel, context_.hardware) + in_captures(program, kernel);
      auto known = known_.find(key);
      if (known == known_.end()) known = known_.emplace(std::move(key), of_kernel(program, kernel)).first;
      here = here_.emplace(std::move(mark), known->second).first;
    }
    found.push_back(here->second);
  }
  return found;
}

Prospect Forecaster::prospect(const Program& program) {
  Prospect total;
  for (const Prospect& one : prospects(program)) total.now += one.now, total.completed += one.completed;
  return total;
}

Prospect Forecaster::of_kernel(const Program& whole, const Kernel& kernel) {
  // Alone it is as fast as in its Program, but for captures; and a step on it costs what it costs on a small one.
  const bool alone = captured(whole, kernel) == Captured::no;
  Program best = alone ? kernel_program(whole, kernel) : whole;
  const std::string name = alone ? best.kernels.front().name : kernel.name;
  const std::vector<ValueId> values = best.kernel(name)->values;
  const double now = context_.target.cost(best, *best.kernel(name), context_.hardware).seconds;
  Prospect prospect{now, now};
  if (kernel.family == Family::library) return prospect;
  for (const char* type : {"tile", "pipeline", "split"}) {
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
