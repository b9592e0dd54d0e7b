// Views: the same elements under other indices.
#include <algorithm>
#include <limits>

#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// A view with one output: its type, and the index of the operand's element at the output's axes.
using ShapeRule = Result<Shape> (*)(const OpCall&);
using IndexRule = Indices (*)(const OpCall&, const Indices& at);

template <ShapeRule Rule>
Types infer(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  MTMC_TRY(Shape shape, Rule(call));
  return std::vector<TensorType>{{call.type(0).dtype, shape}};
}
template <ShapeRule Rule, IndexRule Index>
Definition define(const OpCall& call) {
  return single(call, std::string(call.op),
                raw_operand(call, 0, Index(call, spatial(static_cast<int>(Rule(call).value().size())))));
}
template <ShapeRule Rule, IndexRule Index>
OpDef view(std::string_view name, std::string_view doc, std::string_view spelling, std::vector<AtenRule> aten) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.infer = infer<Rule>;
  def.define = define<Rule, Index>;
  def.spelling = spelling;
  def.aten = std::move(aten);
  def.is_view = true;
  return def;
}

const Shape& shape_of(const OpCall& call) { return call.type(0).shape; }

Result<Shape> reshape(const OpCall& call) {
  Shape shape = call.attrs.list("shape");
  int64_t known = 1;
  auto open = shape.end();
  for (auto extent = shape.begin(); extent != shape.end(); ++extent) {
    if (*extent == -1 && open == shape.end()) {
      open = extent;
    } else {
      known *= *extent;
    }
  }
  const int64_t elements = call.type(0).elements();
  if (open != shape.end() && known > 0) *open = elements / known;
  if (product(shape) != elements || std::any_of(shape.begin(), shape.end(), [](int64_t e) { return e < 0; }))
    return refusal(call, "the shape has another number of elements",
                   to_string(TensorType{call.type(0).dtype, call.attrs.list("shape")}),
                   std::to_string(elements) + " elements");
  return shape;
}
Indices reshape_index(const OpCall& call, const Indices& at) {
  return unflatten(flatten(at, reshape(call).value()), shape_of(call));
}

Result<Shape> flatten_shape(const OpCall& call) {
  const Shape& in = shape_of(call);
  const int rank = call.type(0).rank();
  MTMC_TRY(const int first, resolve_axis(call, call.attrs.integer("start_dim", 0), rank));
  MTMC_TRY(const int last, resolve_axis(call, call.attrs.integer("end_dim", -1), rank));
  if (first > last) return refusal(call, "start_dim after end_dim", std::to_string(first), std::to_string(last));
  if (rank == 0) return Shape{1};
  Shape shape(in.begin(), in.begin() + first);
  shape.push_back(product(Shape(in.begin() + first, in.begin() + last + 1)));
  shape.insert(shape.end(), in.begin() + last + 1, in.end());
  return shape;
}
Indices flatten_index(const OpCall& call, const Indices& at) {
  return unflatten(flatten(at, flatten_shape(call).value()), shape_of(call));
}

// Every permutation as the list of the operand's axes in the output's order.
Result<std::vector<int>> order(const OpCall& call) {
  const int rank = call.type(0).rank();
  std::vector<int> axes(rank);
  for (int i = 0; i < rank; ++i) axes[i] = i;
  if (call.op == "t") {
    if (rank > 2) return refusal(call, "needs a matrix", to_string(call.type(0)), "at most 2 dimensions");
    std::reverse(axes.begin(), axes.end());
  } else if (call.op == "transpose") {
    MTMC_TRY(const int a, resolve_axis(call, call.attrs.integer("dim0"), rank));
    MTMC_TRY(const int b, resolve_axis(call, call.attrs.integer("dim1"), rank));
    if (rank > 0) std::swap(axes[a], axes[b]);
  } else {
    const auto dims = call.attrs.list("dims");
    if (static_cast<int>(dims.size()) != rank)
      return refusal(call, "wrong number of dimensions", std::to_string(dims.size()), std::to_string(rank));
    for (int i = 0; i < rank; ++i) {
      MTMC_TRY(axes[i], resolve_axis(call, dims[i], rank));
    }
    std::vector<int> sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return refusal(call, "a dimension appears twice");
  }
  return axes;
}
Result<Shape> permute(const OpCall& call) {
  MTMC_TRY(const auto axes, order(call));
  Shape shape;
  for (int i : axes) shape.push_back(shape_of(call)[i]);
  return shape;
}
Indices permute_index(const OpCall& call, const Indices& at) {
  const auto axes = order(call).value();
  Indices index(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) index[axes[i]] = at[i];
  return index;
}

Result<Shape> unsqueeze(const OpCall& call) {
  MTMC_TRY(const int axis, resolve_axis(call, call.attrs.integer("dim"), call.type(0).rank() + 1));
  Shape shape = shape_of(call);
  shape.insert(shape.begin() + axis, 1);
  return shape;
}
Indices unsqueeze_index(const OpCall& call, const Indices& at) {
  Indices index = at;
  index.erase(index.begin() + axis_of(call, "dim", 0, call.type(0).rank() + 1));
  return index;
}

Result<std::vector<int>> dropped(const OpCall& call) {
  MTMC_TRY(auto axes, resolve_axes(call, "dim", call.type(0).rank()));
  std::erase_if(axes, [&](int i) { return shape_of(call)[i] != 1; });
  return axes;
}
Result<Shape> squeeze(const OpCall& call) {
  MTMC_TRY(const auto axes, dropped(call));
  Shape shape;
  for (int i = 0; i < call.type(0).rank(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) shape.push_back(shape_of(call)[i]);
  return shape;
}
Indices squeeze_index(const OpCall& call, const Indices& at) {
  Indices index = at;
  const std::vector<int> axes = dropped(call).value();
  for (int i : axes) index.insert(index.begin() + i, index_constant(0));
  return index;
}

Result<Shape> expand(const OpCall& call) {
  Shape shape = call.attrs.list("size");
  const Shape& in = shape_of(call);
  if (shape.size() < in.size())
    return refusal(call, "fewer dimensions than the operand", std::to_string(shape.size()), std::to_string(in.size()));
  const size_t skip = shape.size() - in.size();
  for (size_t i = 0; i < in.size(); ++i) {
    if (shape[skip + i] == -1) shape[skip + i] = in[i];
    if (in[i] != 1 && in[i] != shape[skip + i])
      return refusal(call, "only extents of 1 expand", to_string(call.type(0)),
                     "shape " + to_string(TensorType{call.type(0).dtype, shape}));
  }
  return shape;
}
Indices expand_index(const OpCall& call, const Indices& at) { return broadcast_indices(shape_of(call), at); }

Result<Shape> slice(const OpCall& call) {
  MTMC_TRY(const Slice part, slice_of(call));
  Shape shape = shape_of(call);
  shape[part.axis] = part.count;
  return shape;
}
Indices slice_index(const OpCall& call, const Indices& at) {
  const Slice part = slice_of(call).value();
  Indices index = at;
  index[part.axis] = at[part.axis] * index_constant(part.step) + index_constant(part.start);
  return index;
}

Result<Shape> select_one(const OpCall& call) {
  if (call.type(0).rank() == 0) return refusal(call, "a scalar has no dimension");
  MTMC_TRY(const int axis, resolve_axis(call, call.attrs.integer("dim"), call.type(0).rank()));
  MTMC_RETURN_IF_ERROR(index_on(call, axis));
  Shape shape = shape_of(call);
  shape.erase(shape.begin() + axis);
  return shape;
}
Indices select_index(const OpCall& call, const Indices& at) {
  const int which = axis_of(call, "dim", 0, call.type(0).rank());
  Indices all = at;
  all.insert(all.begin() + which, index_constant(index_on(call, which).value()));
  return all;
}

Result<Shape> diagonal(const OpCall& call) {
  const int rank = call.type(0).rank();
  MTMC_TRY(const int a, resolve_axis(call, call.attrs.integer("dim1", 0), rank));
  MTMC_TRY(const int b, resolve_axis(call, call.attrs.integer("dim2", 1), rank));
  if (a == b || rank < 2) return refusal(call, "needs two different dimensions", to_string(call.type(0)));
  const int64_t offset = call.attrs.integer("offset", 0);
  Shape shape = shape_of(call);
  const int64_t count = std::min(shape[a] + std::min<int64_t>(offset, 0), shape[b] - std::max<int64_t>(offset, 0));
  shape.erase(shape.begin() + std::max(a, b));
  shape.erase(shape.begin() + std::min(a, b));
  shape.push_back(std::max<int64_t>(count, 0));
  return shape;
}
Indices diagonal_index(const OpCall& call, const Indices& at) {
  const int rank = call.type(0).rank(), a = axis_of(call, "dim1", 0, rank), b = axis_of(call, "dim2", 1, rank);
  const int64_t offset = call.attrs.integer("offset", 0);
  Indices index(rank);
  index[a] = at.back() + index_constant(std::max<int64_t>(-offset, 0));
  index[b] = at.back() + index_constant(std::max<int64_t>(offset, 0));
  for (int i = 0, from = 0; i < rank; ++i)
    if (i != a && i != b) index[i] = at[from++];
  return index;
}

// Windows of `size` every `step` along an axis; the position in the window is the last axis.
Result<Shape> unfold(const OpCall& call) {
  if (call.type(0).rank() == 0) return refusal(call, "a scalar has no dimension");
  MTMC_TRY(const int axis, resolve_axis(call, call.attrs.integer("dimension"), call.type(0).rank()));
  Shape shape = shape_of(call);
  const int64_t size = call.attrs.integer("size"), step = call.attrs.integer("step");
  if (size > shape[axis] || size < 0 || step < 1)
    return refusal(call, "the window does not fit", std::to_string(size), "at most " + std::to_string(shape[axis]));
  shape[axis] = (shape[axis] - size) / step + 1;
  shape.push_back(size);
  return shape;
}
Indices unfold_index(const OpCall& call, const Indices& at) {
  const int which = axis_of(call, "dimension", 0, call.type(0).rank());
  Indices index(at.begin(), at.end() - 1);
  index[which] = at[which] * index_constant(call.attrs.integer("step")) + at.back();
  return index;
}

OpDef of_order(OpDef def) {
  def.needs_order = true;
  return def;
}

}  // namespace

extern const OpFile view_def = {
    of_order(view<reshape, reshape_index>("reshape", "The same elements in row-major order under another shape.",
                                          "torch.reshape({0}, {shape})",
                                          {{"aten.view.default", "self", "size>shape"},
                                           {"aten.reshape.default", "self", "shape"},
                                           {"aten._unsafe_view.default", "self", "size>shape"}})),
    of_order(view<flatten_shape, flatten_index>("flatten", "Neighbouring axes joined into one.",
                                                "torch.flatten({0}, {start_dim|0}, {end_dim|-1})",
                                                {{"aten.flatten.using_ints", "self", "start_dim end_dim"}})),
    view<permute, permute_index>("permute", "Axes in another order.", "torch.permute({0}, {dims})",
                                 {{"aten.permute.default", "self", "dims"}}),
    view<permute, permute_index>("transpose", "Two axes swapped.", "torch.transpose({0}, {dim0}, {dim1})",
                                 {{"aten.transpose.int", "self", "dim0 dim1"}}),
    view<permute, permute_index>("t", "The transposed matrix.", "torch.t({0})", {{"aten.t.default", "self"}}),
    view<unsqueeze, unsqueeze_index>("unsqueeze", "A new axis of extent 1.", "torch.unsqueeze({0}, {dim})",
                                     {{"aten.unsqueeze.default", "self", "dim"}}),
    view<squeeze, squeeze_index>("squeeze", "Axes of extent 1 dropped.", "torch.squeeze({0}, {dim})",
                                 {{"aten.squeeze.dim", "self", "dim"}, {"aten.squeeze.dims", "self", "dim"}}),
    view<squeeze, squeeze_index>("squeeze_all", "Every axis of extent 1 dropped.", "torch.squeeze({0})",
                                 {{"aten.squeeze.default", "self"}}),
    view<expand, expand_index>(
        "expand", "Extents of 1 repeated without copying.", "torch.ops.aten.expand({0}, {size})",
        {{"aten.expand.default", "self", "size"}, {"aten.broadcast_to.default", "self", "size"}}),
    view<slice, slice_index>("slice", "Every step-th element of a range along one axis.",
                             "torch.ops.aten.slice({0}, {dim|0}, {start|None}, {end|None}, {step|1})",
                             {{"aten.slice.Tensor", "self", "dim start end step"}}),
    view<select_one, select_index>("select", "One index along an axis, which disappears.",
                                   "torch.select({0}, {dim}, {index})", {{"aten.select.int", "self", "dim index"}}),
    view<diagonal, diagonal_index>("diagonal", "The diagonal of two axes, as the last axis.",
                                   "torch.diagonal({0}, {offset|0}, {dim1|0}, {dim2|1})",
                                   {{"aten.diagonal.default", "self", "offset dim1 dim2"}}),
    view<unfold, unfold_index>("unfold", "Sliding windows along an axis, as the last axis.",
                               "torch.ops.aten.unfold({0}, {dimension}, {size}, {step})",
                               {{"aten.unfold.default", "self", "dimension size step"}}),
};

}  // namespace mtmc
