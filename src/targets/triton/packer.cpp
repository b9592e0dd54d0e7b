#include "targets/triton/packer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "targets/triton/split_k.h"

namespace mtmc::triton {
namespace {

constexpr double kLargest = 13;      // scaled numbers are below 2^14, far from f16's 65504
constexpr double kSmallest = 1e-30;  // maxima below it are not scaled up any further
// Elements of K that tensor cores may add up before registers take over. They cut every partial sum off, so that the
// error of a sum of positive terms is 4.4e-9 of it for each element; a library's grows with the square root of K
// (1.3e-8), and less where it adds chunks of K.
int64_t promotion(const GroupStage& stage, const Hardware& hardware) {
  const int64_t k = product(stage.stage.extents(), stage.contraction->k);
  return k < 1024 || chunks_of_k(stage, hardware) > 1 ? 128 : 256;
}

}  // namespace

std::vector<ExprP> axes_to(int count) {
  std::vector<ExprP> axes;
  for (int a = 0; a < count; ++a) axes.push_back(axis(a));
  return axes;
}

ExprP scale_of(const ExprP& largest) {
  const ExprP bounded = call(Fn::max, {largest, number(kSmallest)});
  return call(Fn::exp2, {number(kLargest) - call(Fn::floor, {call(Fn::log2, {bounded})})});
}

std::vector<ExprP> guards_of(const ExprP& operand) {
  const ExprP e = operand->kind == Expr::Kind::cast ? operand->args[0] : operand;
  std::vector<ExprP> found;
  if (e->kind != Expr::Kind::load || !e->guard || !is_constant(e->other) || e->other->number != 0) return found;
  std::vector<ExprP> open = {e->guard};
  while (!open.empty()) {
    const ExprP one = open.back();
    open.pop_back();
    if (one->kind == Expr::Kind::call && one->fn == Fn::logical_and)
      open.insert(open.end(), one->args.begin(), one->args.end());
    else
      found.push_back(one);
  }
  return found;
}

Packer::Packer(const Group& group, std::string precision, const Hardware& hardware)
    : precision_(std::move(precision)), hardware_(hardware) {
  result_.group.name = group.name;
  result_.group.tensors = group.tensors;
  for (const GroupTensor& tensor : group.tensors) names_.insert(tensor.name);
}

bool Packer::is_half(const ExprP& e) {
  return e->kind == Expr::Kind::cast && (e->args[0]->dtype == DType::f16 || e->args[0]->dtype == DType::bf16);
}
bool Packer::of_half(const GroupStage& stage) {
  return is_half(stage.contraction->left) && is_half(stage.contraction->right);
}

Packer::Parts Packer::parts_of(const ExprP& scaled) {
  const ExprP sign = select(call(Fn::lt, {scaled, number(0)}), number(-1), number(1));
  const ExprP rounded = cast(DType::f32, cast(DType::f16, scaled));
  return {select(finite(scaled), scaled, sign), select(finite(scaled), scaled - rounded, scaled)};
}

void Packer::put_behind(int high, int low) {
  for (int part : {high, low}) result_.group.tensors[part].kept = true;
  result_.group.tensors[low].behind = high;
}

int Packer::scratch(const std::string& name, DType dtype, const Shape& shape) {
  std::string fresh = name;
  for (int n = 2; !names_.insert(fresh).second; ++n) fresh = name + "_" + std::to_string(n);
  GroupTensor tensor{GroupTensor::Role::scratch, kNoValue, fresh, {dtype, shape}, contiguous_strides(shape), false};
  result_.group.tensors.push_back(std::move(tensor));
  return static_cast<int>(result_.group.tensors.size()) - 1;
}

int Packer::stage(const GroupStage& of, const std::string& name, TensorType type, std::vector<int64_t> reduce,
                  Combine combine, ExprP body, const Shape& room) {
  GroupStage made;
  made.stage.name = name;
  made.stage.type = type;
  made.stage.reduce = std::move(reduce);
  made.stage.combine = combine;
  made.stage.body = simplify(body, made.stage.extents());
  const std::string what = fmt::format("{} {} {} {}", to_string(type), fmt::join(made.stage.reduce, ","),
                                       static_cast<int>(combine), to_string(made.stage.body));
  const auto [known, is_new] = made_.try_emplace(what, -1);
  if (!is_new) return known->second;
  made.op = of.op;
  made.tf32 = of.tf32;
  made.location = of.location;
  made.dest = known->second = scratch(name, type.dtype, room.empty() ? type.shape : room);
  result_.group.tensors[made.dest].zeros = !room.empty() && room != type.shape;
  push(made);
  return made.dest;
}

void Packer::multiply(const GroupStage& of, const ExprP& left, const ExprP& right, bool two_part) {
  Products& products = result_.products[static_cast<int>(result_.group.stages.size())];
  products.left = left, products.right = right;
  products.two_part = two_part, products.promote = promotion(of, hardware_);
  products.live = guards_of(of.contraction->right);
  undo_scales(of, contract(of, left, right));
}

int Packer::contract(const GroupStage& of, const ExprP& left, const ExprP& right) {
  GroupStage made = of;
  made.stage.type.dtype = DType::f32;
  made.stage.body = left * right;
  made.contraction = classify_contraction(made.stage);
  if (!made.contraction) throw Unsupported{"a packed contraction"};
  for (int a : std::exchange(apart_, {})) {
    for (std::vector<int>* lanes : {&made.contraction->m, &made.contraction->n}) std::erase(*lanes, a);
    made.contraction->batch.push_back(a);
  }
  part_columns(made, guards_of(of.contraction->right));
  made.dest = scratch("product", DType::f32, of.stage.type.shape);
  push(made);
  return made.dest;
}

void Packer::part_columns(GroupStage& made, const std::vector<ExprP>& live) {
  Contraction& c = *made.contraction;
  const std::vector<int64_t> extents = made.stage.extents();
  for (const ExprP& e : live) {
    const auto decides = [&](int a) { return extents[a] > 1 && uses_axis(e, a); };
    if (std::none_of(c.k.begin(), c.k.end(), decides)) continue;
    const auto apart = std::stable_partition(c.n.begin(), c.n.end(), [&](int a) { return !decides(a); });
    c.batch.insert(c.batch.end(), apart, c.n.end());
    c.n.erase(apart, c.n.end());
  }
}

void Packer::undo_scales(const GroupStage& of, int product) {
  GroupStage undone = of;
  undone.stage.reduce.clear();
  undone.stage.combine = Combine::none;
  undone.contraction.reset();
  ExprP value = load(product, DType::f32, axes_to(of.stage.rank()));
  for (const ExprP& scale : scales_) value = value * (number(1) / scale);  // exact: powers of two
  undone.stage.body = cast(of.stage.type.dtype, value);
  push(undone);
  scales_.clear();
}

}  // namespace mtmc::triton
