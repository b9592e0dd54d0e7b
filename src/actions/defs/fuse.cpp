#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "actions/flow.h"
#include "actions/schedule.h"
#include "base/parallel.h"
#include "ops/op.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

constexpr size_t kMostValues = 64;
// Of a set that is grown around an anchor with several products in it: a decoder's layer has fewer. To see whether
// larger ones can be printed takes seconds, each of their products is a launch nevertheless, and `capture` saves
// launches, too.
constexpr size_t kMostWithProducts = 40;

using Set = std::vector<int>;  // kernels by position, ascending

// Finds the sets of kernels of one program that may become one kernel.
class Finder {
 public:
  Finder(const Program& program, const ActionContext& context)
      : program_(program), context_(context), links_(program), flow_(program) {
    for (int k = 0; k < count(); ++k) {
      const Kernel& kernel = program.kernels[k];
      fusible_.push_back(!flow_.is_view(k) && can_generate(program, kernel.values).ok());
      heavy_.push_back(false);
      for (const Node* node : links_.nodes(kernel.values))
        heavy_[k] = heavy_[k] || work_of(program, *node).contraction_flops > 0;
    }
    pairs();
    clusters(false);
    clusters(true);
    siblings();
    keep_mergeable();
  }

  // One action for each class of alike sets, as many disjoint ones at once as can be, and one for each of its places.
  std::vector<Action> actions() const {
    std::map<std::string, std::vector<Set>> classes;
    std::vector<std::string> order, keys;
    for (const Kernel& kernel : program_.kernels) keys.push_back(isomorphism_key(links_, kernel) + "\n--\n");
    for (const Set& set : found_) {
      std::string key;
      for (int k : set) key += keys[k];
      if (!classes.count(key)) order.push_back(key);
      classes[key].push_back(set);
    }
    std::vector<Action> actions;
    for (const std::string& key : order) {
      const auto& places = classes[key];
      if (places.size() > 1)
        for (const Set& set : places) actions.push_back({"fuse", {values_of(set)}, ""});
      const std::vector<Set> together = at_once(places);
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

  // As many of these as can become one kernel each, all at once, the earlier ones first.
  std::vector<Set> at_once(const std::vector<Set>& places) const {
    std::vector<Set> disjoint, together;
    std::set<int> taken;
    const auto is_taken = [&](int k) { return taken.count(k) > 0; };
    for (const Set& set : places) {
      if (std::any_of(set.begin(), set.end(), is_taken)) continue;
      taken.insert(set.begin(), set.end());
      disjoint.push_back(set);
    }
    if (flow_.can_merge_all(disjoint)) return disjoint;
    taken.clear();
    for (const Set& set : places) {
      if (std::any_of(set.begin(), set.end(), is_taken)) continue;
      together.push_back(set);
      if (flow_.can_merge_all(together)) {
        taken.insert(set.begin(), set.end());
      } else {
        together.pop_back();
      }
    }
    return together;
  }

  static Set with(Set set, int kernel) {
    set.insert(std::upper_bound(set.begin(), set.end(), kernel), kernel);
    return set;
  }

  // What the data flow allows; whether the target can print it is asked once, of the sets that are found.
  bool may_be_one(const Set& set, size_t most = kMostValues) const {
    size_t values = 0;
    for (int k : set) {
      if (!fusible_[k]) return false;
      values += program_.kernels[k].values.size();
    }
    return values <= most && flow_.is_convex(set);
  }

  void add(Set set) {
    if (seen_.insert(set).second && may_be_one(set)) found_.push_back(std::move(set));
  }

  // Of the sets found, those that can become one kernel. Of sets that are exactly alike one is asked about.
  void keep_mergeable() {
    std::unordered_map<std::string, size_t> kinds;
    std::vector<size_t> kind, first;  // of each set; the first set of each
    for (size_t i = 0; i < found_.size(); ++i) {
      const auto [at, fresh] = kinds.emplace(exact_key(links_, found_[i]), first.size());
      if (fresh) first.push_back(i);
      kind.push_back(at->second);
    }
    std::vector<char> mergeable(first.size());
    in_parallel(first.size(), [&](size_t k) {
      std::vector<std::string> names;
      for (int kernel : found_[first[k]]) names.push_back(program_.kernels[kernel].name);
      mergeable[k] = merge_kernels(program_, names, context_).ok();
    });
    std::vector<Set> kept;
    for (size_t i = 0; i < found_.size(); ++i)
      if (mergeable[kind[i]]) kept.push_back(std::move(found_[i]));
    found_ = std::move(kept);
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
          if (!may_be_one(longer, any_contractions ? kMostWithProducts : kMostValues)) continue;
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
        for (ValueId id : links_.reads(program_.kernels[k])) readers[id].push_back(k);
    for (const auto& [id, set] : readers)
      for (size_t i = 0; i + 1 < set.size(); ++i) add({set[i], set[i + 1]});
  }

  const Program& program_;
  const ActionContext& context_;
  Links links_;
  KernelFlow flow_;
  std::vector<bool> fusible_, heavy_;
  std::vector<Set> found_;
  std::set<Set> seen_;  // whatever became of them
};

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  return Finder(program, context).actions();
}

// A view that a larger kernel of the region computes again: it is there for whoever else reads it, and costs nothing,
// where the merged kernel would have to write it.
bool stays_for_others(const Links& links, const Kernel& view, const std::vector<const Kernel*>& within) {
  if (!is_view_kernel(links, view)) return false;
  const auto has = [](const Kernel& kernel, ValueId id) {
    return std::find(kernel.values.begin(), kernel.values.end(), id) != kernel.values.end();
  };
  return std::any_of(within.begin(), within.end(), [&](const Kernel* larger) {
    return larger->values.size() > view.values.size() &&
           std::all_of(view.values.begin(), view.values.end(), [&](ValueId id) { return has(*larger, id); });
  });
}

Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  Program result = program;
  for (const auto& region : action.regions) {
    const std::set<ValueId> wanted(region.begin(), region.end());
    std::vector<const Kernel*> within;
    for (const Kernel& kernel : result.kernels)
      if (std::all_of(kernel.values.begin(), kernel.values.end(), [&](ValueId id) { return wanted.count(id) > 0; }))
        within.push_back(&kernel);
    const Links links(result);
    std::vector<std::string> names;
    std::set<ValueId> covered;
    for (const Kernel* kernel : within) {
      if (stays_for_others(links, *kernel, within)) continue;
      names.push_back(kernel->name);
      covered.insert(kernel->values.begin(), kernel->values.end());
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
const ActionDef fuse_def{
    .name = "fuse",
    .doc = "Merge producers into their consumers, so that what passes between them never reaches memory.",
    .law = "k1 -> %t -> k2  becomes  k12",
    .in_paper = true,
    .enumerate = enumerate,
    .apply = apply};
}  // namespace actions

}  // namespace mtmc
