// Merging axes. A pair (a, a+1) of every stage that has it may become one axis of extent Ea * Eb when no load needs the
// two apart.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "targets/frame.h"

namespace mtmc {
namespace {

int divisions(const ExprP& expr) {
  int count = 0;
  walk(expr, [&](const Expr& e) {
    count += e.kind == Expr::Kind::call && e.dtype == DType::i64 && (e.fn == Fn::div || e.fn == Fn::mod);
  });
  return count;
}

// Axis a of `extent_b`-wide pairs becomes (merged div extent_b, merged mod extent_b); later axes move down by one.
ExprP merge_in(const ExprP& body, int a, int axes, int64_t extent_b) {
  std::vector<ExprP> replacement(axes);
  for (int i = 0; i < axes; ++i) replacement[i] = axis(i <= a ? i : i - 1);
  replacement[a] = axis(a) / index_constant(extent_b);
  replacement[a + 1] = axis(a) % index_constant(extent_b);
  return substitute_axes(body, replacement);
}

// How far an index moves with axis a and with the next one.
struct Strides {
  int64_t first = 0, second = 0;
};

// Empty where it is no sum of these axes. What is none may become simpler when they are merged: (m div 4) div 2 is
// m div 8.
std::optional<Strides> strides_of(const ExprP& index, int a) {
  if (!uses_axis(index, a) && !uses_axis(index, a + 1)) return Strides{};
  if (index->kind == Expr::Kind::axis) return index->axis == a ? Strides{1, 0} : Strides{0, 1};
  if (index->kind != Expr::Kind::call) return std::nullopt;
  const auto scaled = [&](const ExprP& part, int64_t by) {
    std::optional<Strides> strides = strides_of(part, a);
    if (strides) strides->first *= by, strides->second *= by;
    return strides;
  };
  if (index->fn == Fn::neg) return scaled(index->args[0], -1);
  if (index->fn == Fn::mul && is_constant(index->args[1])) return scaled(index->args[0], index->args[1]->integer);
  if (index->fn == Fn::mul && is_constant(index->args[0])) return scaled(index->args[1], index->args[0]->integer);
  if (index->fn != Fn::add && index->fn != Fn::sub) return std::nullopt;
  std::optional<Strides> left = strides_of(index->args[0], a);
  const std::optional<Strides> right = scaled(index->args[1], index->fn == Fn::add ? 1 : -1);
  if (!left || !right) return std::nullopt;
  return Strides{left->first + right->first, left->second + right->second};
}

class Collapser {
 public:
  explicit Collapser(const Group& group) : group_(group) {}

  Group run() {
    flatten_reads();
    for (const GroupStage& stage : group_.stages) loads_.push_back(loads_of(stage.stage.body));
    for (size_t s = 0; s < group_.stages.size(); ++s) {
      producers_.emplace(group_.stages[s].dest, static_cast<int>(s));
      for (const Expr* e : loads_[s]) {
        std::vector<int>& readers = readers_[e->tensor];
        if (readers.empty() || readers.back() != static_cast<int>(s)) readers.push_back(static_cast<int>(s));
      }
    }
    changes_.resize(group_.stages.size());
    for (const GroupStage& stage : group_.stages) divisions_.push_back(divisions(stage.stage.body));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t s = 0; s < group_.stages.size() && !changed; ++s) {
        const int axes = static_cast<int>(group_.stages[s].stage.extents().size());  // merging replaces the stages
        for (int a = 0; a + 1 < axes && !changed; ++a)
          if (!in_vain(static_cast<int>(s), a)) changed = try_merge(static_cast<int>(s), a);
      }
    }
    for (GroupStage& stage : group_.stages) stage.contraction = classify_contraction(stage.stage);
    return group_;
  }

 private:
  // Reads of memory become one flat index each; then what dimension an axis came from no longer matters.
  void flatten_reads() {
    for (GroupStage& stage : group_.stages) {
      stage.stage.body = transform_loads(stage.stage.body, [&](const ExprP& e) -> ExprP {
        if (group_.tensors[e->tensor].role != GroupTensor::Role::read) return e;
        return load(e->tensor, e->dtype, {flat_index(e->args, group_.tensors[e->tensor].strides)}, e->guard, e->other);
      });
      stage.stage.body = simplify(stage.stage.body, stage.stage.extents());
    }
    for (GroupTensor& tensor : group_.tensors)
      if (tensor.role == GroupTensor::Role::read) {
        tensor.type.shape = {tensor.type.elements()};
        tensor.strides = {1};
      }
  }

  // Merges axes a and a+1 of stage s, and the same pair of every stage linked to it by loads of scratch or of its own
  // outputs.
  bool try_merge(int s, int a) {
    std::vector<std::pair<int, int>> todo = {{s, a}};
    std::vector<std::pair<int, int>> done;
    while (!todo.empty()) {
      const auto [stage, at] = todo.back();
      todo.pop_back();
      if (std::find(done.begin(), done.end(), std::pair(stage, at)) != done.end()) continue;
      for (const auto& other : done)
        if (other.first == stage) return false;
      if (!can_pair(stage, at)) return false;
      done.emplace_back(stage, at);
      linked(stage, at, todo);
    }
    const std::vector<int> touched = touched_by(done);
    const auto failed = [&] {
      for (int other : touched) failed_[{s, a}].emplace_back(other, changes_[other]);
      return false;
    };
    for (const auto& [stage, at] : done)
      if (tears(stage, at)) return failed();
    Group trial = group_;
    for (const auto& [stage, at] : done) merge(trial, stage, at);
    std::vector<int> counts;
    for (int t : touched) {
      // Loads of merged tensors lose a dimension.
      Stage& stage = trial.stages[t].stage;
      stage.body = transform_loads(stage.body, [&](const ExprP& e) -> ExprP {
        for (const auto& [producer, at] : done) {
          const Stage& before = group_.stages[producer].stage;
          if (group_.stages[producer].dest != e->tensor || at + 1 >= before.rank()) continue;
          std::vector<ExprP> indices = e->args;
          indices[at] = indices[at] * index_constant(before.type.shape[at + 1]) + indices[at + 1];
          indices.erase(indices.begin() + at + 1);
          return load(e->tensor, e->dtype, indices, e->guard, e->other);
        }
        return e;
      });
      stage.body = simplify(stage.body, stage.extents());
      counts.push_back(divisions(stage.body));
      if (counts.back() > divisions_[t]) return failed();
    }
    group_ = std::move(trial);
    for (size_t i = 0; i < touched.size(); ++i) {
      const int t = touched[i];
      loads_[t] = loads_of(group_.stages[t].stage.body);
      divisions_[t] = counts[i];
      ++changes_[t];
    }
    return true;
  }

  // Would merging a pair leave a division in an index that has none of it? Most pairs of a convolution's or of a
  // shuffle's would, and it is seen without trying.
  bool tears(int s, int a) const {
    const std::vector<int64_t> extents = group_.stages[s].stage.extents();
    if (extents[a] == 1 || extents[a + 1] == 1) return false;
    return tears(group_.stages[s].stage.body, a, extents[a + 1]);
  }

  bool tears(const ExprP& expr, int a, int64_t extent_b) const {
    if (expr == nullptr || !(uses_axis(expr, a) || uses_axis(expr, a + 1))) return false;
    const auto part_tears = [&](const ExprP& part) { return tears(part, a, extent_b); };
    if (expr->kind == Expr::Kind::load) {
      const bool flat = group_.tensors[expr->tensor].role == GroupTensor::Role::read;
      for (size_t d = 0; d < expr->args.size(); ++d) {
        if (!flat && d + 1 < expr->args.size() && expr->args[d]->axis == a &&
            neighbours(expr->args[d], expr->args[d + 1])) {
          ++d;  // one dimension, once its maker's are merged, too
        } else if (part_tears(expr->args[d])) {
          return true;
        }
      }
      return part_tears(expr->guard) || part_tears(expr->other);
    }
    if (expr->dtype == DType::i64) {
      const std::optional<Strides> strides = strides_of(expr, a);
      return strides && strides->first != strides->second * extent_b;
    }
    return std::any_of(expr->args.begin(), expr->args.end(), part_tears);
  }

  // Has this pair failed before, with all stages as they are now?
  bool in_vain(int s, int a) {
    const auto failed = failed_.find({s, a});
    if (failed == failed_.end()) return false;
    const bool same = std::all_of(failed->second.begin(), failed->second.end(),
                                  [&](const auto& seen) { return changes_[seen.first] == seen.second; });
    if (!same) failed_.erase(failed);
    return same;
  }

  // The stages that merge, and those that read what these make.
  std::vector<int> touched_by(const std::vector<std::pair<int, int>>& merged) const {
    std::vector<int> touched;
    for (int t = 0; t < static_cast<int>(group_.stages.size()); ++t) {
      const auto concerns = [&](const std::pair<int, int>& pair) {
        const int made = group_.stages[pair.first].dest;
        return pair.first == t ||
               std::any_of(loads_[t].begin(), loads_[t].end(), [&](const Expr* e) { return e->tensor == made; });
      };
      if (std::any_of(merged.begin(), merged.end(), concerns)) touched.push_back(t);
    }
    return touched;
  }

  bool can_pair(int s, int a) const {
    const Stage& stage = group_.stages[s].stage;
    const bool spatial = a + 1 < stage.rank();
    if (!group_.stages[s].place.empty()) return false;
    if (!spatial && a < stage.rank()) return false;  // one spatial, one reduced
    if (is_scan(stage.combine) && (stage.scan_axis == a || stage.scan_axis == a + 1)) return false;
    if (group_.stages[s].contraction && !same_role(*group_.stages[s].contraction, a)) return false;
    if (!spatial) return true;
    const GroupTensor& dest = group_.tensors[group_.stages[s].dest];
    return dest.strides[a] == dest.strides[a + 1] * stage.type.shape[a + 1] || stage.type.shape[a] == 1;
  }

  static bool same_role(const Contraction& c, int a) {
    for (const auto* role : {&c.batch, &c.m, &c.n, &c.k}) {
      const bool first = std::count(role->begin(), role->end(), a) > 0,
                 second = std::count(role->begin(), role->end(), a + 1) > 0;
      if (first != second) return false;
    }
    return true;
  }

  // Pairs in other stages that must merge along with (s, a): loads of our result index both dimensions by neighbouring
  // axes, or vice versa.
  void linked(int s, int a, std::vector<std::pair<int, int>>& todo) const {
    const int made = group_.stages[s].dest;
    const auto readers = readers_.find(made);
    if (a + 1 < group_.stages[s].stage.rank() && readers != readers_.end() && producers_.at(made) == s)
      for (int reader : readers->second)
        for (const Expr* e : loads_[reader])
          if (e->tensor == made && neighbours(e->args[a], e->args[a + 1])) todo.emplace_back(reader, e->args[a]->axis);
    for (const Expr* e : loads_[s]) {
      const auto producer = producers_.find(e->tensor);
      if (producer == producers_.end()) continue;
      for (size_t d = 0; d + 1 < e->args.size(); ++d)
        if (neighbours(e->args[d], e->args[d + 1]) && e->args[d]->axis == a)
          todo.emplace_back(producer->second, static_cast<int>(d));
    }
  }
  static bool neighbours(const ExprP& x, const ExprP& y) {
    return x->kind == Expr::Kind::axis && y->kind == Expr::Kind::axis && y->axis == x->axis + 1;
  }

  void merge(Group& group, int s, int a) const {
    Stage& stage = group.stages[s].stage;
    const int axes = static_cast<int>(stage.extents().size());
    std::vector<int64_t> extents = stage.extents();
    const int64_t extent_b = extents[a + 1];
    extents[a] *= extent_b;
    extents.erase(extents.begin() + a + 1);
    stage.body = merge_in(stage.body, a, axes, extent_b);
    const int rank = stage.rank();
    if (a + 1 < rank) {
      stage.type.shape.assign(extents.begin(), extents.begin() + rank - 1);
      if (stage.scan_axis > a) --stage.scan_axis;
      GroupTensor& dest = group.tensors[group.stages[s].dest];
      dest.type.shape = stage.type.shape;
      dest.strides.erase(dest.strides.begin() + a);
    } else {
      stage.reduce.assign(extents.begin() + rank, extents.end());
    }
  }

  Group group_;
  std::vector<std::vector<const Expr*>> loads_;  // of each stage
  std::map<TensorRef, int> producers_;           // of a tensor: the first stage that makes it
  std::map<TensorRef, std::vector<int>> readers_;
  std::vector<int> divisions_;  // in the body of each stage
  std::vector<int> changes_;    // that each stage has seen
  std::map<std::pair<int, int>, std::vector<std::pair<int, int>>>
      failed_;  // pairs: stages that had a say, and their changes
};

// All of a group, byte by byte: equal keys, equal groups.
class Key {
 public:
  explicit Key(const Group& group) {
    add(group.name), add(group.tensors.size());
    for (const GroupTensor& tensor : group.tensors) {
      add(tensor.role), add(tensor.value), add(tensor.name), add(tensor.type), add(tensor.strides);
      add(tensor.kept), add(tensor.behind), add(tensor.zeros);
    }
    for (const GroupStage& stage : group.stages) {
      add(stage.stage.name), add(stage.stage.type), add(stage.stage.reduce), add(stage.stage.combine);
      add(stage.stage.scan_axis), add(stage.stage.body), add(stage.dest), add(stage.op), add(stage.location);
      add(stage.contraction.has_value()), add(stage.place), add(stage.placed), add(stage.peak_of);
      add(stage.peak_tensor), add(stage.run_if), add(stage.producers), add(stage.tf32), add(stage.tile_rows),
          add(stage.in_tile);
      if (stage.contraction) add(*stage.contraction);
    }
  }
  std::string text() && { return std::move(text_); }

 private:
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(const std::string& text) { add(text.size()), text_ += text; }
  template <typename T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  void add(const TensorType& type) { add(type.dtype), add(type.shape); }
  void add(const Contraction& c) { add(c.batch), add(c.m), add(c.n), add(c.k), add(c.left), add(c.right); }
  // A part that was met before is named by when that was.
  void add(const ExprP& expr) {
    add(expr != nullptr);
    if (expr == nullptr) return;
    const auto [known, is_new] = met_.emplace(expr.get(), met_.size());
    add(known->second);
    if (!is_new) return;
    add(expr->kind), add(expr->dtype), add(expr->number), add(expr->integer), add(expr->axis), add(expr->fn);
    add(expr->args), add(expr->tensor), add(expr->guard), add(expr->other);
  }

  std::string text_;
  std::unordered_map<const Expr*, size_t> met_;
};

// A kernel is priced, printed and looked at for its choices again and again in a search, in state after state, and
// each begins with collapsing it: of a large network that was most of the time.
class Collapsed {
 public:
  Group of(const Group& group) {
    const std::string key = Key(group).text();
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
    }
    Group made = Collapser(group).run();
    const std::lock_guard lock(mutex_);
    if (known_.size() == kMost) known_.clear();
    known_.emplace(key, made);
    return made;
  }

 private:
  static constexpr size_t kMost = 1 << 12;
  std::mutex mutex_;
  std::unordered_map<std::string, Group> known_;
};

}  // namespace

Group collapse_axes(const Group& group) {
  static Collapsed collapsed;
  return collapsed.of(group);
}

}  // namespace mtmc
