// Images in other sizes: each element a weighted sum of its neighbours at a position between them.
#include <cmath>

#include "base/text.h"
#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// One axis after batch and channels: its extents, and how far one step of the output goes in the input.
struct Scaling {
  int64_t in = 0, out = 0;
  double step = 1;
};

Result<std::vector<Scaling>> scalings(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  if (!is_float(x.dtype)) return refusal(call, "needs floating point numbers", to_string(x), "f32");
  const bool sized = call.attrs.has("size");
  // Factors travel as text: attributes hold no lists of floats.
  std::vector<double> factors;
  if (!sized)
    for (const char* key : {"factor0", "factor1", "factor2"})
      if (call.attrs.has(key)) factors.push_back(call.attrs.number(key));
  const std::vector<int64_t> size = sized ? call.attrs.list("size") : std::vector<int64_t>(factors.size());
  if (x.rank() < 3 || static_cast<int>(size.size()) != x.rank() - 2)
    return refusal(call, "wrong number of axes", std::to_string(size.size()), std::to_string(x.rank() - 2));
  std::vector<Scaling> all;
  for (size_t i = 0; i < size.size(); ++i) {
    Scaling one;
    one.in = x.shape[2 + i];
    one.out = sized ? size[i] : static_cast<int64_t>(std::floor(static_cast<double>(one.in) * factors[i]));
    if (one.in < 1 || one.out < 1) return refusal(call, "an empty image", std::to_string(one.out), "at least 1");
    if (call.attrs.flag("align_corners")) {
      one.step = one.out > 1 ? static_cast<double>(one.in - 1) / static_cast<double>(one.out - 1) : 0;
    } else {
      one.step = sized ? static_cast<double>(one.in) / static_cast<double>(one.out) : 1 / factors[i];
    }
    all.push_back(one);
  }
  return all;
}
Types infer(const OpCall& call) {
  MTMC_TRY(const auto all, scalings(call));
  TensorType out = call.type(0);
  for (size_t i = 0; i < all.size(); ++i) out.shape[2 + i] = all[i].out;
  return std::vector<TensorType>{out};
}

// Where output `at` lies in the input.
ExprP position(const OpCall& call, const Scaling& one, DType inner, const ExprP& at) {
  const ExprP place = cast(inner, at), step = number(inner, one.step), half = number(inner, 0.5);
  return call.attrs.flag("align_corners") ? place * step : step * (place + half) - half;
}
ExprP clamped(const ExprP& index, int64_t extent) {
  return fn(Fn::max, fn(Fn::min, index, index_constant(extent - 1)), index_constant(0));
}

struct Tap {
  ExprP index, weight;
};

std::vector<Tap> linear_taps(const OpCall& call, const Scaling& one, DType inner, const ExprP& at) {
  const ExprP place = fn(Fn::max, position(call, one, inner, at), number(inner, 0));
  const ExprP first = clamped(cast(DType::i64, place), one.in);
  const ExprP second = fn(Fn::min, first + index_constant(1), index_constant(one.in - 1));
  const ExprP share = fn(Fn::min, place - cast(inner, first), number(inner, 1));
  return {{first, number(inner, 1) - share}, {second, share}};
}

// The cubic convolution of Keys (1981) with a = -3/4.
std::vector<Tap> cubic_taps(const OpCall& call, const Scaling& one, DType inner, const ExprP& at) {
  const ExprP place = position(call, one, inner, at), below = fn(Fn::floor, place);
  const ExprP first = cast(DType::i64, below), share = place - below, left = number(inner, 1) - share;
  const auto num = [&](double value) { return number(inner, value); };
  const double a = -0.75;
  const auto near = [&](const ExprP& x) { return ((num(a + 2) * x - num(a + 3)) * x) * x + num(1); };
  const auto far = [&](const ExprP& x) { return ((num(a) * x - num(5 * a)) * x + num(8 * a)) * x - num(4 * a); };
  const std::vector<ExprP> weights = {far(share + num(1)), near(share), near(left), far(left + num(1))};
  std::vector<Tap> taps;
  for (int i = 0; i < 4; ++i) taps.push_back({clamped(first + index_constant(i - 1), one.in), weights[i]});
  return taps;
}

Definition define(const OpCall& call) {
  const auto all = scalings(call).value();
  const TensorType out = infer(call).value()[0];
  const DType inner = compute_type(out.dtype);
  std::vector<std::vector<Tap>> taps;
  for (size_t i = 0; i < all.size(); ++i) {
    const ExprP at = axis(2 + static_cast<int>(i));
    taps.push_back(call.op == "upsample_cubic" ? cubic_taps(call, all[i], inner, at)
                                               : linear_taps(call, all[i], inner, at));
  }
  // Sums from the last axis to the first.
  const std::function<ExprP(size_t, Indices)> sum = [&](size_t level, Indices at) {
    if (level == taps.size()) return operand(call, 0, at);
    ExprP total;
    for (const Tap& tap : taps[level]) {
      Indices next = at;
      next.push_back(tap.index);
      const ExprP part = tap.weight * sum(level + 1, std::move(next));
      total = total ? total + part : part;
    }
    return total;
  };
  return single(call, std::string(call.op), cast(out.dtype, sum(0, spatial(2))));
}

// Nearest: torch finds the source as floor(i * step) in f32. The definition says the same where f32 and double agree.
int64_t nearest(const OpCall& call, const Scaling& one, int64_t at, bool single_precision) {
  const double shift = call.attrs.flag("exact") ? 0.5 : 0;
  const double place =
      single_precision
          ? static_cast<double>(static_cast<float>(static_cast<double>(at) + shift) * static_cast<float>(one.step))
          : (static_cast<double>(at) + shift) * one.step;
  return std::min(static_cast<int64_t>(std::floor(place)), one.in - 1);
}
Types infer_nearest(const OpCall& call) {
  MTMC_TRY(const auto all, scalings(call));
  for (const Scaling& one : all)
    for (int64_t i = 0; i < one.out; ++i)
      if (nearest(call, one, i, true) != nearest(call, one, i, false))
        return refusal(call, "the factor rounds", std::to_string(one.step), "a factor such as 2");
  return infer(call);
}
Definition define_nearest(const OpCall& call) {
  const auto all = scalings(call).value();
  Indices at = spatial(call.type(0).rank());
  for (size_t i = 0; i < all.size(); ++i) {
    const ExprP shift = number(DType::f64, call.attrs.flag("exact") ? 0.5 : 0);
    const ExprP place = (cast(DType::f64, at[2 + i]) + shift) * number(DType::f64, all[i].step);
    at[2 + i] = clamped(cast(DType::i64, place), all[i].in);
  }
  return single(call, "upsample_nearest", raw_operand(call, 0, at));
}

std::string spell(const OpCall& call, std::span<const std::string> args) {
  static const std::vector<std::string> kLinear = {"linear", "bilinear", "trilinear"};
  std::string size, factors, mode = "nearest";
  for (int i = 0; i < call.type(0).rank() - 2; ++i) {
    const std::string comma = i ? ", " : "", key = "factor" + std::to_string(i);
    if (call.attrs.has("size")) {
      size += comma + std::to_string(call.attrs.list("size")[i]);
    } else {
      factors += comma + format_double(call.attrs.number(key));
    }
  }
  if (call.op == "upsample_cubic") mode = "bicubic";
  if (call.op == "upsample_linear") mode = kLinear[static_cast<size_t>(call.type(0).rank() - 3)];
  if (call.attrs.flag("exact")) mode = "nearest-exact";
  std::string text = "F.interpolate(" + args[0];
  text += size.empty() ? ", scale_factor=[" + factors + "]" : ", size=[" + size + "]";
  text += ", mode='" + mode + "'";
  if (call.attrs.flag("align_corners")) text += ", align_corners=True";
  return text + ")";
}

// Scale factors become one attribute for each axis.
void factors(AtenCall& call) {
  const auto found = call.args.find("scale_factors");
  if (found == call.args.end()) return;
  std::vector<double> list;
  if (const auto* real = std::get_if<std::vector<double>>(&found->second)) list = *real;
  if (const auto* whole = std::get_if<std::vector<int64_t>>(&found->second)) list.assign(whole->begin(), whole->end());
  if (list.empty()) return;
  call.args.erase(found);
  for (size_t i = 0; i < list.size(); ++i) call.args["factor" + std::to_string(i)] = list[i];
}

constexpr std::string_view kSizes = "output_size>size align_corners factor0 factor1 factor2";

OpDef resized(std::string_view name, std::string_view doc, decltype(OpDef::infer) types,
              decltype(OpDef::define) definition, std::vector<AtenRule> rules) {
  OpDef def = op(name, doc, types, definition, {}, std::move(rules));
  def.spell = spell;
  return def;
}

}  // namespace

extern const OpFile interpolate_def = {
    resized("upsample_linear", "Images in another size, linear between neighbours along each axis.", infer, define,
            {{"aten.upsample_linear1d.vec", "input", kSizes, "", factors},
             {"aten.upsample_bilinear2d.vec", "input", kSizes, "", factors},
             {"aten.upsample_trilinear3d.vec", "input", kSizes, "", factors}}),
    resized("upsample_cubic", "Images in another size, cubic between four neighbours along each axis.", infer, define,
            {{"aten.upsample_bicubic2d.vec", "input", kSizes, "", factors}}),
    resized("upsample_nearest_any", "Images in another size, each element that of the nearest position before it.",
            infer_nearest, define_nearest,
            {{"aten.upsample_nearest1d.vec", "input", kSizes, "", factors},
             {"aten.upsample_nearest2d.vec", "input", kSizes, "", factors},
             {"aten.upsample_nearest3d.vec", "input", kSizes, "", factors},
             {"aten._upsample_nearest_exact1d.vec", "input", kSizes, "exact=true", factors},
             {"aten._upsample_nearest_exact2d.vec", "input", kSizes, "exact=true", factors},
             {"aten._upsample_nearest_exact3d.vec", "input", kSizes, "exact=true", factors}}),
};

}  // namespace mtmc
