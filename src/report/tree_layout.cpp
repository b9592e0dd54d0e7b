#include "report/tree_layout.h"

#include <algorithm>
#include <map>
#include <set>

namespace mtmc {
namespace {

class Layout {
 public:
  explicit Layout(const ReportData& data) {
    for (const NodeRecord* node : data.path()) path_.insert(node->id);
    for (const NodeRecord& node : data.nodes) children_[node.parent].push_back(&node);
    for (const NodeRecord& node : data.nodes) reach_[node.id] = -1;
    // Parents come before children, so one pass backwards gives each subtree's best speedup.
    for (auto node = data.nodes.rbegin(); node != data.nodes.rend(); ++node) {
      const Verdict* verdict = node->verdict();
      double& reach = reach_[node->id];
      if (verdict && verdict->certified()) reach = std::max(reach, headline_over(verdict, "eager").value_or(0));
      if (node->parent != kNoNode) reach_[node->parent] = std::max(reach_[node->parent], reach);
    }
    for (const NodeRecord* start : children_[kNoNode]) place(*start, 0, false);
  }
  std::vector<TreeRow> rows;

 private:
  void place(const NodeRecord& node, int lane, bool branches) {
    std::vector<const NodeRecord*> next = children_[node.id];
    rows.push_back({&node, lane, branches, !next.empty(), path_.count(node.id) > 0});
    if (next.empty()) return;
    const auto rank = [&](const NodeRecord* child) { return std::pair(path_.count(child->id) > 0, reach_[child->id]); };
    // The child that leads furthest goes on in this lane, after the others.
    const auto main =
        std::max_element(next.begin(), next.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
    std::rotate(main, main + 1, next.end());
    for (size_t i = 0; i + 1 < next.size(); ++i) place(*next[i], lane + 1, true);
    place(*next.back(), lane, false);
  }

  std::map<NodeId, std::vector<const NodeRecord*>> children_;
  std::map<NodeId, double> reach_;
  std::set<NodeId> path_;
};

}  // namespace

std::vector<TreeRow> tree_rows(const ReportData& data) { return Layout(data).rows; }

}  // namespace mtmc
