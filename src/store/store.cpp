#include "store/store.h"

#include <algorithm>

#include "base/hash.h"
#include "base/variables.h"

namespace mtmc {

std::string to_string(RunState state) {
  switch (state) {
    case RunState::running: return "running";
    case RunState::interrupted: return "interrupted";
    case RunState::done: return "done";
  }
  MTMC_CHECK(false, "a run state without a name");
}

std::string hash_task(const Task& task, std::string_view source, std::string_view graph) {
  // Lengths keep the parts apart: no text can move from one into the next.
  std::string all = std::to_string(task.json.size()) + ":" + task.json + std::to_string(source.size()) + ":";
  return sha256(all.append(source).append(graph));
}

std::filesystem::path store_path(const std::string& option) {
  if (!option.empty()) return option;
  if (const std::string path = variable("MTMC_STORE"); !path.empty()) return path;
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty())
    return std::filesystem::path(data) / "mtmc" / "store.db";
  return std::filesystem::path(variable("HOME")) / ".local" / "share" / "mtmc" / "store.db";
}

bool is_of_the_moment(const std::string& reason) {
  return reason == "timed-out" || reason == "out-of-memory" || reason == "too-many-processes";
}

double score(const Verdict& verdict, bool start) {
  if (!verdict.certified()) return 0;
  const Speedup* eager = speedup_over(verdict, "eager");
  if (eager == nullptr) return verdict.time_ms ? 1 / *verdict.time_ms : 0;
  return start && eager->high >= 1 ? 1 : headline(*eager);
}

const NodeRecord* best_node(const std::vector<NodeRecord>& nodes) {
  const NodeRecord* best = nullptr;
  const auto better = [](const NodeRecord& a, const NodeRecord& b) {
    if (a.certify.has_value() != b.certify.has_value()) return a.certify.has_value();
    return score(*a.verdict(), a.parent == kNoNode) > score(*b.verdict(), b.parent == kNoNode);
  };
  for (const NodeRecord& node : nodes) {
    const Verdict* verdict = node.verdict();
    if (!verdict || !verdict->certified() || !verdict->time_ms) continue;
    if (!best || better(node, *best)) best = &node;
  }
  return best;
}

const NodeRecord* result_node(const RunRecord& run, const std::vector<NodeRecord>& nodes) {
  if (!run.conclusion) return best_node(nodes);
  const auto named = [&](const NodeRecord& node) { return node.id == run.conclusion->node; };
  const auto found = std::find_if(nodes.begin(), nodes.end(), named);
  return found == nodes.end() ? nullptr : &*found;
}

std::vector<const NodeRecord*> path_to(const std::vector<NodeRecord>& nodes, NodeId id) {
  std::vector<const NodeRecord*> path;
  while (id != kNoNode) {
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const NodeRecord& node) { return node.id == id; });
    MTMC_CHECK(found != nodes.end(), "node " + std::to_string(id) + " is not in this run");
    path.push_back(&*found);
    id = found->parent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace mtmc
