#include <algorithm>
#include <map>
#include <set>

#include "actions/schedule.h"
#include "ops/op.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

constexpr size_t kMostNodes = 64;

bool fusible(const Program& program, const Kernel& kernel) { return can_generate(program, kernel.values).ok(); }

bool is_heavy(const Program& program, const Kernel& kernel) {
  for (const Node* node : nodes_of(program, kernel))
    if (work_of(program, *node).contraction_flops > 0) return true;
  return false;
}

// The kernels next to `kernel` in the data flow; views and constants in between are walked through.
std::vector<const Kernel*> neighbours(const Program& program, const Kernel& kernel, bool downstream) {
  std::vector<const Kernel*> found;
  std::vector<const Kernel*> todo = {&kernel};
  std::set<std::string> seen = {kernel.name};
  while (!todo.empty()) {
    const Kernel* at = todo.back();
    todo.pop_back();
    const std::set<ValueId> own(at->values.begin(), at->values.end());
    for (const Kernel& other : program.kernels) {
      if (seen.count(other.name)) continue;
      const std::vector<ValueId> reads = downstream ? program.reads(other) : program.reads(*at);
      const std::set<ValueId> made(other.values.begin(), other.values.end());
      const bool linked = std::any_of(reads.begin(), reads.end(),
                                      [&](ValueId id) { return downstream ? own.count(id) > 0 : made.count(id) > 0; });
      if (!linked) continue;
      seen.insert(other.name);
      if (is_view_kernel(program, other)) {
        todo.push_back(&other);
      } else {
        found.push_back(&other);
      }
    }
  }
  return found;
}

struct Candidate {
  std::vector<std::string> kernels;
  std::vector<ValueId> values;
};

std::vector<ValueId> values_of(const Program& program, const std::vector<std::string>& names) {
  std::set<ValueId> all;
  for (const std::string& name : names) {
    const Kernel* kernel = program.kernel(name);
    all.insert(kernel->values.begin(), kernel->values.end());
  }
  return {all.begin(), all.end()};
}

bool legal(const Program& program, const std::vector<std::string>& names, const ActionContext& context) {
  size_t nodes = 0;
  for (const std::string& name : names) {
    const Kernel* kernel = program.kernel(name);
    if (!fusible(program, *kernel)) return false;
    nodes += kernel->values.size();
  }
  return nodes <= kMostNodes && merge_kernels(program, names, context).ok();
}

// Grows a cluster around an anchor: everything light upstream and downstream, no second contraction.
std::vector<std::string> grow(const Program& program, const Kernel& anchor, bool any_contractions,
                              const ActionContext& context) {
  std::vector<std::string> names = {anchor.name};
  for (bool changed = true; changed;) {
    changed = false;
    for (const bool downstream : {true, false}) {
      for (size_t i = 0; i < names.size() && !changed; ++i)
        for (const Kernel* next : neighbours(program, *program.kernel(names[i]), downstream)) {
          if (std::count(names.begin(), names.end(), next->name) > 0) continue;
          if (!any_contractions && is_heavy(program, *next)) continue;
          std::vector<std::string> longer = names;
          longer.push_back(next->name);
          if (!legal(program, longer, context)) continue;
          names = std::move(longer);
          changed = true;
          break;
        }
      if (changed) break;
    }
  }
  return names;
}

std::vector<std::vector<std::string>> clusters(const Program& program, const ActionContext& context) {
  std::vector<std::vector<std::string>> found;
  for (const Kernel& kernel : program.kernels) {
    if (is_view_kernel(program, kernel) || !fusible(program, kernel)) continue;
    for (const Kernel* next : neighbours(program, kernel, true))
      if (legal(program, {kernel.name, next->name}, context)) found.push_back({kernel.name, next->name});
  }
  for (const Kernel& kernel : program.kernels) {
    if (is_view_kernel(program, kernel) || !fusible(program, kernel)) continue;
    for (const bool any : {false, true}) {
      std::vector<std::string> names = grow(program, kernel, any, context);
      if (names.size() > 2) found.push_back(std::move(names));
    }
  }
  return found;
}

// Kernels that read the same tensor side by side.
void add_siblings(const Program& program, const ActionContext& context, std::vector<std::vector<std::string>>& found) {
  for (const Value& value : program.values) {
    std::vector<const Kernel*> readers;
    for (const Kernel& kernel : program.kernels) {
      const auto reads = program.reads(kernel);
      if (std::count(reads.begin(), reads.end(), value.id) > 0 && !is_view_kernel(program, kernel) &&
          !is_heavy(program, kernel))
        readers.push_back(&kernel);
    }
    for (size_t i = 0; i + 1 < readers.size(); ++i)
      if (legal(program, {readers[i]->name, readers[i + 1]->name}, context))
        found.push_back({readers[i]->name, readers[i + 1]->name});
  }
}

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  std::vector<std::vector<std::string>> found = clusters(program, context);
  add_siblings(program, context, found);
  // Equal sets once; isomorphic disjoint sets as one action.
  std::vector<std::vector<ValueId>> regions;
  std::map<std::string, std::vector<size_t>> classes;
  std::vector<std::string> order;
  for (const auto& names : found) {
    const std::vector<ValueId> values = values_of(program, names);
    if (std::count(regions.begin(), regions.end(), values) > 0) continue;
    std::vector<std::string> sorted = names;
    std::string key;
    for (const Kernel& kernel : program.kernels)
      if (std::count(names.begin(), names.end(), kernel.name) > 0) key += isomorphism_key(program, kernel) + "\n--\n";
    if (!classes.count(key)) order.push_back(key);
    classes[key].push_back(regions.size());
    regions.push_back(values);
  }
  std::vector<Action> actions;
  for (const std::string& key : order) {
    Action all{"fuse", {}, ""};
    std::set<ValueId> taken;
    for (size_t r : classes[key]) {
      if (std::any_of(regions[r].begin(), regions[r].end(), [&](ValueId id) { return taken.count(id) > 0; })) continue;
      taken.insert(regions[r].begin(), regions[r].end());
      all.regions.push_back(regions[r]);
    }
    if (classes[key].size() > 1)
      for (size_t r : classes[key]) actions.push_back({"fuse", {regions[r]}, ""});
    if (all.regions.size() > 1 || classes[key].size() == 1) actions.push_back(std::move(all));
  }
  return actions;
}

Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  Program result = program;
  for (const auto& region : action.regions) {
    const std::set<ValueId> wanted(region.begin(), region.end());
    std::vector<std::string> names;
    std::set<ValueId> covered;
    for (const Kernel& kernel : result.kernels) {
      if (!std::all_of(kernel.values.begin(), kernel.values.end(), [&](ValueId id) { return wanted.count(id) > 0; }))
        continue;
      names.push_back(kernel.name);
      covered.insert(kernel.values.begin(), kernel.values.end());
    }
    if (names.size() < 2)
      return refuse("fuse", "the region is not several kernels", std::to_string(names.size()) + " kernel(s)",
                    "at least two");
    if (covered != wanted) return refuse("fuse", "the region cuts through a kernel");
    MTMC_TRY(result, merge_kernels(result, names, context));
  }
  return result;
}

}  // namespace

namespace actions {
extern const ActionDef fuse_def;
const ActionDef fuse_def{"fuse",
                         "Merge producers into their consumers, so that what passes between them never reaches memory.",
                         "k1 -> %t -> k2  becomes  k12",
                         true,
                         false,
                         enumerate,
                         apply};
}  // namespace actions

}  // namespace mtmc
