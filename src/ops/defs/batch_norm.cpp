// Batch normalisation: with given statistics (eval), or with the batch's own, which also move the running ones (train).
#include "ops/aten.h"
#include "ops/build.h"
#include "ops/moments.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;
enum Operand { kInput, kWeight, kBias, kMean, kVar };

Types infer(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 5));
  const TensorType& x = call.type(kInput);
  if (x.rank() < 2 || !is_float(x.dtype))
    return refusal(call, "needs batch and channels", to_string(x), "f32[N,C,...]");
  for (int i = kWeight; i <= kVar; ++i)
    if (call.has(i) && call.type(i).shape != Shape{x.shape[1]})
      return refusal(call, "a parameter of another shape", to_string(call.type(i)),
                     to_string(TensorType{x.dtype, {x.shape[1]}}));
  return std::vector<TensorType>{x};
}
Types infer_eval(const OpCall& call) {
  if (!call.has(kMean) || !call.has(kVar)) return refusal(call, "needs running statistics");
  return infer(call);
}
// Output, mean, inverse deviation, and the new running mean and variance where there are old ones.
Types infer_train(const OpCall& call) {
  MTMC_TRY(auto types, infer(call));
  const TensorType x = types[0];
  if (product(x.shape) == x.shape[1])
    return refusal(call, "needs more than one value per channel", to_string(x), "a larger batch");
  types.resize(3, {call.has(kWeight) ? call.type(kWeight).dtype : x.dtype, {x.shape[1]}});
  if (call.has(kMean) != call.has(kVar)) return refusal(call, "needs both running statistics or none");
  if (call.has(kMean)) types.insert(types.end(), {call.type(kMean), call.type(kVar)});
  return types;
}

// One fused multiply-add per element: x * scale + shift, both per channel.
void normalise(Builder& b, const OpCall& call, const ExprP& mean, const ExprP& inverse) {
  const TensorType& in = call.type(kInput);
  const DType inner = compute_type(in.dtype);
  const TensorType channel{inner, {in.shape[1]}};
  const auto parameter = [&](int which) { return cast(inner, raw_operand(call, which, {axis(0)})); };
  const int scale = b.map("scale", channel, call.has(kWeight) ? inverse * parameter(kWeight) : inverse);
  const ExprP moved = mean * b.at(scale, {axis(0)});
  const int shift = b.map("shift", channel, call.has(kBias) ? parameter(kBias) - moved : fn(Fn::neg, moved));
  const ExprP x = operand(call, kInput, spatial(in.rank()));
  b.output(b.map("normalised", in, cast(in.dtype, x * b.at(scale, {axis(1)}) + b.at(shift, {axis(1)}))), in.dtype);
}

Definition define_eval(const OpCall& call) {
  const DType inner = compute_type(call.type(kInput).dtype);
  const ExprP mean = cast(inner, raw_operand(call, kMean, {axis(0)}));
  const ExprP var = cast(inner, raw_operand(call, kVar, {axis(0)}));
  Builder b;
  normalise(b, call, mean, fn(Fn::rsqrt, var + number(inner, call.attrs.number("eps", 1e-5))));
  return b.done();
}

Definition define_train(const OpCall& call) {
  const TensorType& in = call.type(kInput);
  std::vector<int> axes = {0};
  for (int i = 2; i < in.rank(); ++i) axes.push_back(i);
  const Split split = split_axes(in.shape, axes, false);
  const ExprP x = operand(call, kInput, split.input);
  const DType inner = x->dtype;
  Builder b;
  const Moments m = moments(b, split.shape, split.over, x, call.attrs.number("eps", 1e-5), call.has(kMean));
  normalise(b, call, b.at(m.mean, {axis(0)}), b.at(m.inverse, {axis(0)}));
  const DType stats = infer_train(call).value()[1].dtype;
  b.output(m.mean, stats);
  b.output(m.inverse, stats);
  if (call.has(kMean)) {
    const double momentum = call.attrs.number("momentum", 0.1);
    const double count = static_cast<double>(product(split.over));
    const auto running = [&](const char* name, int which, const ExprP& now) {
      const TensorType& type = call.type(which);
      const ExprP old = cast(inner, raw_operand(call, which, {axis(0)}));
      b.output(b.map(name, type, cast(type.dtype, old * number(inner, 1 - momentum) + now * number(inner, momentum))),
               type.dtype);
    };
    running("running_mean", kMean, b.at(m.mean, {axis(0)}) + b.at(m.rest, {axis(0)}) / number(inner, count));
    running("running_var", kVar, b.at(m.squares, {axis(0)}) / number(inner, count - 1));
  }
  return b.done();
}

// `training` false with running statistics is the eval form; each rule takes its own mode.
void training(AtenCall& call) {
  if (const bool* on = call.get<bool>("training"); on && *on) call.args.erase("training");
}
void evaluation(AtenCall& call) {
  call.args.erase("momentum");
  call.args.erase("cudnn_enabled");
  if (const bool* on = call.get<bool>("training"); on && !*on) call.args.erase("training");
}

// An instance norm by given statistics is a batch norm.
void given_statistics(AtenCall& call) {
  if (const bool* own = call.get<bool>("use_input_stats"); own && !*own)
    for (const char* name : {"use_input_stats", "momentum", "cudnn_enabled"}) call.args.erase(name);
}

}  // namespace

extern const OpFile batch_norm_def = {
    {.name = "batch_norm",
     .doc = "Channels shifted and scaled by given statistics.",
     .infer = infer_eval,
     .define = define_eval,
     .spelling = "F.batch_norm({0}, {3}, {4}, {1}, {2}, False, 0.1, {eps|1e-05})",
     .aten = {{"aten._native_batch_norm_legit_no_training.default", "input weight bias running_mean running_var", "eps",
               "", evaluation},
              {"aten._native_batch_norm_legit_functional.default", "input weight bias running_mean running_var", "eps",
               "", evaluation},
              {"aten.batch_norm.default", "input weight bias running_mean running_var", "eps", "", evaluation},
              {"aten.instance_norm.default", "input weight bias running_mean running_var", "eps", "",
               given_statistics}}},
    {.name = "batch_norm_train",
     .doc = "Channels shifted and scaled to mean 0 and variance 1 over the batch; also the statistics, and the moved "
            "running ones.",
     .infer = infer_train,
     .define = define_train,
     .aten = {{"aten._native_batch_norm_legit_functional.default", "input weight bias running_mean running_var",
               "momentum eps", "", training},
              {"aten._native_batch_norm_legit.no_stats", "input weight bias", "momentum eps", "", training}},
     .spell = [](const OpCall& call, std::span<const std::string> args) -> std::string {
       OpDef def;
       def.spelling = call.has(kMean) ? "torch.ops.aten._native_batch_norm_legit_functional({0}, {1}, {2}, {3}, {4}, "
                                        "True, {momentum|0.1}, {eps|1e-05})"
                                      : "torch.ops.aten._native_batch_norm_legit.no_stats({0}, {1}, {2}, True, "
                                        "{momentum|0.1}, {eps|1e-05})";
       return def.torch(call, args);
     },
     .in_place = {"F.batch_norm({0}, {3}, {4}, {1}, {2}, True, {momentum|0.1}, {eps|1e-05})", {{3, kMean}, {4, kVar}}}},
};

}  // namespace mtmc
