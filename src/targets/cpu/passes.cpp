#include "targets/cpu/passes.h"

#include <algorithm>
#include <set>

namespace mtmc {
namespace {

bool pointwise(const GroupStage& stage) { return stage.stage.combine == Combine::none; }

std::vector<const Expr*> loads_from(const ExprP& body, int tensor) {
  std::vector<const Expr*> found;
  for (const Expr* load : loads_of(body))
    if (load->tensor == tensor) found.push_back(load);
  return found;
}

// Whether the indices are the stage's axes 0, 1, ... themselves.
bool own_axes(const std::vector<ExprP>& indices) {
  for (size_t d = 0; d < indices.size(); ++d)
    if (indices[d]->kind != Expr::Kind::axis || indices[d]->axis != static_cast<int>(d)) return false;
  return true;
}

// Whether the indices are different axes of the stage that walk all of the tensor, and all of the stage's axes longer
// than one are among them.
bool walks_once(const std::vector<ExprP>& indices, const Shape& shape, const std::vector<int64_t>& extents) {
  std::vector<bool> used(extents.size(), false);
  for (size_t d = 0; d < indices.size(); ++d) {
    if (shape[d] == 1) continue;
    if (indices[d]->kind != Expr::Kind::axis || used[indices[d]->axis]) return false;
    if (extents[indices[d]->axis] != shape[d]) return false;
    used[indices[d]->axis] = true;
  }
  for (size_t a = 0; a < extents.size(); ++a)
    if (extents[a] > 1 && !used[a]) return false;
  return true;
}

}  // namespace

std::optional<Joined> join(const Group& group, const GroupStage& first, const GroupStage& second) {
  if (!pointwise(first) || !is_reduction(second.stage.combine) || second.contraction) return std::nullopt;
  if (second.stage.combine == Combine::argmax || second.stage.combine == Combine::argmin) return std::nullopt;
  const TensorType& type = group.tensors[first.dest].type;
  if (type.dtype != DType::f32 || first.stage.body->dtype != DType::f32) return std::nullopt;
  const auto loads = loads_from(second.stage.body, first.dest);
  if (loads.empty() || !walks_once(loads[0]->args, type.shape, second.stage.extents())) return std::nullopt;
  const auto same = [&](const Expr* load) {
    return !load->guard && std::equal(load->args.begin(), load->args.end(), loads[0]->args.begin(),
                                      [](const ExprP& a, const ExprP& b) { return to_string(a) == to_string(b); });
  };
  if (!std::all_of(loads.begin(), loads.end(), same)) return std::nullopt;
  Joined joined{second, {first.dest, loads[0]->args, substitute_axes(first.stage.body, loads[0]->args)}};
  joined.stage.stage.body = transform_loads(
      second.stage.body, [&](const ExprP& e) { return e->tensor == first.dest ? joined.tee.value : e; });
  return joined;
}

int home_of(const Group& group, const Frame& frame, int scratch) {
  int last = -1;  // the stage that reads it last
  for (size_t s = 0; s < group.stages.size(); ++s)
    if (!loads_from(group.stages[s].stage.body, scratch).empty()) last = static_cast<int>(s);
  if (last < frame.first || last > frame.last) return -1;
  const GroupStage& reader = group.stages[last];
  const GroupTensor &home = group.tensors[reader.dest], &own = group.tensors[scratch];
  if (!pointwise(reader) || home.role != GroupTensor::Role::write || home.type.dtype != own.type.dtype ||
      home.type.shape != own.type.shape)
    return -1;
  for (const Expr* load : loads_from(reader.stage.body, scratch))
    if (load->guard || !own_axes(load->args)) return -1;
  for (const GroupStage& stage : group.stages)
    if (stage.dest != scratch && &stage != &reader && !loads_from(stage.stage.body, reader.dest).empty()) return -1;
  return reader.dest;
}

std::vector<Ahead> next_rows(const Group& group, const Frame& frame, int s, int64_t tile) {
  const int innermost = static_cast<int>(frame.shared.size()) - 1;
  if (innermost < 0 || s == frame.first) return {};
  const Stage &waiting = group.stages[frame.first].stage, &stage = group.stages[s].stage;
  const int row = frame.axis_of(innermost, frame.first);
  if (row < 0) return {};
  // Axes of the waiting stage in terms of this one's: the shared ones, and one more of the same length.
  const std::vector<int64_t> theirs = waiting.extents(), ours = stage.extents();
  std::vector<ExprP> as_ours(theirs.size(), index_constant(0));
  std::vector<bool> taken(ours.size(), false);
  for (int p = 0; p <= innermost; ++p) {
    const int a = frame.axis_of(p, frame.first), b = frame.axis_of(p, s);
    if (a < 0 || b < 0) return {};
    as_ours[a] = axis(b), taken[b] = true;
  }
  for (size_t a = 0; a < theirs.size(); ++a) {
    if (theirs[a] == 1 || as_ours[a]->kind == Expr::Kind::axis) continue;
    size_t b = 0;
    while (b < ours.size() && (taken[b] || ours[b] != theirs[a])) ++b;
    if (b == ours.size()) return {};
    as_ours[a] = axis(static_cast<int>(b)), taken[b] = true;
  }
  std::vector<Ahead> ahead;
  std::set<std::string> seen;
  for (const Expr* load : loads_of(waiting.body)) {
    const GroupTensor& tensor = group.tensors[load->tensor];
    if (tensor.role != GroupTensor::Role::read || load->guard) continue;
    ExprP flat = flat_index(load->args, tensor.strides);
    const Affine form = affine(simplify(flat, theirs), static_cast<int>(theirs.size()));
    bool walks = false;  // along the row, not only with it
    for (size_t a = 0; a < theirs.size(); ++a)
      walks |= form.coefficients[a] != 0 && frame.shared_of(frame.first, static_cast<int>(a)) < 0;
    if (!form.ok || !walks || form.coefficients[row] == 0 || !seen.insert(tensor.name + to_string(flat)).second)
      continue;
    std::vector<ExprP> at;
    for (const ExprP& index : load->args) at.push_back(substitute_axes(index, as_ours));
    ahead.push_back({load->tensor, std::move(at), form.coefficients[row] * tile});
  }
  return ahead;
}

}  // namespace mtmc
