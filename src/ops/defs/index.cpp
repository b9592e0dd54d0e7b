// Elements chosen by index tensors.
#include <algorithm>

#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

Status require_indices(const OpCall& call, int which) {
  const DType dtype = call.type(which).dtype;
  if (dtype != DType::i64 && dtype != DType::i32)
    return refusal(call, "indices must be integers", to_string(call.type(which)), "i64");
  return ok_status();
}

Types infer_embedding(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  MTMC_RETURN_IF_ERROR(require_indices(call, 1));
  if (call.type(0).rank() != 2) return refusal(call, "the table must be a matrix", to_string(call.type(0)));
  Shape shape = call.type(1).shape;
  shape.push_back(call.type(0).shape[1]);
  return std::vector<TensorType>{{call.type(0).dtype, shape}};
}
Definition define_embedding(const OpCall& call) {
  const int rank = call.type(1).rank();
  return single(call, "embedding", raw_operand(call, 0, {index_operand(call, 1, spatial(rank)), axis(rank)}));
}

Types infer_index_select(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  MTMC_RETURN_IF_ERROR(require_indices(call, 1));
  TensorType out = call.type(0);
  if (out.rank() == 0 || call.type(1).rank() != 1)
    return refusal(call, "needs dimensions and a vector of indices", to_string(call.type(1)));
  MTMC_TRY(const int along, resolve_axis(call, call.attrs.integer("dim"), out.rank()));
  out.shape[along] = call.type(1).shape[0];
  return std::vector<TensorType>{out};
}
Definition define_index_select(const OpCall& call) {
  const int rank = call.type(0).rank(), along = axis_of(call, "dim", 0, rank);
  Indices at = spatial(rank);
  at[along] = index_operand(call, 1, {axis(along)});
  return single(call, "index_select", raw_operand(call, 0, at));
}

Types infer_gather(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  MTMC_RETURN_IF_ERROR(require_indices(call, 1));
  const TensorType &x = call.type(0), &index = call.type(1);
  MTMC_TRY(const int along, resolve_axis(call, call.attrs.integer("dim"), x.rank()));
  if (x.rank() == 0 || index.rank() != x.rank())
    return refusal(call, "indices of another rank", to_string(index), to_string(x));
  for (int i = 0; i < x.rank(); ++i)
    if (i != along && index.shape[i] > x.shape[i])
      return refusal(call, "more indices than elements", to_string(index), to_string(x));
  return std::vector<TensorType>{{x.dtype, index.shape}};
}
Definition define_gather(const OpCall& call) {
  const int rank = call.type(0).rank();
  Indices at = spatial(rank);
  at[axis_of(call, "dim", 0, rank)] = index_operand(call, 1, spatial(rank));
  return single(call, "gather", raw_operand(call, 0, at));
}

// x[:, i, j]: index tensors for some axes, which broadcast together. Their result stands where the first of them did,
// or in front when they are no neighbours.
struct Chosen {
  Shape together;
  std::vector<int> axes;  // the indexed ones
  int place = 0;          // of the result's first common axis
};
Result<Chosen> chosen(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, call.type(0).rank() + 1));
  Chosen result;
  for (int i = 1; i < call.count(); ++i) {
    if (!call.has(i)) continue;
    MTMC_RETURN_IF_ERROR(require_indices(call, i));
    result.axes.push_back(i - 1);
    const auto shape = broadcast(result.together, call.type(i).shape);
    if (!shape) return refusal(call, "index shapes do not broadcast", to_string(call.type(i)));
    result.together = *shape;
  }
  if (result.axes.empty()) return refusal(call, "no indices");
  const int last = result.axes.back(), first = result.axes.front();
  result.place = last - first + 1 == static_cast<int>(result.axes.size()) ? first : 0;
  return result;
}
Types infer_index(const OpCall& call) {
  MTMC_TRY(const Chosen which, chosen(call));
  Shape shape = call.type(0).shape;
  for (size_t i = which.axes.size(); i-- > 0;) shape.erase(shape.begin() + which.axes[i]);
  shape.insert(shape.begin() + which.place, which.together.begin(), which.together.end());
  return std::vector<TensorType>{{call.type(0).dtype, shape}};
}
// A negative index counts from the end.
ExprP from_start(const ExprP& index, int64_t extent) {
  return select(fn(Fn::lt, index, index_constant(0)), index + index_constant(extent), index);
}
Definition define_index(const OpCall& call) {
  const Chosen which = chosen(call).value();
  const Shape& shape = call.type(0).shape;
  const int together = static_cast<int>(which.together.size());
  const Indices common = spatial(together, which.place);
  Indices at;
  int kept = 0;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (std::count(which.axes.begin(), which.axes.end(), i) > 0) {
      const ExprP index = index_operand(call, i + 1, broadcast_indices(call.type(i + 1).shape, common));
      at.push_back(from_start(index, shape[i]));
    } else {
      at.push_back(axis(kept < which.place ? kept : kept + together));
      ++kept;
    }
  }
  return single(call, "index", raw_operand(call, 0, at));
}
std::string spell_index(const OpCall&, std::span<const std::string> args) {
  std::string text = "torch.ops.aten.index(" + args[0] + ", [";
  for (size_t i = 1; i < args.size(); ++i) text += (i > 1 ? ", " : "") + args[i];
  return text + "])";
}

Types infer_take(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  MTMC_RETURN_IF_ERROR(require_indices(call, 1));
  return std::vector<TensorType>{{call.type(0).dtype, call.type(1).shape}};
}
Definition define_take(const OpCall& call) {
  const TensorType& x = call.type(0);
  const ExprP flat = from_start(index_operand(call, 1, spatial(call.type(1).rank())), x.elements());
  return single(call, "take", raw_operand(call, 0, unflatten(flat, x.shape)));
}

Types infer_one_hot(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const int64_t classes = call.attrs.integer("num_classes", -1);
  if (classes < 1) return refusal(call, "the number of classes depends on data");
  Shape shape = call.type(0).shape;
  shape.push_back(classes);
  return std::vector<TensorType>{{DType::i64, shape}};
}
Definition define_one_hot(const OpCall& call) {
  const int rank = call.type(0).rank();
  return single(call, "one_hot", cast(DType::i64, fn(Fn::eq, index_operand(call, 0, spatial(rank)), axis(rank))));
}

void only_forward(AtenCall& call) {
  for (const char* name : {"padding_idx", "scale_grad_by_freq", "sparse", "sparse_grad"}) call.args.erase(name);
}

}  // namespace

extern const OpFile index_def = {
    {.name = "embedding",
     .doc = "Rows of a table by index.",
     .infer = infer_embedding,
     .define = define_embedding,
     .spelling = "F.embedding({1}, {0})",
     .aten = {{"aten.embedding.default", "weight indices", "", "", only_forward}}},
    {.name = "index_select",
     .doc = "Slices along an axis by index.",
     .infer = infer_index_select,
     .define = define_index_select,
     .spelling = "torch.index_select({0}, {dim}, {1})",
     .aten = {{"aten.index_select.default", "self index", "dim"}}},
    {.name = "gather",
     .doc = "Elements along an axis, each by its own index.",
     .infer = infer_gather,
     .define = define_gather,
     .spelling = "torch.gather({0}, {dim}, {1})",
     .aten = {{"aten.gather.default", "self index", "dim", "", only_forward}}},
    {.name = "index",
     .doc = "Elements by index tensors for some axes.",
     .infer = infer_index,
     .define = define_index,
     .aten = {{"aten.index.Tensor", "self *indices"}},
     .spell = spell_index},
    {.name = "take",
     .doc = "Elements by their row-major positions.",
     .infer = infer_take,
     .define = define_take,
     .spelling = "torch.take({0}, {1})",
     .aten = {{"aten.take.default", "self index"}}},
    {.name = "one_hot",
     .doc = "1 at the index, 0 elsewhere along a new axis.",
     .infer = infer_one_hot,
     .define = define_one_hot,
     .spelling = "F.one_hot({0}, {num_classes})",
     .aten = {{"aten.one_hot.default", "self", "num_classes"}}},
};

}  // namespace mtmc
