// Networks that read their own state of the step before: LSTM, GRU and plain RNN, of any depth, in one or two
// directions. See torch.nn.LSTM and its like for the equations.
#include "ops/recurrence.h"

#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;
using Sum = Recurrence::Sum;

// What an operator's name says; its operands' types say the rest.
Recurrence cell_of(std::string_view op, DType inner) {
  Recurrence r;
  const auto take = [&](int which) { return load(which, inner, {}); };  // of sums, then states
  const auto sigmoid = [&](const ExprP& x) {
    return number(inner, 1) / (number(inner, 1) + fn(Fn::exp, fn(Fn::neg, x)));
  };
  if (op.starts_with("lstm")) {
    r.gates = 4;
    r.sums = {{0}, {1}, {2}, {3}};
    const ExprP c = sigmoid(take(1)) * take(5) + sigmoid(take(0)) * fn(Fn::tanh, take(2));
    r.next = {sigmoid(take(3)) * fn(Fn::tanh, c), c};
  } else if (op.starts_with("gru")) {
    r.gates = 3;
    // The reset gate is multiplied with the state's part of the candidate alone.
    r.sums = {{0}, {1}, {2, true, false}, {2, false, true}};
    const ExprP reset = sigmoid(take(0)), keep = sigmoid(take(1));
    const ExprP candidate = fn(Fn::tanh, take(2) + reset * take(3));
    r.next = {candidate + keep * (take(4) - candidate)};
  } else {
    r.sums = {{0}};
    r.next = {op.starts_with("rnn_relu") ? fn(Fn::max, take(0), number(inner, 0)) : fn(Fn::tanh, take(0))};
  }
  return r;
}

Recurrence recurrence(const OpCall& call) {
  const TensorType& x = call.type(0);
  Recurrence r = cell_of(call.op, compute_type(x.dtype));
  r.layers = static_cast<int>(call.attrs.integer("num_layers", 1));
  r.directions = call.attrs.flag("bidirectional") ? 2 : 1;
  r.batch_first = call.attrs.flag("batch_first");
  r.biases = call.attrs.flag("has_biases", true);
  r.steps = x.shape[r.batch_first ? 1 : 0];
  r.batch = x.shape[r.batch_first ? 0 : 1];
  r.inputs = x.shape[2];
  r.hidden = call.type(1).shape[2];
  r.dtype = x.dtype;
  return r;
}

Types infer(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, call.count()));
  const TensorType& x = call.type(0);
  if (x.rank() != 3 || !is_float(x.dtype) || call.type(1).rank() != 3)
    return refusal(call, "needs a sequence and a state", to_string(x) + " and " + to_string(call.type(1)),
                   "f32[steps,batch,inputs] and f32[layers,batch,hidden]");
  const Recurrence r = recurrence(call);
  const int wanted = r.weight(r.layers, 0, 0);
  if (r.layers < 1 || call.count() != wanted)
    return refusal(call, "wrong number of operands (projections are not held)", std::to_string(call.count()),
                   std::to_string(wanted));
  const auto require = [&](int which, Shape shape) -> Status {
    const TensorType type{r.dtype, std::move(shape)};
    if (call.has(which) && call.type(which) == type) return ok_status();
    return refusal(call, "operand " + std::to_string(which) + " does not fit",
                   call.has(which) ? to_string(call.type(which)) : "none", to_string(type));
  };
  const Shape state = {r.layers * r.directions, r.batch, r.hidden};
  for (int i = 0; i < r.states(); ++i) MTMC_RETURN_IF_ERROR(require(1 + i, state));
  for (int layer = 0; layer < r.layers; ++layer)
    for (int direction = 0; direction < r.directions; ++direction) {
      MTMC_RETURN_IF_ERROR(require(r.weight(layer, direction, 0), {r.gates * r.hidden, r.inputs_of(layer)}));
      MTMC_RETURN_IF_ERROR(require(r.weight(layer, direction, 1), {r.gates * r.hidden, r.hidden}));
      for (int which = 2; which < (r.biases ? 4 : 2); ++which)
        MTMC_RETURN_IF_ERROR(require(r.weight(layer, direction, which), {r.gates * r.hidden}));
    }
  TensorType y = x;
  y.shape[2] = r.directions * r.hidden;
  std::vector<TensorType> types = {y};
  types.resize(1 + r.states(), {r.dtype, state});
  return types;
}

std::string spell(const OpCall& call, std::span<const std::string> args) {
  const Recurrence r = recurrence(call);
  const auto flag = [](bool value) { return std::string(value ? "True" : "False"); };
  std::string states = args[1];
  for (int i = 1; i < r.states(); ++i) states += ", " + args[1 + i];
  if (r.states() > 1) states = "[" + states + "]";
  std::string weights;
  for (size_t i = r.weight(0, 0, 0); i < args.size(); ++i) weights += (weights.empty() ? "" : ", ") + args[i];
  return "torch." + std::string(call.op) + "(" + args[0] + ", " + states + ", [" + weights + "], " + flag(r.biases) +
         ", " + std::to_string(r.layers) + ", 0.0, False, " + flag(r.directions == 2) + ", " + flag(r.batch_first) +
         ")";
}

// Dropout stands between layers, while training.
void without_dropout(AtenCall& call) {
  const auto* rate = call.get<double>("dropout");
  const auto* train = call.get<bool>("train");
  const auto* layers = call.get<int64_t>("num_layers");
  const bool drops = train && *train && rate && *rate > 0 && layers && *layers > 1;
  call.args.erase("train");
  if (!drops) call.args.erase("dropout");  // what stays has no rule: a library call
}

OpDef recurrent(std::string_view name, std::string_view doc, std::string_view overload) {
  OpDef def = op(name, doc, infer, nullptr, {},
                 {{overload, overload == "aten.lstm.input" ? "input *hx *params" : "input hx *params",
                   "has_biases num_layers bidirectional batch_first", "", without_dropout}});
  def.spell = spell;
  def.recurrence = recurrence;
  return def;
}

// One step as an operator of its own: operands and results are those of a recurrence's step.
Recurrence cell(const OpCall& call) {
  const TensorType& x = call.type(0);
  Recurrence r = cell_of(call.op, compute_type(x.dtype));
  r.steps = 1;
  r.batch = x.shape[0];
  r.inputs = x.shape[1];
  r.hidden = call.type(1).shape[1];
  r.biases = call.count() == 1 + r.states() + 4;
  r.dtype = x.dtype;
  return r;
}
Types infer_cell(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 7));
  if (call.type(0).rank() != 2 || call.type(1).rank() != 2 || !is_float(call.type(0).dtype))
    return refusal(call, "needs a step's input and a state", to_string(call.type(0)), "f32[batch,inputs]");
  const Recurrence r = cell(call);
  const auto wanted = step_operands(r, 0);
  if (call.count() != static_cast<int>(wanted.size()))
    return refusal(call, "wrong number of operands", std::to_string(call.count()), std::to_string(wanted.size()));
  for (int i = 0; i < call.count(); ++i)
    if (call.operands[i] != wanted[i])
      return refusal(call, "operand " + std::to_string(i) + " does not fit",
                     call.has(i) ? to_string(call.type(i)) : "none", to_string(*wanted[i]));
  return Types(std::vector<TensorType>(r.states(), {r.dtype, {r.batch, r.hidden}}));
}
Definition define_cell(const OpCall& call) { return step_definition(cell(call), 0); }
std::string spell_cell(const OpCall& call, std::span<const std::string> args) {
  std::string text = "torch." + std::string(call.op) + "(" + args[0];
  size_t next = 2;
  if (cell(call).states() == 2) {
    text += ", [" + args[1] + ", " + args[2] + "]";
    next = 3;
  } else {
    text += ", " + args[1];
  }
  for (; next < args.size(); ++next) text += ", " + args[next];
  return text + ")";
}

OpDef one_step(std::string_view name, std::string_view doc, std::string_view overload) {
  OpDef def = op(name, doc, infer_cell, define_cell, {},
                 {{overload, name == "lstm_cell" ? "input *hx w_ih w_hh b_ih b_hh" : "input hx w_ih w_hh b_ih b_hh"}});
  def.spell = spell_cell;
  return def;
}

}  // namespace

extern const OpFile recurrent_def = {
    recurrent("lstm", "Gated states over time: y, the final h and the final c.", "aten.lstm.input"),
    recurrent("gru", "A gated state over time: y and the final h.", "aten.gru.input"),
    recurrent("rnn_tanh", "h = tanh of weighted inputs and past h over time: y and the final h.",
              "aten.rnn_tanh.input"),
    recurrent("rnn_relu", "h = relu of weighted inputs and past h over time: y and the final h.",
              "aten.rnn_relu.input"),
    one_step("lstm_cell", "One step of an LSTM: the next h and c.", "aten.lstm_cell.default"),
    one_step("gru_cell", "One step of a GRU: the next h.", "aten.gru_cell.default"),
    one_step("rnn_tanh_cell", "One step of an RNN with tanh: the next h.", "aten.rnn_tanh_cell.default"),
    one_step("rnn_relu_cell", "One step of an RNN with relu: the next h.", "aten.rnn_relu_cell.default"),
};

}  // namespace mtmc
