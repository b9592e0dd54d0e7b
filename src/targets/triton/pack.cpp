#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "targets/triton/layout_pass.h"
#include "targets/triton/pack.h"
#include "targets/triton/split_k.h"

namespace mtmc::triton {
namespace {

constexpr double kLargest = 13;        // scaled numbers are below 2^14, far from f16's 65504
constexpr double kSmallest = 1e-30;    // maxima below it are not scaled up any further
constexpr int64_t kFewChannels = 32;   // that do not fill the lanes of K
constexpr int64_t kOnePass = 1 << 20;  // elements of an operand from which reading it once more costs too much
// Elements of K that tensor cores may add up before registers take over. They cut every partial sum off, so that the
// error of a sum of positive terms is 4.4e-9 of it for each element; a library's grows with the square root of K
// (1.3e-8), and less where it adds chunks of K.
int64_t promotion(const GroupStage& stage) {
  const std::vector<int64_t> extents = stage.stage.extents();
  int64_t k = 1;
  for (int a : stage.contraction->k) k *= extents[a];
  return k < 1024 || chunks_of_k(stage) > 1 ? 128 : 256;
}

ExprP number(double value) { return constant(DType::f32, value); }
ExprP finite(const ExprP& x) {
  return call(Fn::lt, {call(Fn::abs, {x}), number(std::numeric_limits<double>::infinity())});
}

class Packer {
 public:
  Packer(const Group& group, std::string precision) : precision_(std::move(precision)) {
    result_.group.name = group.name;
    result_.group.tensors = group.tensors;
    for (const GroupTensor& tensor : group.tensors) names_.insert(tensor.name);
  }

  // The windows of convolutions, before axes are merged.
  Prepared windows(const Group& group) {
    for (const GroupStage& stage : group.stages) {
      if (!stage.contraction || (precision_ != "half" && !of_half(stage))) {
        push(stage);
        continue;
      }
      const auto [joined, run] = join_channels(stage);
      std::vector<ExprP> sides;
      for (bool left : {true, false}) sides.push_back(window(joined, left, run));
      if (!sides[0] && !sides[1]) {
        push(stage);
        continue;
      }
      // The other side is packed by `operands`, when axes are merged: its maxima and its copy then walk the same ones.
      const Contraction& c = *joined.contraction;
      multiply(joined, sides[0] ? sides[0] : c.left, sides[1] ? sides[1] : c.right);
    }
    for (size_t s = 0; s + 1 < result_.group.stages.size(); ++s)
      follow(result_.group.stages[s], result_.group.stages[s + 1]);
    return std::move(result_);
  }

  // A stage that reads its predecessor once, at [.., a % s, .., a / s, ..], walks the predecessor's axes instead and is
  // stored at p + s * q: the phases of a transposed convolution then never reach memory apart.
  static void follow(const GroupStage& from, GroupStage& stage) {
    if (stage.stage.combine != Combine::none || !stage.place.empty() || !from.place.empty() ||
        from.stage.rank() <= stage.stage.rank())
      return;
    const Expr* read = nullptr;
    for (const Expr* e : loads_of(stage.stage.body)) {
      if (e->tensor != from.dest) continue;
      if (e->guard || (read && to_string(read->args[0]) != to_string(e->args[0]))) return;
      read = e;
    }
    if (!read) return;
    const int rank = stage.stage.rank();
    std::vector<ExprP> to(rank);
    std::vector<int64_t> steps(rank, 0);
    const auto parts = [&](const ExprP& e, Fn fn) {
      return e->kind == Expr::Kind::call && e->fn == fn && e->args[0]->kind == Expr::Kind::axis &&
             is_constant(e->args[1]);
    };
    for (size_t d = 0; d < read->args.size(); ++d) {
      const ExprP& e = read->args[d];
      const ExprP here = axis(static_cast<int>(d));
      if (e->kind == Expr::Kind::axis && !to[e->axis]) {
        to[e->axis] = here;
      } else if (parts(e, Fn::mod) || parts(e, Fn::div)) {
        const int a = e->args[0]->axis;
        const int64_t step = e->args[1]->integer;
        if (steps[a] != 0 && steps[a] != step) return;
        steps[a] = step;
        const ExprP term = e->fn == Fn::mod ? here : here * index_constant(step);
        to[a] = to[a] ? to[a] + term : term;
      } else if (!is_index_constant(e, 0)) {
        return;
      }
    }
    if (std::any_of(to.begin(), to.end(), [](const ExprP& e) { return !e; })) return;
    GroupStage moved = stage;
    moved.stage.type.shape = from.stage.type.shape;
    moved.stage.body = simplify(substitute_axes(stage.stage.body, to), moved.stage.extents());
    for (int a = 0; a < rank; ++a) {
      const ExprP inside =
          simplify(call(Fn::lt, {to[a], index_constant(stage.stage.type.shape[a])}), moved.stage.extents());
      if (!is_constant(inside)) moved.placed = moved.placed ? call(Fn::logical_and, {moved.placed, inside}) : inside;
      moved.place.push_back(to[a]);
    }
    stage = std::move(moved);
  }

  // Everything else, after.
  Prepared operands(const Group& group) {
    for (const GroupStage& stage : group.stages) {
      if (!stage.contraction) {
        push(stage);
      } else if (!needs_packing(stage)) {
        Products& products = result_.products[static_cast<int>(result_.group.stages.size())];
        products.left = stage.contraction->left, products.right = stage.contraction->right;
        push(stage);
      } else if (precision_ == "split") {
        const ExprP left = split(stage, true), right = split(stage, false);
        multiply(stage, left, right, true);
      } else {
        const ExprP left = plain(stage, true), right = plain(stage, false);
        multiply(stage, left, right);
      }
    }
    return std::move(result_);
  }

 private:
  static bool is_half(const ExprP& e) {
    return e->kind == Expr::Kind::cast && (e->args[0]->dtype == DType::f16 || e->args[0]->dtype == DType::bf16);
  }
  static bool of_half(const GroupStage& stage) {
    return is_half(stage.contraction->left) && is_half(stage.contraction->right);
  }
  bool needs_packing(const GroupStage& stage) const {
    const Contraction& c = *stage.contraction;
    if (is_half(c.left) && is_half(c.right)) return false;
    return precision_ != "ieee" && precision_ != "";
  }

  void push(const GroupStage& stage) { result_.group.stages.push_back(stage); }

  int scratch(const std::string& name, DType dtype, const Shape& shape) {
    std::string fresh = name;
    for (int n = 2; !names_.insert(fresh).second; ++n) fresh = name + "_" + std::to_string(n);
    GroupTensor tensor{GroupTensor::Role::scratch, kNoValue, fresh, {dtype, shape}, contiguous_strides(shape), false};
    result_.group.tensors.push_back(std::move(tensor));
    return static_cast<int>(result_.group.tensors.size()) - 1;
  }

  int stage(const GroupStage& of, const std::string& name, TensorType type, std::vector<int64_t> reduce,
            Combine combine, ExprP body) {
    GroupStage made;
    made.stage.name = name;
    made.stage.type = type;
    made.stage.reduce = std::move(reduce);
    made.stage.combine = combine;
    made.stage.body = simplify(body, made.stage.extents());
    made.op = of.op;
    made.location = of.location;
    made.dest = scratch(name, type.dtype, type.shape);
    push(made);
    return made.dest;
  }

  static std::vector<ExprP> axes_to(int count) {
    std::vector<ExprP> axes;
    for (int a = 0; a < count; ++a) axes.push_back(axis(a));
    return axes;
  }

  // A power of two that brings the largest finite magnitude of a row just below 2^14.
  static ExprP scale_of(const ExprP& largest) {
    const ExprP bounded = call(Fn::max, {largest, number(kSmallest)});
    return call(Fn::exp2, {number(kLargest) - call(Fn::floor, {call(Fn::log2, {bounded})})});
  }
  static ExprP magnitude(const ExprP& x) { return select(finite(x), call(Fn::abs, {x}), number(0)); }

  struct Layout {
    std::vector<int> rows, k;     // the stage's axes that the operand uses: batch and M (or N), then K
    std::vector<ExprP> of_stage;  // each axis of the stage as one of the packed tensor's: rows, then K
    Shape row_shape, k_shape;
    bool rows_last = false;  // the source has its rows side by side: so has the packed tensor
  };

  Layout layout(const GroupStage& stage, bool left) const {
    const Contraction& c = *stage.contraction;
    const ExprP& expr = left ? c.left : c.right;
    const std::vector<int64_t> extents = stage.stage.extents();
    Layout layout;
    layout.of_stage.resize(extents.size());
    const auto take = [&](const std::vector<int>& axes, std::vector<int>& to, Shape& shape) {
      for (int a : axes) {
        if (!uses_axis(expr, a) || extents[a] == 1) continue;
        to.push_back(a);
        shape.push_back(extents[a]);
      }
    };
    take(c.batch, layout.rows, layout.row_shape);
    take(left ? c.m : c.n, layout.rows, layout.row_shape);
    take(in_order(c.k, extents), layout.k, layout.k_shape);
    int next = 0;
    for (const auto* list : {&layout.rows, &layout.k})
      for (int a : *list) layout.of_stage[a] = axis(next++);
    for (ExprP& e : layout.of_stage)
      if (!e) e = index_constant(0);
    layout.rows_last = !layout.rows.empty() && layout.k.size() == 1 && walks(stage, expr, layout.rows.back()) &&
                       row_run(stage, expr, left ? c.m : c.n);
    return layout;
  }

  // K's axes, the longest last: it is the one that a tile's lanes walk.
  static std::vector<int> in_order(std::vector<int> k, const std::vector<int64_t>& extents) {
    const auto longest = std::max_element(k.begin(), k.end(), [&](int a, int b) { return extents[a] < extents[b]; });
    std::rotate(longest, longest + 1, k.end());
    return k;
  }

  // Whether neighbours along an axis of the stage are neighbours in memory.
  bool walks(const GroupStage& stage, const ExprP& expr, int which) const {
    const auto loads = loads_of(expr);
    return !loads.empty() && coefficient(stage, *loads[0], which) == 1;
  }
  bool row_run(const GroupStage& stage, const ExprP& expr, const std::vector<int>& axes) const {
    const Expr& load = *loads_of(expr)[0];
    const std::vector<int64_t> extents = stage.stage.extents();
    for (size_t i = 0; i + 1 < axes.size(); ++i)
      if (coefficient(stage, load, axes[i]) != coefficient(stage, load, axes[i + 1]) * extents[axes[i + 1]])
        return false;
    return true;
  }
  int64_t coefficient(const GroupStage& stage, const Expr& load, int which) const {
    const GroupTensor& tensor = result_.group.tensors[load.tensor];
    ExprP flat = index_constant(0);
    for (size_t d = 0; d < load.args.size(); ++d) flat = flat + load.args[d] * index_constant(tensor.strides[d]);
    const std::vector<int64_t> extents = stage.stage.extents();
    const Affine form = affine(simplify(flat, extents), static_cast<int>(extents.size()));
    return form.ok ? form.coefficients[which] : -1;
  }

  // Scales of an operand's rows; the stage's own axes are rows, then K.
  int scales(const GroupStage& of, const Layout& layout, const ExprP& expr, const std::string& name) {
    const int largest =
        stage(of, name + "_largest", {DType::f32, layout.row_shape}, layout.k_shape, Combine::max, magnitude(expr));
    return stage(of, name + "_scale", {DType::f32, layout.row_shape}, {}, Combine::none,
                 scale_of(load(largest, DType::f32, axes_to(static_cast<int>(layout.rows.size())))));
  }

  // The packed tensor's dimensions, each an entry of rows followed by K: in this order, or K before rows.
  static std::vector<size_t> dimensions(const Layout& layout) {
    std::vector<size_t> order(layout.rows.size() + layout.k.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (layout.rows_last)
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(layout.rows.size()), order.end());
    return order;
  }

  // f32 of a packed tensor, where the stage needs it.
  ExprP packed(const Layout& layout, int tensor) const {
    std::vector<int> axes = layout.rows;
    axes.insert(axes.end(), layout.k.begin(), layout.k.end());
    std::vector<ExprP> indices;
    for (size_t i : dimensions(layout)) indices.push_back(axis(axes[i]));
    return cast(DType::f32, load(tensor, DType::f16, indices));
  }

  // The packed tensor's stage.
  int fill(const GroupStage& of, const Layout& layout, const std::string& name, const ExprP& body) {
    Shape all = layout.row_shape, shape;
    all.insert(all.end(), layout.k_shape.begin(), layout.k_shape.end());
    std::vector<ExprP> axes(all.size());
    for (size_t i : dimensions(layout)) {
      axes[i] = axis(static_cast<int>(shape.size()));
      shape.push_back(all[i]);
    }
    return stage(of, name, {DType::f16, shape}, {}, Combine::none, cast(DType::f16, substitute_axes(body, axes)));
  }

  void note_scale(const Layout& layout, int tensor) {
    std::vector<ExprP> indices;
    for (int a : layout.rows) indices.push_back(axis(a));
    scales_.push_back(load(tensor, DType::f32, indices));
  }

  // An operand rounded to f16, scaled by rows.
  ExprP plain(const GroupStage& of, bool left) {
    const std::string name = left ? "left" : "right";
    const ExprP& whole = left ? of.contraction->left : of.contraction->right;
    if (is_half(whole)) return whole;
    const Layout l = layout(of, left);
    const ExprP expr = substitute_axes(whole, l.of_stage);
    if (product(l.row_shape) * product(l.k_shape) >= kOnePass) return plain_in_one_pass(of, l, expr, name);
    const int scale = scales(of, l, expr, name);
    const ExprP scaled = expr * load(scale, DType::f32, axes_to(static_cast<int>(l.rows.size())));
    note_scale(l, scale);
    return packed(l, fill(of, l, name + "_half", scaled));
  }

  // The same with one scale for the whole operand.
  ExprP plain_in_one_pass(const GroupStage& of, const Layout& l, const ExprP& expr, const std::string& name) {
    std::vector<GroupStage> before = std::move(result_.group.stages);
    result_.group.stages.clear();
    Shape all = l.row_shape;
    all.insert(all.end(), l.k_shape.begin(), l.k_shape.end());
    const int largest = stage(of, name + "_largest", {DType::f32, {}}, all, Combine::max, magnitude(expr));
    const int scale =
        stage(of, name + "_scale", {DType::f32, {}}, {}, Combine::none, scale_of(load(largest, DType::f32, {})));
    const int half = fill(of, l, name + "_half", expr * load(scale, DType::f32, {}));
    Group copied = copy_in_one_pass(result_.group, {{largest, scale, half}});
    before.insert(before.end(), copied.stages.begin(), copied.stages.end());
    result_.group.tensors = std::move(copied.tensors);
    result_.group.stages = std::move(before);
    scales_.push_back(load(scale, DType::f32, {}));
    return packed(l, half);
  }

  // An operand as the sum of two f16 numbers: the high part, with the low one right behind it in memory. What is not
  // finite is in the low part, which meets the other operand's high part only, once; its sign is in the high part.
  ExprP split(const GroupStage& of, bool left) {
    const std::string name = left ? "left" : "right";
    const Layout l = layout(of, left);
    const ExprP expr = substitute_axes(left ? of.contraction->left : of.contraction->right, l.of_stage);
    const int scale = scales(of, l, expr, name);
    const ExprP scaled = expr * load(scale, DType::f32, axes_to(static_cast<int>(l.rows.size())));
    const ExprP sign = select(call(Fn::lt, {scaled, number(0)}), number(-1), number(1));
    const ExprP high = cast(DType::f32, cast(DType::f16, scaled));
    note_scale(l, scale);
    const int hi = fill(of, l, name + "_high", select(finite(scaled), scaled, sign));
    const int lo = fill(of, l, name + "_low", select(finite(scaled), scaled - high, scaled));
    for (int part : {hi, lo}) result_.group.tensors[part].kept = true;
    result_.group.tensors[lo].behind = hi;
    return packed(l, hi);
  }

  // The contraction on packed operands, then its scales undone.
  void multiply(const GroupStage& of, const ExprP& left, const ExprP& right, bool halves = false) {
    GroupStage product = of;
    product.stage.type.dtype = DType::f32;
    product.stage.body = left * right;
    product.contraction = classify_contraction(product.stage);
    if (!product.contraction) throw Unsupported{"a packed contraction"};
    product.dest = scratch("product", DType::f32, of.stage.type.shape);
    const int index = static_cast<int>(result_.group.stages.size());
    Products& products = result_.products[index];
    products.left = left, products.right = right;
    products.halves = halves, products.promote = promotion(of);
    push(product);
    GroupStage undone = of;
    undone.stage.reduce.clear();
    undone.stage.combine = Combine::none;
    undone.contraction.reset();
    ExprP value = load(product.dest, DType::f32, axes_to(of.stage.rank()));
    for (const ExprP& scale : scales_) value = value * (number(1) / scale);  // exact: powers of two
    undone.stage.body = cast(of.stage.type.dtype, value);
    push(undone);
    scales_.clear();
  }

  // Few channels fill few lanes of K. A window's last axis and the channels become one axis of it, which walks a run of
  // memory in a channels-last copy (im2win: Lu, Ge and Li, 2022). The stage, and that axis or -1.
  std::pair<GroupStage, int> join_channels(const GroupStage& whole) const {
    const std::vector<int64_t> extents = whole.stage.extents();
    for (const ExprP& side : {whole.contraction->left, whole.contraction->right}) {
      const ExprP e = side->kind == Expr::Kind::cast ? side->args[0] : side;
      const int dims = e->kind == Expr::Kind::load ? static_cast<int>(e->args.size()) : 0;
      for (int c = 0; c < dims; ++c) {
        const int last = c == dims - 1 ? dims - 2 : dims - 1;
        const ExprP& channel = e->args[c];
        if (last < 0 || channel->kind != Expr::Kind::axis || channel->axis < whole.stage.rank()) continue;
        if (extents[channel->axis] != result_.group.tensors[e->tensor].type.shape[c]) continue;
        const Affine form = affine(e->args[last], static_cast<int>(extents.size()));
        if (!form.ok || extents[channel->axis] >= kFewChannels) continue;
        const auto spatial = form.coefficients.begin() + whole.stage.rank();
        if (std::all_of(form.coefficients.begin(), spatial, [](int64_t by) { return by == 0; })) continue;
        for (int a : whole.contraction->k)
          if (a != channel->axis && form.coefficients[a] == 1 && extents[a] > 1)
            return joined(whole, side == whole.contraction->left, a, channel->axis);
      }
    }
    return {whole, -1};
  }

  static std::pair<GroupStage, int> joined(const GroupStage& whole, bool left, int tap, int channel) {
    const std::vector<int64_t> extents = whole.stage.extents();
    const int64_t channels = extents[channel], padded = channels <= 4 ? 4 : (channels + 7) / 8 * 8;
    GroupStage made = whole;
    made.stage.reduce.clear();
    std::vector<ExprP> to;
    int next = 0;
    for (int a = 0; a < static_cast<int>(extents.size()); ++a) {
      const bool kept = a != tap && a != channel;
      to.push_back(kept ? axis(next++) : nullptr);
      if (kept && a >= whole.stage.rank()) made.stage.reduce.push_back(extents[a]);
    }
    made.stage.reduce.push_back(extents[tap] * padded);
    to[tap] = axis(next) / index_constant(padded);
    to[channel] = axis(next) % index_constant(padded);
    const ExprP real = call(Fn::lt, {to[channel], index_constant(channels)});
    const auto other = [&](const ExprP& e) {  // has nothing where the copy's channels are padding
      return transform(substitute_axes(e, to), [&](const ExprP& one) -> ExprP {
        if (one->kind != Expr::Kind::load || padded == channels) return one;
        return load(one->tensor, one->dtype, one->args, one->guard ? call(Fn::logical_and, {real, one->guard}) : real,
                    one->other ? one->other : constant(one->dtype, 0));
      });
    };
    const Contraction& c = *whole.contraction;
    const ExprP a = left ? substitute_axes(c.left, to) : other(c.left);
    const ExprP b = left ? other(c.right) : substitute_axes(c.right, to);
    made.stage.body = a * b;
    made.contraction = classify_contraction(made.stage);
    if (!made.contraction) return {whole, -1};
    return {made, next};
  }

  // A load whose index slides (an axis of M and one of K in one index): the tensor itself is copied, its channels last
  // and with zeros around it where windows reach over its edges. Null: not such an operand.
  ExprP window(const GroupStage& of, bool left, int run) {
    const ExprP& whole = left ? of.contraction->left : of.contraction->right;
    const ExprP e = whole->kind == Expr::Kind::cast ? whole->args[0] : whole;
    if (e->kind != Expr::Kind::load || !is_float(e->dtype) || e->dtype == DType::f64) return nullptr;
    const GroupTensor source = result_.group.tensors[e->tensor];
    const std::vector<int64_t> extents = of.stage.extents();
    const int count = static_cast<int>(extents.size());
    const auto in = [](const std::vector<int>& list, int a) {
      return std::find(list.begin(), list.end(), a) != list.end();
    };
    const std::vector<int>& k = of.contraction->k;
    bool slides = false;
    int channel = -1;
    std::vector<int64_t> low, high;
    for (size_t d = 0; d < e->args.size(); ++d) {
      const auto bounds = bounds_of(e->args[d], extents);
      if (!bounds) return nullptr;
      const int64_t least = bounds->least, most = bounds->most;
      bool spatial = false, reduced = false;
      for (int a = 0; a < count; ++a)
        if (extents[a] > 1 && !in(of.contraction->batch, a) && uses_axis(e->args[d], a))
          (in(k, a) ? reduced : spatial) = true;
      slides |= spatial && reduced;
      if (reduced && !spatial && (channel < 0 || source.type.shape[d] > source.type.shape[channel]))
        channel = static_cast<int>(d);
      low.push_back(std::min<int64_t>(least, 0));
      high.push_back(most);
    }
    if (!slides || channel < 0) return nullptr;
    if (e->guard && !(is_constant(e->other) && e->other->number == 0)) return nullptr;
    return slide(of, e, source, channel, low, high, run);
  }

  ExprP slide(const GroupStage& of, const ExprP& e, const GroupTensor& source, int channel,
              const std::vector<int64_t>& low, const std::vector<int64_t>& high, int run) {
    const int dims = source.type.rank();
    const bool half = e->dtype != DType::f32;
    std::vector<int> order;
    for (int d = 0; d < dims; ++d)
      if (d != channel) order.push_back(d);
    order.push_back(channel);
    Shape shape;
    for (int d : order) shape.push_back(std::max(high[d] + 1, source.type.shape[d]) - low[d]);
    std::vector<ExprP> from(dims), to;
    ExprP guard;
    for (int i = 0; i < dims; ++i) {
      const int d = order[i];
      from[d] = axis(i) + index_constant(low[d]);
      to.push_back(e->args[d] - index_constant(low[d]));
      for (const ExprP& one : {call(Fn::ge, {from[d], index_constant(0)}),
                               call(Fn::lt, {from[d], index_constant(source.type.shape[d])})}) {
        const ExprP known = simplify(one, shape);
        if (!is_constant(known)) guard = guard ? call(Fn::logical_and, {guard, known}) : known;
      }
    }
    if (run >= 0) {  // the copy's last two dimensions are walked as one: the channel's index goes on in the next column
      std::vector<ExprP> start = axes_to(static_cast<int>(of.stage.extents().size()));
      start[run] = index_constant(0);
      to[dims - 2] = simplify(substitute_axes(to[dims - 2], start), of.stage.extents());
      to[dims - 1] = axis(run);
    }
    int scale = -1;
    int most = -1;
    if (!half) {
      const int largest = stage(of, source.name + "_largest", {DType::f32, {}}, source.type.shape, Combine::max,
                                magnitude(load(e->tensor, DType::f32, axes_to(dims))));
      scale = stage(of, source.name + "_scale", {DType::f32, {}}, {}, Combine::none,
                    scale_of(load(largest, DType::f32, {})));
      scales_.push_back(load(scale, DType::f32, {}));
      most = largest;
    }
    ExprP element = load(e->tensor, e->dtype, from, guard, guard ? constant(e->dtype, 0) : nullptr);
    if (!half) element = cast(DType::f16, element * load(scale, DType::f32, {}));
    const DType kept = half ? e->dtype : DType::f16;
    const int laid = stage(of, source.name + "_channels_last", {kept, shape}, {}, Combine::none, element);
    if (!half) result_.copies.push_back({most, scale, laid});
    if (!e->guard || only_inside(*e, source, of.stage.extents())) return cast(DType::f32, load(laid, kept, to));
    return cast(DType::f32, load(laid, kept, to, e->guard, constant(kept, 0)));
  }

  // Whether a guard says no more than that every index is inside the tensor.
  static bool only_inside(const Expr& e, const GroupTensor& source, const std::vector<int64_t>& extents) {
    std::set<std::string> known;
    for (size_t d = 0; d < e.args.size(); ++d)
      for (const ExprP& one : {call(Fn::ge, {e.args[d], index_constant(0)}),
                               call(Fn::lt, {e.args[d], index_constant(source.type.shape[d])})})
        known.insert(to_string(simplify(one, extents)));
    std::vector<ExprP> open = {e.guard};
    while (!open.empty()) {
      const ExprP one = open.back();
      open.pop_back();
      if (one->kind == Expr::Kind::call && one->fn == Fn::logical_and) {
        open.insert(open.end(), one->args.begin(), one->args.end());
      } else if (!known.count(to_string(simplify(one, extents)))) {
        return false;
      }
    }
    return true;
  }

  std::string precision_;
  Prepared result_;
  std::set<std::string> names_;
  std::vector<ExprP> scales_;
};

}  // namespace

Prepared pack_windows(const Group& group, const std::string& precision) {
  return Packer(group, precision).windows(group);
}
Prepared pack_operands(const Group& group, const std::string& precision) {
  return Packer(group, precision).operands(group);
}

}  // namespace mtmc::triton
