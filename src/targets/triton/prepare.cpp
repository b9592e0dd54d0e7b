#include "targets/triton/prepare.h"

#include <algorithm>
#include <set>

#include "targets/triton/pack.h"
#include "targets/triton/split_k.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kEnoughRows = 1024, kWorthSplitting = int64_t(1) << 18;

bool splits(const GroupStage& stage) {
  const Stage& s = stage.stage;
  if (!is_reduction(s.combine) || s.combine == Combine::argmax || s.combine == Combine::argmin) return false;
  const int64_t rows = s.type.elements(), k = product(s.reduce);
  if (stage.contraction) return false;
  return rows < kEnoughRows && rows * k >= kWorthSplitting;
}

// r = combine over k of f(k)  becomes  partial[p] = combine over chunk p of f, r = combine over p of partial[p].
void split_stage(Group& result, const GroupStage& whole, int64_t parts) {
  const Stage& s = whole.stage;
  const int rank = s.rank();
  const int64_t extent = s.reduce[0];
  parts = std::min(parts, extent);
  const int64_t chunk = blocks(extent, parts);
  parts = blocks(extent, chunk);
  GroupStage partial = whole, rest = whole;
  partial.stage.name = s.name + "_partial";
  partial.stage.type = {s.body->dtype, s.type.shape};
  partial.stage.type.shape.push_back(parts);
  partial.stage.reduce[0] = chunk;
  std::vector<ExprP> axes;
  for (int a = 0; a < rank; ++a) axes.push_back(axis(a));
  const ExprP at = axis(rank) * index_constant(chunk) + axis(rank + 1);
  axes.push_back(at);
  for (size_t i = 1; i < s.reduce.size(); ++i) axes.push_back(axis(rank + 1 + static_cast<int>(i)));
  ExprP body = substitute_axes(s.body, axes);
  if (parts * chunk != extent) {
    const ExprP inside = call(Fn::lt, {at, index_constant(extent)});
    body = transform(body, [&](const ExprP& e) -> ExprP {
      if (e->kind != Expr::Kind::load) return e;
      return load(e->tensor, e->dtype, e->args, e->guard ? call(Fn::logical_and, {inside, e->guard}) : inside,
                  e->other ? e->other : constant(e->dtype, 0));
    });
    body = select(inside, body, neutral(s.combine, s.body->dtype));
  }
  partial.stage.body = simplify(body, partial.stage.extents());
  partial.contraction.reset();
  GroupTensor tensor{GroupTensor::Role::scratch,
                     kNoValue,
                     result.tensors[whole.dest].name + "_partial",
                     partial.stage.type,
                     contiguous_strides(partial.stage.type.shape),
                     false};
  result.tensors.push_back(tensor);
  partial.dest = static_cast<int>(result.tensors.size()) - 1;
  std::vector<ExprP> own;
  for (int a = 0; a <= rank; ++a) own.push_back(axis(a));
  rest.stage.reduce = {parts};
  rest.stage.body = load(partial.dest, partial.stage.type.dtype, own);
  rest.contraction.reset();
  result.stages.push_back(std::move(partial));
  result.stages.push_back(std::move(rest));
}

constexpr int64_t kWorthUnits = 8;  // rows of weights in a group from which matrix units pay

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

bool needs_split(const Group& group) { return std::any_of(group.stages.begin(), group.stages.end(), splits); }

Prepared prepare(const Group& group, const std::string& precision, bool split, int64_t parts) {
  const Group whole = ungroup(group);
  Group laid = collapse_axes(pack_windows(whole, precision).group);
  Group chunked;
  chunked.name = laid.name;
  chunked.tensors = laid.tensors;
  for (const GroupStage& stage : laid.stages) {
    const bool own = stage.dest >= static_cast<int>(group.tensors.size());  // of a packing: always
    if ((split || own) && splits(stage)) {
      split_stage(
          chunked, stage,
          parts > 0 ? parts : std::max<int64_t>(2, kEnoughRows / std::max<int64_t>(1, stage.stage.type.elements())));
    } else {
      chunked.stages.push_back(stage);
    }
  }
  const Prepared packed = pack_operands(chunked, precision);
  return split ? split_contractions(packed, parts) : packed;
}

}  // namespace mtmc::triton
