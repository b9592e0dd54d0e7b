#include "targets/triton/prepare.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ops/op.h"
#include "targets/triton/attention.h"
#include "targets/triton/layout_pass.h"
#include "targets/triton/pack.h"
#include "targets/triton/split.h"
#include "targets/triton/split_k.h"
#include "targets/triton/tile_sums.h"
#include "targets/triton/whole_rows.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kWorthUnits = 8;  // rows of weights in a group from which matrix units pay
constexpr int64_t kFewToAdd = 4;    // elements of K of a plain sum
constexpr int64_t kFewResultRows = 16, kFewTiles = 32, kFewToMultiply = int64_t(1) << 22;
constexpr int64_t kFewRows = 32;  // which f32 multiplies in the time that the other operand takes to read

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

bool is_plain_sum(const Group& group, const GroupStage& stage) {
  const OpDef* op = find_op(stage.op);
  if (!stage.contraction || (op != nullptr && op->in_tf32)) return false;
  const Contraction& c = *stage.contraction;
  const std::vector<int64_t> extents = stage.stage.extents();
  if (product(extents, c.k) <= kFewToAdd) return true;
  const auto loads = loads_of(stage.stage.body);
  const bool of_f32 = std::any_of(loads.begin(), loads.end(), [](const Expr* e) { return e->dtype == DType::f32; });
  return of_f32 && std::min(product(extents, c.m), product(extents, c.n)) <= kFewResultRows &&
         product(extents) <= kFewToMultiply && tiles_of(stage) <= kFewTiles && lies_together(group, stage.stage);
}

void sum_small_products(Group& group) {
  for (size_t s = 0; s < group.stages.size(); ++s) {
    GroupStage& stage = group.stages[s];
    if (const auto attention = find_attention(group, static_cast<int>(s))) {
      s = static_cast<size_t>(attention->context);
      continue;
    }
    if (is_plain_sum(group, stage)) stage.contraction.reset();
  }
}

Group ungroup(const Group& group) {
  Group result;
  result.name = group.name;
  result.tensors = group.tensors;
  std::map<int, std::pair<int, std::vector<ExprP>>> renamed;  // scratch -> the tensor in groups, and where in it
  for (const GroupStage& original : group.stages) {
    GroupStage stage = original;
    stage.stage.body = transform_loads(stage.stage.body, [&](const ExprP& e) -> ExprP {
      const auto at = renamed.find(e->tensor);
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

bool needs_split(const Group& group, const Hardware& hardware) {
  for (size_t s = 0; s < group.stages.size(); ++s)
    if (splits(group, s, hardware)) return true;
  return false;
}

bool can_split(const Group& group, const Hardware& hardware) {
  for (size_t s = 0; s < group.stages.size(); ++s)
    if (may_split(group, s, hardware)) return true;
  return false;
}

Prepared prepare(const Group& group, const Preparation& wanted, const Hardware& hardware) {
  const Group whole = cut_joins(cut_groups(ungroup(group)));
  const Prepared windows = pack_windows(whole, wanted.precision, wanted.im2win, hardware);
  Group read_again = copy_in_one_pass(collapse_axes(windows.group), windows.copies, hardware);
  sum_small_products(read_again);
  const bool split = wanted.split, born = needs_split(read_again, hardware);  // else it was asked for
  const Group laid = wanted.in_tiles ? sum_in_tiles(read_again) : read_again;
  const auto chosen = [&](size_t stage) {
    if (combines_few_parts(laid, stage)) return false;
    const bool own = laid.stages[stage].dest >= static_cast<int>(group.tensors.size());  // of a packing: always
    return own || born ? (split || own) && splits(laid, stage, hardware) : split && may_split(laid, stage, hardware);
  };
  const Prepared packed = pack_operands(split_reductions(laid, chosen, wanted.parts), wanted, hardware);
  Prepared result = split ? split_contractions(packed, wanted.parts, hardware) : packed;
  part_rows(result.group);
  if (wanted.in_tiles) hold_rows(result.group);
  return result;
}

}  // namespace mtmc::triton
