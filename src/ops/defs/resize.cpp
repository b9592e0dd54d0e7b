// Images enlarged by whole factors, and channels moved into positions.
#include <cmath>

#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// torch finds the source as floor(i * (1 / factor)) in f32; true where that is i / factor for every i.
bool exact_in_f32(int64_t in, int64_t factor) {
  const float scale = 1.0f / static_cast<float>(factor);
  for (int64_t i = 0; i < in * factor; ++i)
    if (static_cast<int64_t>(std::floor(static_cast<float>(i) * scale)) != i / factor) return false;
  return true;
}

// Whole factors of the axes after batch and channels.
Result<std::vector<int64_t>> factors_of(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  const bool sized = call.attrs.has("size");
  auto factors = call.attrs.list(sized ? "size" : "factors");
  if (static_cast<int>(factors.size()) != x.rank() - 2)
    return refusal(call, "wrong number of axes", std::to_string(factors.size()), std::to_string(x.rank() - 2));
  for (size_t i = 0; i < factors.size(); ++i) {
    const int64_t in = x.shape[2 + i];
    if (sized && factors[i] % in != 0)
      return refusal(call, "the size is no multiple", std::to_string(factors[i]),
                     "a multiple of " + std::to_string(in));
    if (sized) factors[i] /= in;
    if (factors[i] < 1 || !exact_in_f32(in, factors[i]))
      return refusal(call, "the factor rounds", std::to_string(factors[i]), "a factor such as 2");
  }
  return factors;
}
Types infer_nearest(const OpCall& call) {
  MTMC_TRY(const auto factors, factors_of(call));
  TensorType out = call.type(0);
  for (size_t i = 0; i < factors.size(); ++i) out.shape[2 + i] *= factors[i];
  return std::vector<TensorType>{out};
}
Definition define_nearest(const OpCall& call) {
  const auto factors = factors_of(call).value();
  Indices at = spatial(call.type(0).rank());
  for (size_t i = 0; i < factors.size(); ++i) at[2 + i] = at[2 + i] / index_constant(factors[i]);
  return single(call, "upsample_nearest", raw_operand(call, 0, at));
}
std::string spell_nearest(const OpCall& call, std::span<const std::string> args) {
  std::string size;
  for (const Shape out = infer_nearest(call).value()[0].shape; int64_t extent : Shape(out.begin() + 2, out.end()))
    size += (size.empty() ? "" : ", ") + std::to_string(extent);
  return "F.interpolate(" + args[0] + ", size=[" + size + "])";
}

// Scale factors arrive as floats: whole ones become integers, others stay and match no rule.
void whole_factors(AtenCall& call) {
  const auto* scales = call.get<std::vector<double>>("scale_factors");
  if (!scales) return;
  std::vector<int64_t> whole;
  for (double scale : *scales)
    if (scale == std::floor(scale)) whole.push_back(static_cast<int64_t>(scale));
  if (whole.size() == scales->size()) call.args["scale_factors"] = whole;
}

// [.., C r r, H, W] to [.., C, H r, W r], or back.
Result<int64_t> shuffle_factor(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  const int64_t r = call.attrs.integer("factor");
  const int rank = x.rank();
  const bool up = call.op == "pixel_shuffle";
  const bool fits = rank >= 3 && r >= 1 &&
                    (up ? x.shape[rank - 3] % (r * r) == 0 : x.shape[rank - 2] % r == 0 && x.shape[rank - 1] % r == 0);
  if (!fits) return refusal(call, "the factor does not divide the shape", std::to_string(r), to_string(x));
  return r;
}
Types infer_shuffle(const OpCall& call) {
  MTMC_TRY(const int64_t r, shuffle_factor(call));
  TensorType out = call.type(0);
  const int rank = out.rank();
  const bool up = call.op == "pixel_shuffle";
  int64_t &c = out.shape[rank - 3], &h = out.shape[rank - 2], &w = out.shape[rank - 1];
  c = up ? c / (r * r) : c * r * r;
  h = up ? h * r : h / r;
  w = up ? w * r : w / r;
  return std::vector<TensorType>{out};
}
Definition define_shuffle(const OpCall& call) {
  const int rank = call.type(0).rank();
  const ExprP r = index_constant(shuffle_factor(call).value());
  Indices at = spatial(rank);
  ExprP &c = at[rank - 3], &h = at[rank - 2], &w = at[rank - 1];
  if (call.op == "pixel_shuffle") {
    c = (c * r + h % r) * r + w % r;
    h = h / r;
    w = w / r;
  } else {
    h = h * r + c / r % r;
    w = w * r + c % r;
    c = c / r / r;
  }
  return single(call, std::string(call.op), raw_operand(call, 0, at));
}

}  // namespace

extern const OpFile resize_def = {
    {.name = "upsample_nearest",
     .doc = "Each element repeated by a whole factor along every axis after the channels.",
     .infer = infer_nearest,
     .define = define_nearest,
     .aten = {{"aten.upsample_nearest1d.vec", "input", "output_size>size scale_factors>factors", "", whole_factors},
              {"aten.upsample_nearest2d.vec", "input", "output_size>size scale_factors>factors", "", whole_factors},
              {"aten.upsample_nearest3d.vec", "input", "output_size>size scale_factors>factors", "", whole_factors}},
     .spell = spell_nearest},
    {.name = "pixel_shuffle",
     .doc = "Channels moved into positions: [C r r, H, W] to [C, H r, W r].",
     .infer = infer_shuffle,
     .define = define_shuffle,
     .spelling = "F.pixel_shuffle({0}, {factor})",
     .aten = {{"aten.pixel_shuffle.default", "self", "upscale_factor>factor"}}},
    {.name = "pixel_unshuffle",
     .doc = "Positions moved into channels: [C, H r, W r] to [C r r, H, W].",
     .infer = infer_shuffle,
     .define = define_shuffle,
     .spelling = "F.pixel_unshuffle({0}, {factor})",
     .aten = {{"aten.pixel_unshuffle.default", "self", "downscale_factor>factor"}}},
};

}  // namespace mtmc
