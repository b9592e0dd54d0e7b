#include "targets/triton/prepare.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ops/op.h"
#include "targets/triton/layout_pass.h"
#include "targets/triton/pack.h"
#include "targets/triton/packer.h"
#include "targets/triton/split.h"
#include "targets/triton/split_k.h"
#include "targets/triton/tile_sums.h"
#include "targets/triton/whole_rows.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kWorthUnits = 8;             // rows of weights in a group from which matrix units pay
constexpr int64_t kHeld = int64_t{1} << 15;    // elements of a group that a program holds
constexpr int64_t kLight = 8192, kBusy = 256;  // of a group: few; programs: enough
constexpr int64_t kFewRows = 32;               // which f32 multiplies in the time that the other operand takes to read

// Axis a of a stage as (a / each, a % each); null when that makes no contraction of it.
std::optional<GroupStage> cut_axis(const GroupStage& whole, int a, int64_t each) {
  const Stage& s = whole.stage;
  GroupStage cut = whole;
  cut.stage.type.shape[a] /= each;
  cut.stage.type.shape.insert(cut.stage.type.shape.begin() + a + 1, each);
  std::vector<ExprP> to;
  for (int i = 0; i < static_cast<int>(s.extents().size()); ++i) to.push_back(axis(i <= a ? i : i + 1));
  to[a] = axis(a) * index_constant(each) + axis(a + 1);
  cut.stage.body = simplify(substitute_axes(s.body, to), cut.stage.extents());
  cut.contraction = classify_contraction(cut.stage);
  if (!cut.contraction) return std::nullopt;
  return cut;
}

std::optional<std::pair<GroupStage, int>> by_groups(const GroupStage& stage) {
  if (stage.contraction || stage.stage.combine != Combine::sum) return std::nullopt;
  for (int a = 0; a < stage.stage.rank(); ++a) {
    std::set<int64_t> sizes;
    walk(stage.stage.body, [&](const Expr& e) {
      if (e.kind == Expr::Kind::call && e.fn == Fn::div && e.args[0]->kind == Expr::Kind::axis &&
          e.args[0]->axis == a && is_constant(e.args[1]))
        sizes.insert(e.args[1]->integer);
    });
    for (int64_t each : sizes)
      if (each >= kWorthUnits && each < stage.stage.type.shape[a] && stage.stage.type.shape[a] % each == 0)
        if (auto cut = cut_axis(stage, a, each)) return std::pair(std::move(*cut), a);
  }
  return std::nullopt;
}

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
      const bool busy = inside <= kLight || stage.stage.type.elements() / inside >= kBusy;  // or one launch is too few
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
  const ExprP body = transform(substitute_axes(s.body, to), [&](const ExprP& e) -> ExprP {
    const bool made_here = e->kind == Expr::Kind::load && std::any_of(cut.begin(), cut.end(), [&](size_t c) {
                             return group.stages[c].dest == e->tensor;
                           });
    return made_here ? load(e->tensor, e->dtype, axes_to(a + 2), e->guard, e->other) : e;
  });
  s.body = simplify(body, s.extents());
  GroupTensor& dest = group.tensors[one.dest];
  dest.type.shape = s.type.shape;
  dest.strides.resize(a);
  dest.strides.insert(dest.strides.end(), {each * inside, 1});
}

}  // namespace

std::string way_of(const GroupStage& stage, const std::string& precision) {
  if (precision != "as_eager") return precision.empty() ? "ieee" : precision;
  if (stage.tf32) return "half";
  // A window's bytes are multiplied many times: only other products may wait for their weights.
  if (const OpDef* op = find_op(stage.op); op != nullptr && op->in_tf32) return "two_part";
  const Contraction& c = *stage.contraction;
  const std::vector<int64_t> extents = stage.stage.extents();
  const auto along = [&](const std::vector<int>& axes) {
    return std::accumulate(axes.begin(), axes.end(), int64_t{1}, [&](int64_t n, int a) { return n * extents[a]; });
  };
  return std::min(along(c.m), along(c.n)) <= kFewRows ? "ieee" : "two_part";
}

Group ungroup(const Group& group) {
  Group result;
  result.name = group.name;
  result.tensors = group.tensors;
  std::map<int, std::pair<int, std::vector<ExprP>>> renamed;  // scratch -> the tensor in groups, and where in it
  for (const GroupStage& original : group.stages) {
    GroupStage stage = original;
    stage.stage.body = transform(stage.stage.body, [&](const ExprP& e) -> ExprP {
      const auto at = e->kind == Expr::Kind::load ? renamed.find(e->tensor) : renamed.end();
      if (at == renamed.end()) return e;
      std::vector<ExprP> indices;
      for (const ExprP& index : at->second.second) indices.push_back(substitute_axes(index, e->args));
      return cast(e->dtype, load(at->second.first, DType::f32, indices, e->guard,
                                 e->other ? cast(DType::f32, e->other) : nullptr));
    });
    auto cut = by_groups(stage);
    if (!cut) {
      result.stages.push_back(stage);
      continue;
    }
    auto& [product, a] = *cut;
    const Shape& shape = product.stage.type.shape;
    result.tensors.push_back({GroupTensor::Role::scratch,
                              kNoValue,
                              group.tensors[stage.dest].name + "_groups",
                              {DType::f32, shape},
                              contiguous_strides(shape),
                              false});
    product.dest = static_cast<int>(result.tensors.size()) - 1;
    product.stage.type.dtype = DType::f32;
    GroupStage rest = stage;
    rest.stage.combine = Combine::none;
    rest.stage.reduce.clear();
    std::vector<ExprP> at;
    for (int i = 0; i < stage.stage.rank(); ++i) {
      const ExprP each = index_constant(shape[a + 1]);
      at.push_back(i == a ? axis(i) / each : axis(i));
      if (i == a) at.push_back(axis(i) % each);
    }
    rest.stage.body = cast(stage.stage.type.dtype, load(product.dest, DType::f32, at));
    if (group.tensors[stage.dest].role == GroupTensor::Role::scratch) renamed[stage.dest] = {product.dest, at};
    result.stages.push_back(std::move(product));
    if (!renamed.count(stage.dest)) result.stages.push_back(std::move(rest));
  }
  return result;
}

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

bool needs_split(const Group& group) {
  for (size_t s = 0; s < group.stages.size(); ++s)
    if (splits(group, s)) return true;
  return false;
}

bool can_split(const Group& group) {
  for (size_t s = 0; s < group.stages.size(); ++s)
    if (may_split(group, s)) return true;
  return false;
}

Prepared prepare(const Group& group, const Preparation& wanted) {
  const Group whole = cut_joins(cut_groups(ungroup(group)));
  const Prepared windows = pack_windows(whole, wanted.precision, wanted.im2win);
  const Group read_again = copy_in_one_pass(collapse_axes(windows.group), windows.copies);
  const bool split = wanted.split, born = needs_split(read_again);  // else it was asked for
  const Group laid = wanted.in_tiles ? sum_in_tiles(read_again) : read_again;
  const auto chosen = [&](size_t stage) {
    if (combines_few_parts(laid, stage)) return false;
    const bool own = laid.stages[stage].dest >= static_cast<int>(group.tensors.size());  // of a packing: always
    return own || born ? (split || own) && splits(laid, stage) : split && may_split(laid, stage);
  };
  const Prepared packed = pack_operands(split_reductions(laid, chosen, wanted.parts), wanted.precision);
  Prepared result = split ? split_contractions(packed, wanted.parts) : packed;
  part_rows(result.group);
  if (wanted.in_tiles) hold_rows(result.group);
  return result;
}

}  // namespace mtmc::triton
