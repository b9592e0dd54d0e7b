#include "actions/flow.h"

#include <algorithm>
#include <map>
#include <set>

#include "actions/schedule.h"

namespace mtmc {

KernelFlow::KernelFlow(const Program& program) {
  const Links links(program);
  const int count = static_cast<int>(program.kernels.size());
  std::map<ValueId, int> writer;  // the first kernel that computes a value
  std::vector<std::set<int>> sources(count);
  before_.resize(count);
  after_.resize(count);
  reaches_.assign(count, std::vector<bool>(count, false));
  for (int k = 0; k < count; ++k) {
    const Kernel& kernel = program.kernels[k];
    view_.push_back(is_view_kernel(links, kernel));
    for (ValueId id : links.reads(kernel)) {
      const auto at = writer.find(id);
      if (at == writer.end()) continue;
      if (view_[at->second]) {
        sources[k].insert(sources[at->second].begin(), sources[at->second].end());
      } else {
        sources[k].insert(at->second);
      }
    }
    for (ValueId id : kernel.values) writer.emplace(id, k);
    if (view_[k]) continue;
    before_[k].assign(sources[k].begin(), sources[k].end());
    for (int p : before_[k]) after_[p].push_back(k);
  }
  for (int k = count; k-- > 0;)  // launch order respects data flow
    for (int next : after_[k]) {
      reaches_[k][next] = true;
      for (int far = next; far < count; ++far)
        if (reaches_[next][far]) reaches_[k][far] = true;
    }
}

bool KernelFlow::is_convex(const std::vector<int>& kernels) const {
  const auto [first, last] = std::minmax_element(kernels.begin(), kernels.end());
  for (int x = *first + 1; x < *last; ++x) {
    if (view_[x] || std::find(kernels.begin(), kernels.end(), x) != kernels.end()) continue;
    const bool after = std::any_of(kernels.begin(), kernels.end(), [&](int k) { return reaches_[k][x]; });
    if (after && std::any_of(kernels.begin(), kernels.end(), [&](int k) { return reaches_[x][k]; })) return false;
  }
  return true;
}

bool KernelFlow::can_merge_all(const std::vector<std::vector<int>>& sets) const {
  const int count = static_cast<int>(view_.size());
  std::vector<int> group(count);
  for (int k = 0; k < count; ++k) group[k] = k;
  for (const auto& set : sets)
    for (int k : set) group[k] = set.front();
  std::vector<std::set<int>> next(count);
  std::vector<int> waiting(count, 0);
  for (int k = 0; k < count; ++k)
    for (int to : after_[k])
      if (group[k] != group[to] && next[group[k]].insert(group[to]).second) ++waiting[group[to]];
  std::vector<int> ready;
  int done = 0, groups = 0;
  for (int k = 0; k < count; ++k) {
    if (group[k] != k) continue;
    ++groups;
    if (waiting[k] == 0) ready.push_back(k);
  }
  for (; !ready.empty(); ++done) {
    const int at = ready.back();
    ready.pop_back();
    for (int to : next[at])
      if (--waiting[to] == 0) ready.push_back(to);
  }
  return done == groups;
}

}  // namespace mtmc
