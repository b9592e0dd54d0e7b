#include "targets/triton/product_launch.h"

#include <algorithm>

namespace mtmc::triton {

Shape long_axes(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

bool follows_product(const Group& group, size_t product, const GroupStage& stage, const std::vector<int>& made) {
  const Stage& s = stage.stage;
  if (stage.contraction || s.combine != Combine::none || !stage.place.empty() || stage.run_if ||
      stage.peak_tensor >= 0 || stage.producers > 0 ||
      long_axes(s.type.shape) != long_axes(group.stages[product].stage.type.shape))
    return false;
  std::vector<int> own;
  for (int a = 0; a < s.rank(); ++a)
    if (s.type.shape[a] > 1) own.push_back(a);
  const auto loads = loads_of(s.body);
  return std::all_of(loads.begin(), loads.end(), [&](const Expr* e) {
    if (std::find(made.begin(), made.end(), e->tensor) == made.end()) return true;
    std::vector<int> read;
    for (const ExprP& index : e->args) {
      if (is_constant(index)) continue;
      if (index->kind != Expr::Kind::axis) return false;
      if (s.type.shape[index->axis] > 1) read.push_back(index->axis);
    }
    return read == own;
  });
}

bool is_made_from(const Group& group, size_t first, int tensor) {
  return std::any_of(group.stages.begin() + static_cast<std::ptrdiff_t>(first), group.stages.end(),
                     [&](const GroupStage& one) { return one.dest == tensor; });
}

std::optional<std::pair<int, int>> outer_and_inner(const ExprP& index, const std::vector<int64_t>& extents) {
  const Affine form = affine(index, static_cast<int>(extents.size()));
  std::vector<int> along;
  for (int a = 0; form.ok && a < static_cast<int>(extents.size()); ++a)
    if (form.coefficients[a] != 0) along.push_back(a);
  if (along.size() != 2 || form.base != 0) return std::nullopt;
  if (form.coefficients[along[0]] < form.coefficients[along[1]]) std::swap(along[0], along[1]);
  if (form.coefficients[along[1]] != 1 || form.coefficients[along[0]] != extents[along[1]]) return std::nullopt;
  return std::pair(along[0], along[1]);
}

}  // namespace mtmc::triton
