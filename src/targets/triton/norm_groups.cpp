// Norms of groups: channels in groups, the heads of a row. What reads the norm of its group says so by an index n /
// each, which keeps it out of the norm's launch; with the group as an axis both walk the same groups.
#include <algorithm>
#include <optional>

#include "targets/triton/packer.h"
#include "targets/triton/prepare.h"
#include "targets/triton/split.h"

namespace mtmc::triton {
namespace {

// How many elements are reduced, so few that a program holds them, to a tensor, or to what a step or two make it of; 0:
// it is none. A product is no such reduction.
int64_t reduced_elements(const Group& group, int tensor, int steps = 2) {
  for (const GroupStage& one : group.stages) {
    if (one.dest != tensor || one.contraction) continue;
    if (is_reduction(one.stage.combine)) return product(one.stage.reduce) <= kHeld ? product(one.stage.reduce) : 0;
    if (steps == 0 || one.stage.combine != Combine::none) continue;
    for (const Expr* e : loads_of(one.stage.body))
      if (e->tensor != tensor && group.tensors[e->tensor].type.shape == one.stage.type.shape)
        if (const int64_t made_of = reduced_elements(group, e->tensor, steps - 1); made_of > 0) return made_of;
  }
  return 0;
}

// The axis of a stage that reads the reduction of a group of its elements, n / each and all axes behind, and that
// `each`.
std::optional<std::pair<int, int64_t>> group_axis(const Group& group, const GroupStage& stage) {
  if (stage.contraction || stage.stage.combine != Combine::none || !stage.place.empty()) return std::nullopt;
  for (const Expr* e : loads_of(stage.stage.body)) {
    for (const ExprP& index : e->args) {
      const bool quotient = index->kind == Expr::Kind::call && index->fn == Fn::div &&
                            index->args[0]->kind == Expr::Kind::axis && is_constant(index->args[1]);
      if (!quotient || index->args[0]->axis >= stage.stage.rank()) continue;
      const int64_t each = index->args[1]->integer;
      const Shape& shape = stage.stage.type.shape;
      int64_t inside = each;
      for (int i = index->args[0]->axis + 1; i < stage.stage.rank(); ++i) inside *= shape[i];
      const bool busy =
          inside <= kLightWork || stage.stage.type.elements() / inside >= kEnoughPrograms;  // or one launch is too few
      if (each > 1 && busy && shape[index->args[0]->axis] % each == 0 && reduced_elements(group, e->tensor) == inside)
        return std::pair(index->args[0]->axis, each);
    }
  }
  return std::nullopt;
}

// A stage and those that go on with it element by element. Nothing where somebody reads it otherwise.
std::optional<std::vector<size_t>> with_readers(const Group& group, size_t first) {
  std::vector<size_t> all = {first};
  const Stage& s = group.stages[first].stage;
  for (size_t r = first + 1; r < group.stages.size(); ++r) {
    const GroupStage& reader = group.stages[r];
    bool reads = false;
    for (const Expr* e : loads_of(reader.stage.body)) {
      if (std::none_of(all.begin(), all.end(), [&](size_t one) { return group.stages[one].dest == e->tensor; }))
        continue;
      reads = true;
      for (size_t d = 0; d < e->args.size(); ++d)
        if (s.type.shape[d] > 1 && !(e->args[d]->kind == Expr::Kind::axis && e->args[d]->axis == static_cast<int>(d)))
          return std::nullopt;
    }
    if (!reads) continue;
    if (reader.contraction || reader.stage.combine != Combine::none || !reader.place.empty() ||
        reader.stage.type.shape != s.type.shape)
      return std::nullopt;
    all.push_back(r);
  }
  return all;
}

// Can what is in a group be walked as one axis: is it a run of memory where it is written, and of memory's own tensors
// where it is read? Those of launches before have axes of their own.
bool is_one_run(const Group& group, const std::vector<size_t>& stages, int a) {
  const auto made_here = [&](int tensor) {
    return std::any_of(stages.begin(), stages.end(), [&](size_t s) { return group.stages[s].dest == tensor; });
  };
  return std::all_of(stages.begin(), stages.end(), [&](size_t s) {
    const GroupStage& one = group.stages[s];
    const Shape& shape = one.stage.type.shape;
    const GroupTensor& dest = group.tensors[one.dest];
    int64_t run = 1;
    for (int i = one.stage.rank() - 1; i >= a; run *= shape[i], --i)
      if (dest.strides[i] != run) return false;
    const auto loads = loads_of(one.stage.body);
    return a == one.stage.rank() - 1 || std::all_of(loads.begin(), loads.end(), [&](const Expr* e) {
             return group.tensors[e->tensor].role == GroupTensor::Role::read || made_here(e->tensor) ||
                    reduced_elements(group, e->tensor) > 0;
           });
  });
}

// Axis a of a stage becomes that of groups, and what is in a group, `each` with all axes behind, one axis, as the
// group's reduction walks it. Those of `cut` are all cut so.
void cut_axis_in_groups(Group& group, size_t stage, const std::vector<size_t>& cut, int a, int64_t each) {
  GroupStage& one = group.stages[stage];
  Stage& s = one.stage;
  int64_t inside = 1;
  for (int i = a + 1; i < s.rank(); ++i) inside *= s.type.shape[i];
  std::vector<ExprP> to = axes_to(s.rank());
  // Remainders of remainders: an index over all axes becomes the one axis again.
  ExprP rest = axis(a + 1) % index_constant(inside);
  for (int i = a + 1, behind = static_cast<int>(inside); i < s.rank(); ++i) {
    behind /= static_cast<int>(s.type.shape[i]);
    to[i] = rest / index_constant(behind);
    rest = rest % index_constant(behind);
  }
  to[a] = axis(a) * index_constant(each) + axis(a + 1) / index_constant(inside);
  const int64_t groups = s.type.shape[a] / each;
  s.type.shape.resize(a);
  s.type.shape.insert(s.type.shape.end(), {groups, each * inside});
  const ExprP body = transform_loads(substitute_axes(s.body, to), [&](const ExprP& e) -> ExprP {
    const bool made_here =
        std::any_of(cut.begin(), cut.end(), [&](size_t c) { return group.stages[c].dest == e->tensor; });
    return made_here ? load(e->tensor, e->dtype, axes_to(a + 2), e->guard, e->other) : e;
  });
  s.body = simplify(body, s.extents());
  GroupTensor& dest = group.tensors[one.dest];
  dest.type.shape = s.type.shape;
  dest.strides.resize(a);
  dest.strides.insert(dest.strides.end(), {each * inside, 1});
}

}  // namespace

Group cut_groups(const Group& group) {
  Group result = group;
  for (size_t s = 0; s < result.stages.size(); ++s) {
    const auto found = group_axis(result, result.stages[s]);
    if (!found) continue;
    const auto all = with_readers(result, s);
    if (!all || !is_one_run(result, *all, found->first)) continue;
    for (const size_t one : *all) cut_axis_in_groups(result, one, *all, found->first, found->second);
  }
  return result;
}

}  // namespace mtmc::triton
