// Concatenations whose parts are computed here, and results turned round: each part is stored where it belongs by
// whoever computes it, instead of being read again.
#include <algorithm>
#include <set>

#include "targets/triton/prepare.h"

namespace mtmc::triton {
namespace {

constexpr size_t kMostParts = 8;

// Where along an axis the guards of a body change: axis(a) >= c, axis(a) < c.
std::set<int64_t> borders(const ExprP& body, int a, int64_t extent) {
  std::set<int64_t> found = {0, extent};
  walk(body, [&](const Expr& load) {
    if (load.kind != Expr::Kind::load || !load.guard) return;
    walk(load.guard, [&](const Expr& e) {
      const bool compares = e.kind == Expr::Kind::call && (e.fn == Fn::ge || e.fn == Fn::lt);
      if (compares && e.args[0]->kind == Expr::Kind::axis && e.args[0]->axis == a && is_constant(e.args[1]) &&
          e.args[1]->integer > 0 && e.args[1]->integer < extent)
        found.insert(e.args[1]->integer);
    });
  });
  return found;
}

bool is_guarded(const ExprP& body) {
  const auto loads = loads_of(body);
  return std::any_of(loads.begin(), loads.end(), [](const Expr* e) { return e->guard != nullptr; });
}

// The stage from `from` to `to` of axis a.
GroupStage part_of(const GroupStage& whole, int a, int64_t from, int64_t to) {
  GroupStage part = whole;
  part.stage.type.shape[a] = to - from;
  std::vector<ExprP> axes;
  for (int i = 0; i < whole.stage.rank(); ++i) axes.push_back(axis(i));
  axes[a] = axes[a] + index_constant(from);
  part.stage.body = simplify(substitute_axes(whole.stage.body, axes), part.stage.extents());
  part.place = axes;
  return part;
}

// The same stage from its last element along axis a to the first.
GroupStage turned(const GroupStage& whole, int a) {
  GroupStage stage = whole;
  std::vector<ExprP> axes;
  for (int i = 0; i < whole.stage.rank(); ++i) axes.push_back(axis(i));
  axes[a] = index_constant(whole.stage.type.shape[a] - 1) - axes[a];
  stage.stage.body = simplify(substitute_axes(whole.stage.body, axes), stage.stage.extents());
  stage.place = axes;
  return stage;
}

class Joins {
 public:
  explicit Joins(const Group& group) : group_(group) {}

  Group run() {
    Group result = group_;
    result.stages.clear();
    std::vector<std::vector<GroupStage>> after(group_.stages.size());  // parts, by the stage that they follow
    std::vector<bool> cut(group_.stages.size());
    for (size_t s = 0; s < group_.stages.size(); ++s)
      for (const GroupStage& part : parts_of(static_cast<int>(s))) {
        const int producer = last_producer(part);
        after[producer < 0 ? s : static_cast<size_t>(producer)].push_back(part);
        cut[s] = true;
      }
    for (size_t s = 0; s < group_.stages.size(); ++s) {
      if (!cut[s]) result.stages.push_back(group_.stages[s]);
      result.stages.insert(result.stages.end(), after[s].begin(), after[s].end());
    }
    return result;
  }

 private:
  // Empty where the stage is better left whole.
  std::vector<GroupStage> parts_of(int s) const {
    const GroupStage& whole = group_.stages[s];
    if (whole.stage.combine != Combine::none || !whole.place.empty()) return {};
    if (!is_guarded(whole.stage.body)) return turned_to_producer(s);
    for (int a = 0; a < whole.stage.rank(); ++a) {
      const std::set<int64_t> places = borders(whole.stage.body, a, whole.stage.type.shape[a]);
      if (places.size() < 3 || places.size() > kMostParts + 1) continue;
      std::vector<GroupStage> parts;
      for (auto from = places.begin(), to = std::next(from); to != places.end(); ++from, ++to)
        parts.push_back(part_of(whole, a, *from, *to));
      const bool plain =
          std::none_of(parts.begin(), parts.end(), [](const GroupStage& part) { return is_guarded(part.stage.body); });
      const bool computed = std::any_of(parts.begin(), parts.end(), [&](const GroupStage& part) {
        return last_producer(part) >= 0 && follows(part, group_.stages[last_producer(part)]);
      });
      if (plain && computed) return parts;
    }
    return {};
  }

  // The stage from the last element of one axis to the first, where it then reads its producer at the producer's own
  // index. Not where somebody reads it here, too: a tile holds it in the producer's order.
  std::vector<GroupStage> turned_to_producer(int s) const {
    const GroupStage& whole = group_.stages[s];
    const int producer = last_producer(whole);
    if (producer < 0 || follows(whole, group_.stages[producer]) || is_read(whole.dest)) return {};
    for (int a = 0; a < whole.stage.rank(); ++a) {
      GroupStage stage = turned(whole, a);
      if (follows(stage, group_.stages[producer])) return {std::move(stage)};
    }
    return {};
  }

  bool is_read(int tensor) const {
    return std::any_of(group_.stages.begin(), group_.stages.end(), [&](const GroupStage& stage) {
      const auto loads = loads_of(stage.stage.body);
      return std::any_of(loads.begin(), loads.end(), [&](const Expr* e) { return e->tensor == tensor; });
    });
  }

  // The last stage whose result the part reads, or -1.
  int last_producer(const GroupStage& part) const {
    int last = -1;
    for (const Expr* e : loads_of(part.stage.body))
      for (size_t p = 0; p < group_.stages.size(); ++p)
        if (group_.stages[p].dest == e->tensor) last = std::max(last, static_cast<int>(p));
    return last;
  }

  // Whether a part reads each result of a stage at its own place, and no other.
  static bool follows(const GroupStage& part, const GroupStage& producer) {
    if (part.stage.type.shape != producer.stage.type.shape) return false;
    for (const Expr* e : loads_of(part.stage.body)) {
      if (e->tensor != producer.dest) continue;
      for (size_t d = 0; d < e->args.size(); ++d)
        if (e->args[d]->kind != Expr::Kind::axis || e->args[d]->axis != static_cast<int>(d)) return false;
    }
    return true;
  }

  const Group& group_;
};

}  // namespace

Group cut_joins(const Group& group) { return Joins(group).run(); }

}  // namespace mtmc::triton
