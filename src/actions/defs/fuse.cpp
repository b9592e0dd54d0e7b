#include <algorithm>
#include <map>
#include <set>

#include "actions/flow.h"
#include "actions/schedule.h"
#include "ops/op.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

constexpr size_t kMostValues = 64;

using Set = std::vector<int>;  // kernels by position, ascending

// Finds the sets of kernels of one program that may become one kernel.
class Finder {
 public:
  Finder(const Program& program, const ActionContext& context) : program_(program), context_(context), flow_(program) {
    for (int k = 0; k < count(); ++k) {
      const Kernel& kernel = program.kernels[k];
      fusible_.push_back(!flow_.is_view(k) && can_generate(program, kernel.values).ok());
      heavy_.push_back(false);
      for (const Node* node : nodes_of(program, kernel))
        heavy_[k] = heavy_[k] || work_of(program, *node).contraction_flops > 0;
    }
    pairs();
    clusters(false);
    clusters(true);
    siblings();
  }

  // One action for each class of alike sets, as many disjoint ones at once as can be, and one for each of its places.
  std::vector<Action> actions() const {
    std::map<std::string, std::vector<Set>> classes;
    std::vector<std::string> order;
    for (const Set& set : found_) {
      std::string key;
      for (int k : set) key += isomorphism_key(program_, program_.kernels[k]) + "\n--\n";
      if (!classes.count(key)) order.push_back(key);
      classes[key].push_back(set);
    }
    std::vector<Action> actions;
    for (const std::string& key : order) {
      const auto& places = classes[key];
      std::vector<Set> together;
      std::set<int> taken;
      for (const Set& set : places) {
        if (places.size() > 1) actions.push_back({"fuse", {values_of(set)}, ""});
        if (std::any_of(set.begin(), set.end(), [&](int k) { return taken.count(k) > 0; })) continue;
        together.push_back(set);
        if (flow_.can_merge_all(together)) {
          taken.insert(set.begin(), set.end());
        } else {
          together.pop_back();
        }
      }
      if (places.size() > 1 && together.size() < 2) continue;
      Action all{"fuse", {}, ""};
      for (const Set& set : together) all.regions.push_back(values_of(set));
      actions.push_back(std::move(all));
    }
    return actions;
  }

 private:
  int count() const { return static_cast<int>(program_.kernels.size()); }

  std::vector<ValueId> values_of(const Set& set) const {
    std::set<ValueId> all;
    for (int k : set) all.insert(program_.kernels[k].values.begin(), program_.kernels[k].values.end());
    return {all.begin(), all.end()};
  }

  static Set with(Set set, int kernel) {
    set.insert(std::upper_bound(set.begin(), set.end(), kernel), kernel);
    return set;
  }

  // What the data flow allows; whether the target can print it is asked once, of the sets that are found.
  bool may_be_one(const Set& set) const {
    size_t values = 0;
    for (int k : set) {
      if (!fusible_[k]) return false;
      values += program_.kernels[k].values.size();
    }
    return values <= kMostValues && flow_.is_convex(set);
  }

  void add(Set set) {
    if (std::count(found_.begin(), found_.end(), set) > 0 || !may_be_one(set)) return;
    std::vector<std::string> names;
    for (int k : set) names.push_back(program_.kernels[k].name);
    if (merge_kernels(program_, names, context_).ok()) found_.push_back(std::move(set));
  }

  void pairs() {
    for (int k = 0; k < count(); ++k)
      for (int next : flow_.consumers(k)) add({k, next});
  }

  // Grows a set around an anchor: everything downstream, then upstream, that the data flow allows.
  Set grow(int anchor, bool any_contractions) const {
    Set set = {anchor};
    const auto step = [&](bool downstream) {
      for (int k : set)
        for (int next : downstream ? flow_.consumers(k) : flow_.producers(k)) {
          if (std::count(set.begin(), set.end(), next) > 0 || (!any_contractions && heavy_[next])) continue;
          Set longer = with(set, next);
          if (!may_be_one(longer)) continue;
          set = std::move(longer);
          return true;
        }
      return false;
    };
    while (step(true) || step(false)) continue;
    return set;
  }

  // With one contraction at most, or with as many as there are. An anchor that a set holds already would grow the same.
  void clusters(bool any_contractions) {
    std::set<int> covered;
    for (int k = 0; k < count(); ++k) {
      if (!fusible_[k] || covered.count(k) > 0) continue;
      Set set = grow(k, any_contractions);
      if (any_contractions || !heavy_[k]) covered.insert(set.begin(), set.end());
      if (set.size() > 2) add(std::move(set));
    }
  }

  // Kernels that read the same tensor side by side.
  void siblings() {
    std::map<ValueId, Set> readers;
    for (int k = 0; k < count(); ++k)
      if (fusible_[k] && !heavy_[k])
        for (ValueId id : program_.reads(program_.kernels[k])) readers[id].push_back(k);
    for (const auto& [id, set] : readers)
      for (size_t i = 0; i + 1 < set.size(); ++i) add({set[i], set[i + 1]});
  }

  const Program& program_;
  const ActionContext& context_;
  KernelFlow flow_;
  std::vector<bool> fusible_, heavy_;
  std::vector<Set> found_;
};

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  return Finder(program, context).actions();
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
