#include <algorithm>

#include "targets/triton/pack.h"
#include "targets/triton/packer.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kFewChannels = 32;  // that do not fill the lanes of K
constexpr int64_t kBlock = 64;        // lanes of K: other multiples of channels leave some of the last block idle

class Windows : Packer {
 public:
  Windows(const Group& group, const std::string& precision, bool im2win, const Hardware& hardware)
      : Packer(group, precision, hardware), im2win_(im2win) {}

  // Whether some contraction of these stages would be another one with `im2win`.
  bool may_join(const Group& group) const {
    return std::any_of(group.stages.begin(), group.stages.end(), [&](const GroupStage& stage) {
      if (!stage.contraction) return false;
      const Joined joined = join_channels(stage, true);
      return joined.run >= 0 && join_channels(stage, false).run < 0;
    });
  }

  Prepared run(const Group& group) {
    for (const GroupStage& stage : group.stages) {
      if (!stage.contraction || (way(stage) == "ieee" && !of_half(stage))) {
        push(stage);
        continue;
      }
      Joined joined = join_channels(stage, im2win_);
      std::vector<ExprP> sides = sides_of(joined);
      // Without a copy of that side the joined axis would read beside its source.
      if (joined.run >= 0 && !sides[joined.left ? 0 : 1]) sides = sides_of(joined = {stage});
      if (!sides[0] && !sides[1]) {
        push(stage);
        continue;
      }
      // The other side is packed by `operands`, when axes are merged: its maxima and its copy then walk the same ones.
      const Contraction& c = *joined.stage.contraction;
      multiply(joined.stage, sides[0] ? sides[0] : c.left, sides[1] ? sides[1] : c.right);
    }
    for (size_t s = 0; s + 1 < result_.group.stages.size(); ++s)
      follow(result_.group.stages[s], result_.group.stages[s + 1]);
    return std::move(result_);
  }

 private:
  // A contraction, and the axis of it that walks columns and channels (dimension `channel`) of the left or right side;
  // -1: none does.
  struct Joined {
    GroupStage stage;
    int run = -1, channel = -1;
    bool left = true;
  };

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
    const auto to = axes_over(read->args, rank);
    if (!to) return;
    GroupStage moved = stage;
    moved.stage.type.shape = from.stage.type.shape;
    moved.stage.body = simplify(substitute_axes(stage.stage.body, *to), moved.stage.extents());
    for (int a = 0; a < rank; ++a) {
      const ExprP inside =
          simplify(call(Fn::lt, {(*to)[a], index_constant(stage.stage.type.shape[a])}), moved.stage.extents());
      if (!is_constant(inside)) moved.placed = moved.placed ? call(Fn::logical_and, {moved.placed, inside}) : inside;
      moved.place.push_back((*to)[a]);
    }
    stage = std::move(moved);
  }

  // Each of a stage's axes over the dimensions that it reads: one of them, or p + s * q where one is its remainder by s
  // and another its quotient. Nothing where it reads otherwise, or an axis is not told by what it reads.
  static std::optional<std::vector<ExprP>> axes_over(const std::vector<ExprP>& read, int rank) {
    std::vector<ExprP> to(rank), remainders(rank), quotients(rank);
    std::vector<int64_t> steps(rank, 0);
    const auto parts = [&](const ExprP& e, Fn fn) {
      return e->kind == Expr::Kind::call && e->fn == fn && e->args[0]->kind == Expr::Kind::axis &&
             is_constant(e->args[1]);
    };
    for (size_t d = 0; d < read.size(); ++d) {
      const ExprP& e = read[d];
      const ExprP here = axis(static_cast<int>(d));
      if (e->kind == Expr::Kind::axis && !to[e->axis]) {
        to[e->axis] = here;
      } else if (parts(e, Fn::mod) || parts(e, Fn::div)) {
        const int a = e->args[0]->axis;
        const int64_t step = e->args[1]->integer;
        if (steps[a] != 0 && steps[a] != step) return std::nullopt;
        steps[a] = step;
        ExprP& part = e->fn == Fn::mod ? remainders[a] : quotients[a];
        if (part) return std::nullopt;
        part = e->fn == Fn::mod ? here : here * index_constant(step);
      } else if (!is_index_constant(e, 0)) {
        return std::nullopt;
      }
    }
    for (int a = 0; a < rank; ++a) {
      const bool in_parts = remainders[a] && quotients[a];  // one of them alone says only half of where a is
      if (bool(to[a]) == in_parts || (!in_parts && (remainders[a] || quotients[a]))) return std::nullopt;
      if (in_parts) to[a] = remainders[a] + quotients[a];
    }
    return to;
  }

  std::vector<ExprP> sides_of(const Joined& joined) {
    std::vector<ExprP> sides;
    for (bool left : {true, false})
      sides.push_back(left == joined.left ? window(joined.stage, left, joined.run, joined.channel)
                                          : window(joined.stage, left, -1, -1));
    return sides;
  }

  // Few channels fill few lanes of K. A window's last axis and the channels become one axis of it, which walks a run of
  // memory in a channels-last copy (im2win: Lu, Ge and Li, 2022). `im2win`: other numbers of channels that do not fill
  // blocks of K, too.
  Joined join_channels(const GroupStage& whole, bool im2win) const {
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
        const int64_t channels = extents[channel->axis];
        if (!form.ok || (im2win ? channels % kBlock == 0 : channels >= kFewChannels)) continue;
        const auto spatial = form.coefficients.begin() + whole.stage.rank();
        if (std::all_of(form.coefficients.begin(), spatial, [](int64_t by) { return by == 0; })) continue;
        for (int a : whole.contraction->k)
          if (a != channel->axis && form.coefficients[a] == 1 && extents[a] > 1)
            return joined(whole, side == whole.contraction->left, a, channel->axis, c);
      }
    }
    return {whole};
  }

  static Joined joined(const GroupStage& whole, bool left, int tap, int channel, int dimension) {
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
      return transform_loads(substitute_axes(e, to), [&](const ExprP& one) -> ExprP {
        if (padded == channels) return one;
        return load(one->tensor, one->dtype, one->args, one->guard ? call(Fn::logical_and, {real, one->guard}) : real,
                    one->other ? one->other : constant(one->dtype, 0));
      });
    };
    const Contraction& c = *whole.contraction;
    const ExprP a = left ? substitute_axes(c.left, to) : other(c.left);
    const ExprP b = left ? other(c.right) : substitute_axes(c.right, to);
    made.stage.body = a * b;
    made.contraction = classify_contraction(made.stage);
    if (!made.contraction) return {whole};
    return {made, next, dimension, left};
  }

  // A load whose index slides (an axis of M and one of K in one index): the tensor itself is copied, its channels last
  // and with zeros around it where windows reach over its edges. Null: not such an operand.
  ExprP window(const GroupStage& of, bool left, int run, int joined_channel) {
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
    if (run >= 0) channel = joined_channel;
    if (!slides || channel < 0) return nullptr;
    if (e->guard && !(is_constant(e->other) && e->other->number == 0)) return nullptr;
    return slide(of, left, e, source, channel, low, high, run);
  }

  ExprP slide(const GroupStage& of, bool left, const ExprP& e, const GroupTensor& source, int channel,
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
    const int next = static_cast<int>(result_.group.tensors.size());
    if (!half) {
      const int largest = stage(of, source.name + "_largest", {DType::f32, {}}, source.type.shape, Combine::max,
                                magnitude(load(e->tensor, DType::f32, axes_to(dims))));
      scale = stage(of, source.name + "_scale", {DType::f32, {}}, {}, Combine::none,
                    scale_of(load(largest, DType::f32, {})));
      scales_.push_back(load(scale, DType::f32, {}));
      most = largest;
    }
    ExprP element = load(e->tensor, e->dtype, from, guard, guard ? constant(e->dtype, 0) : nullptr);
    if (!half) element = element * load(scale, DType::f32, {});
    const DType kept = half ? e->dtype : DType::f16;
    const auto fill = [&](const char* suffix, const ExprP& body) {
      return stage(of, source.name + suffix, {kept, shape}, {}, Combine::none, cast(kept, body));
    };
    int laid = -1;
    if (!half && way(of) == "two_part") {
      const Parts parts = parts_of(element);
      laid = fill("_high", parts.high);
      put_behind(laid, fill("_low", parts.low));
    } else {
      laid = fill("_channels_last", element);
      if (!half && most >= next && laid >= next) result_.copies.push_back({most, scale, laid});
    }
    if (!e->guard || only_inside(of, left, source)) return cast(DType::f32, load(laid, kept, to));
    return cast(DType::f32, load(laid, kept, to, e->guard, constant(kept, 0)));
  }

  // Whether an operand's guard says no more than that every index is inside the tensor, and what the other's says.
  static bool only_inside(const GroupStage& of, bool left, const GroupTensor& source) {
    const std::vector<int64_t> extents = of.stage.extents();
    const ExprP& whole = left ? of.contraction->left : of.contraction->right;
    const ExprP& other = left ? of.contraction->right : of.contraction->left;
    const ExprP e = whole->kind == Expr::Kind::cast ? whole->args[0] : whole;
    std::set<std::string> known;
    for (size_t d = 0; d < e->args.size(); ++d)
      for (const ExprP& one : {call(Fn::ge, {e->args[d], index_constant(0)}),
                               call(Fn::lt, {e->args[d], index_constant(source.type.shape[d])})})
        known.insert(to_string(simplify(one, extents)));
    for (const ExprP& one : guards_of(other)) known.insert(to_string(simplify(one, extents)));
    const std::vector<ExprP> own = guards_of(whole);
    return std::all_of(own.begin(), own.end(),
                       [&](const ExprP& one) { return known.count(to_string(simplify(one, extents))) > 0; });
  }

  bool im2win_;
};

}  // namespace

Prepared pack_windows(const Group& group, const std::string& precision, bool im2win, const Hardware& hardware) {
  return Windows(group, precision, im2win, hardware).run(group);
}

bool may_join_windows(const Group& group, const Hardware& hardware) {
  return Windows(group, "half", true, hardware).may_join(group);
}

}  // namespace mtmc::triton
