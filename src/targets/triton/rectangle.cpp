#include "targets/triton/rectangle.h"

#include <algorithm>

#include "base/text.h"

namespace mtmc::triton {
namespace {

std::string position(const std::map<int, int64_t>& coefficients, const std::map<int, std::string>& scalars,
                     int64_t base, const std::string& start) {
  std::vector<std::string> terms;
  if (start != "0") terms.push_back(start);
  for (const auto& [axis, coefficient] : coefficients)
    if (coefficient != 0 && scalars.at(axis) != "0")
      terms.push_back(scalars.at(axis) + (coefficient == 1 ? "" : " * " + std::to_string(coefficient)));
  if (base != 0) terms.push_back(std::to_string(base));
  return terms.empty() ? "0" : join(terms, " + ");
}

}  // namespace

std::optional<Rectangle> find_rectangle(const Group& group, const ExprP& expr, const std::vector<int64_t>& extents,
                                        const std::vector<int>& outer, const std::vector<int>& inner) {
  if (expr->kind != Expr::Kind::load || expr->guard || outer.empty() || inner.empty()) return std::nullopt;
  const GroupTensor& tensor = group.tensors[expr->tensor];
  ExprP flat = flat_index(expr->args, tensor.strides);
  const Affine form = affine(simplify(flat, extents), static_cast<int>(extents.size()));
  if (!form.ok || form.base < 0) return std::nullopt;
  const auto stride_of = [&](const std::vector<int>& axes) -> int64_t {
    for (size_t i = 0; i + 1 < axes.size(); ++i)
      if (form.coefficients[axes[i]] != form.coefficients[axes[i + 1]] * extents[axes[i + 1]]) return -1;
    return form.coefficients[axes.back()];
  };
  const int64_t outer_stride = stride_of(outer), inner_stride = stride_of(inner);
  const int64_t whole = 16 / bytes(tensor.type.dtype);
  Rectangle view;
  view.tensor = expr->tensor;
  if (inner_stride == 1 && outer_stride > 0 && outer_stride % whole == 0 && outer_stride >= product(extents, inner)) {
    view.width = outer_stride;
  } else if (outer_stride == 1 && inner_stride > 0 && inner_stride % whole == 0 &&
             inner_stride >= product(extents, outer)) {
    view.width = inner_stride;
    view.inner_across = false;
  } else {
    return std::nullopt;
  }
  const int64_t elements = tensor.strides.empty() ? 1 : tensor.strides[0] * tensor.type.shape[0];
  if (elements % view.width != 0) return std::nullopt;
  view.height = elements / view.width * (has_low_part(group, expr->tensor) ? 2 : 1);
  for (size_t a = 0; a < extents.size(); ++a) {
    const int axis = static_cast<int>(a);
    if (form.coefficients[a] < 0) return std::nullopt;
    if (form.coefficients[a] == 0 || std::count(outer.begin(), outer.end(), axis) ||
        std::count(inner.begin(), inner.end(), axis))
      continue;
    view.down[axis] = form.coefficients[a] / view.width;
    view.right[axis] = form.coefficients[a] % view.width;
  }
  view.base_down = form.base / view.width;
  view.base_right = form.base % view.width;
  // Nothing may reach over the end of a row: outside the view there are zeros.
  int64_t reach = view.base_right + product(extents, view.inner_across ? inner : outer) - 1;
  for (const auto& [axis, step] : view.right) reach += step * (extents[axis] - 1);
  if (reach >= view.width) return std::nullopt;
  return view;
}

std::string Rectangles::load(const Group& group, const Rectangle& view, const std::map<int, std::string>& scalars,
                             const std::string& outer_start, const std::string& inner_start, int64_t outer_block,
                             int64_t inner_block) {
  const int64_t down = view.inner_across ? outer_block : inner_block,
                across = view.inner_across ? inner_block : outer_block;
  const std::string& tensor = group.tensors[view.tensor].name;
  const std::string argument = "_tiles(" + tensor + ", " + std::to_string(view.height) + ", " +
                               std::to_string(view.width) + ", " + std::to_string(down) + ", " +
                               std::to_string(across) + ")";
  size_t known = static_cast<size_t>(std::find(arguments_.begin(), arguments_.end(), argument) - arguments_.begin());
  if (known == arguments_.size()) {
    std::string name = tensor + "_tiles";
    while (std::count(parameters_.begin(), parameters_.end(), name)) name += "_2";
    parameters_.push_back(name);
    arguments_.push_back(argument);
  }
  return parameters_[known] + ".load([" +
         position(view.down, scalars, view.base_down, view.inner_across ? outer_start : inner_start) + ", " +
         position(view.right, scalars, view.base_right, view.inner_across ? inner_start : outer_start) + "])";
}

void Rectangles::pass(TritonLaunch& launch) const {
  launch.parameters.insert(launch.parameters.end(), parameters_.begin(), parameters_.end());
  launch.arguments.insert(launch.arguments.end(), arguments_.begin(), arguments_.end());
}

}  // namespace mtmc::triton
