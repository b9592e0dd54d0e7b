// Tensors from nothing: constants and functions of the index.
#include <cmath>

#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// The type a Python number has as a tensor.
DType natural(const Attrs& attrs, std::string_view key) {
  const auto found = attrs.find(key);
  if (found == attrs.end() || std::holds_alternative<double>(found->second)) return DType::f32;
  return std::holds_alternative<bool>(found->second) ? DType::b1 : DType::i64;
}

Types infer_full(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 0, 0));
  const DType dtype = call.attrs.has("dtype") ? call.attrs.dtype("dtype") : natural(call.attrs, "value");
  return std::vector<TensorType>{{dtype, call.attrs.list("shape")}};
}
Types infer_full_like(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  return std::vector<TensorType>{{call.attrs.has("dtype") ? call.attrs.dtype("dtype") : x.dtype,
                                  call.attrs.has("shape") ? call.attrs.list("shape") : x.shape}};
}
Definition define_full(const OpCall& call) {
  const TensorType out = find_op(call.op)->infer(call).value()[0];
  const double value = call.attrs.number("value");
  return single(call, "full", number(out.dtype, out.dtype == DType::b1 ? value != 0 : value));
}

Types infer_arange(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 0, 0));
  DType dtype = DType::i64;
  for (const char* key : {"start", "end", "step"})
    if (call.attrs.has(key) && natural(call.attrs, key) == DType::f32) dtype = DType::f32;
  if (call.attrs.has("dtype")) dtype = call.attrs.dtype("dtype");
  const double step = call.attrs.number("step", 1.0);
  const double count = std::ceil((call.attrs.number("end") - call.attrs.number("start", 0.0)) / step);
  if (step == 0 || !(count >= 0)) return refusal(call, "the step leads away from the end", std::to_string(step));
  return std::vector<TensorType>{{dtype, {static_cast<int64_t>(count)}}};
}
Definition define_arange(const OpCall& call) {
  const DType dtype = infer_arange(call).value()[0].dtype;
  const DType inner = compute_type(dtype);
  const double start = call.attrs.number("start", 0.0), step = call.attrs.number("step", 1.0);
  return single(call, "arange", cast(dtype, number(inner, start) + cast(inner, axis(0)) * number(inner, step)));
}

Types infer_eye(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 0, 0));
  const int64_t rows = call.attrs.integer("n"), columns = call.attrs.integer("m", rows);
  return std::vector<TensorType>{{call.attrs.has("dtype") ? call.attrs.dtype("dtype") : DType::f32, {rows, columns}}};
}
Definition define_eye(const OpCall& call) {
  return single(call, "eye", cast(infer_eye(call).value()[0].dtype, fn(Fn::eq, axis(0), axis(1))));
}

Types infer_linspace(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 0, 0));
  const DType dtype = call.attrs.has("dtype") ? call.attrs.dtype("dtype") : DType::f32;
  if (!is_float(dtype)) return refusal(call, "needs floating point numbers", std::string(name(dtype)), "f32");
  return std::vector<TensorType>{{dtype, {call.attrs.integer("steps")}}};
}
// From the nearer end, as torch does.
Definition define_linspace(const OpCall& call) {
  const TensorType out = infer_linspace(call).value()[0];
  const DType inner = compute_type(out.dtype);
  const int64_t count = out.shape[0];
  const double start = call.attrs.number("start"), end = call.attrs.number("end");
  const double step = count > 1 ? (end - start) / static_cast<double>(count - 1) : 0;
  const ExprP rest = index_constant(count - 1) - axis(0);
  const ExprP up = number(inner, start) + cast(inner, axis(0)) * number(inner, step);
  const ExprP down = number(inner, end) - cast(inner, rest) * number(inner, step);
  const ExprP first_half = fn(Fn::lt, axis(0), index_constant(count > 1 ? count / 2 : 1));
  return single(call, "linspace", cast(out.dtype, select(first_half, up, down)));
}

void no_shape(AtenCall& call) { call.args["size"] = std::vector<int64_t>{}; }
// zeros and ones are f32 whatever their fill is.
void zeros(AtenCall& call) { call.args["value"] = 0.0; }
void ones(AtenCall& call) { call.args["value"] = 1.0; }
void scalar(AtenCall& call) {
  no_shape(call);
  if (!call.has("dtype")) call.args["dtype"] = DType::f32;
}

}  // namespace

extern const OpFile create_def = {
    {.name = "full",
     .doc = "A tensor of one number.",
     .infer = infer_full,
     .define = define_full,
     .spelling = "torch.full({shape}, {value}, dtype={dtype|None})",
     .aten = {{"aten.full.default", "", "size>shape fill_value>value dtype"},
              {"aten.zeros.default", "", "size>shape value dtype", "", zeros},
              {"aten.ones.default", "", "size>shape value dtype", "", ones},
              {"aten.scalar_tensor.default", "", "size>shape s>value dtype", "", scalar}}},
    {.name = "full_like",
     .doc = "A tensor of one number, of another's type and, unless given, shape.",
     .infer = infer_full_like,
     .define = define_full,
     .aten = {{"aten.full_like.default", "self", "fill_value>value dtype"},
              {"aten.zeros_like.default", "self", "value dtype", "", zeros},
              {"aten.ones_like.default", "self", "value dtype", "", ones},
              {"aten.fill.Scalar", "self", "value"},
              {"aten.new_full.default", "self", "size>shape fill_value>value dtype"},
              {"aten.new_zeros.default", "self", "size>shape value dtype", "", zeros},
              {"aten.new_ones.default", "self", "size>shape value dtype", "", ones}},
     .spell = [](const OpCall& call, std::span<const std::string> args) -> std::string {
       OpDef def;
       def.spelling = call.attrs.has("shape") ? "{0}.new_full({shape}, {value}, dtype={dtype|None})"
                                              : "torch.full_like({0}, {value}, dtype={dtype|None})";
       return def.torch(call, args);
     }},
    {.name = "arange",
     .doc = "Numbers from start in steps, up to but without the end.",
     .infer = infer_arange,
     .define = define_arange,
     .spelling = "torch.arange({start|0}, {end}, {step|1}, dtype={dtype|None})",
     .aten = {{"aten.arange.default", "", "end dtype"},
              {"aten.arange.start", "", "start end dtype"},
              {"aten.arange.start_step", "", "start end step dtype"}}},
    {.name = "eye",
     .doc = "Ones on the diagonal, zeros elsewhere.",
     .infer = infer_eye,
     .define = define_eye,
     .aten = {{"aten.eye.default", "", "n dtype"}, {"aten.eye.m", "", "n m dtype"}},
     .spell = [](const OpCall& call, std::span<const std::string> args) -> std::string {
       OpDef def;
       def.spelling =
           call.attrs.has("m") ? "torch.eye({n}, {m}, dtype={dtype|None})" : "torch.eye({n}, dtype={dtype|None})";
       return def.torch(call, args);
     }},
    {.name = "linspace",
     .doc = "Numbers at equal distances from the start to the end.",
     .infer = infer_linspace,
     .define = define_linspace,
     .spelling = "torch.linspace({start}, {end}, {steps}, dtype={dtype|None})",
     .aten = {{"aten.linspace.default", "", "start end steps dtype"}}},
};

}  // namespace mtmc
