// The slow reference: a stage's body becomes a short list of instructions sorted by the innermost axis they depend on,
// so that each step of the loop nest only repeats what changed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ops/recurrence.h"

namespace mtmc {
namespace {

struct Number {
  double d = 0;
  int64_t i = 0;
};

struct Instruction {
  Expr::Kind kind = Expr::Kind::constant;
  Fn fn = Fn::add;
  DType dtype = DType::f64, from = DType::f64;  // of the result; of the (first compared) argument
  int axis = 0, guard = -1, other = -1;
  std::vector<int> args;
  Number value;                               // constant
  const std::vector<double>* data = nullptr;  // load
  std::vector<int64_t> shape;                 // load: of the tensor
  int level = 0;                              // 1 + the innermost axis it depends on
};

int64_t wrap(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::b1: return value != 0;
    case DType::u8: return static_cast<uint8_t>(value);
    case DType::i8: return static_cast<int8_t>(value);
    case DType::i16: return static_cast<int16_t>(value);
    case DType::i32: return static_cast<int32_t>(value);
    default: return value;
  }
}

int64_t to_integer(double value) {
  if (std::isnan(value)) return std::numeric_limits<int64_t>::min();
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::min();  // what x86 and so torch gives
  return value < -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

double propagate_max(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b); }
double propagate_min(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b); }

double float_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}

int64_t integer_pow(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (; exponent > 0; exponent >>= 1, factor *= factor)
    if (exponent & 1) result *= factor;
  return static_cast<int64_t>(result);
}

// Functions of floats that give floats.
double float_call(Fn fn, double a, double b) {
  switch (fn) {
    case Fn::neg: return -a;
    case Fn::abs: return std::fabs(a);
    case Fn::exp: return std::exp(a);
    case Fn::exp2: return std::exp2(a);
    case Fn::expm1: return std::expm1(a);
    case Fn::log: return std::log(a);
    case Fn::log2: return std::log2(a);
    case Fn::log1p: return std::log1p(a);
    case Fn::sqrt: return std::sqrt(a);
    case Fn::rsqrt: return 1 / std::sqrt(a);
    case Fn::tanh: return std::tanh(a);
    case Fn::sin: return std::sin(a);
    case Fn::cos: return std::cos(a);
    case Fn::tan: return std::tan(a);
    case Fn::asin: return std::asin(a);
    case Fn::acos: return std::acos(a);
    case Fn::atan: return std::atan(a);
    case Fn::sinh: return std::sinh(a);
    case Fn::cosh: return std::cosh(a);
    case Fn::erfc: return std::erfc(a);
    case Fn::erf: return std::erf(a);
    case Fn::floor: return std::floor(a);
    case Fn::ceil: return std::ceil(a);
    case Fn::round: return std::nearbyint(a);
    case Fn::trunc: return std::trunc(a);
    case Fn::add: return a + b;
    case Fn::sub: return a - b;
    case Fn::mul: return a * b;
    case Fn::div: return a / b;
    case Fn::mod: return float_mod(a, b);
    case Fn::pow: return std::pow(a, b);
    case Fn::atan2: return std::atan2(a, b);
    case Fn::min: return propagate_min(a, b);
    case Fn::max: return propagate_max(a, b);
    default: MTMC_CHECK(false, "no float function " + std::string(name(fn)));
  }
}

template <typename T>
bool compares(Fn fn, T a, T b) {
  switch (fn) {
    case Fn::lt: return a < b;
    case Fn::le: return a <= b;
    case Fn::eq: return a == b;
    case Fn::ne: return a != b;
    case Fn::gt: return a > b;
    case Fn::ge: return a >= b;
    default: MTMC_CHECK(false, "no comparison " + std::string(name(fn)));
  }
}

int64_t integer_call(Fn fn, int64_t a, int64_t b) {
  const auto wide = [](int64_t v) { return static_cast<uint64_t>(v); };  // overflow wraps
  switch (fn) {
    case Fn::neg: return static_cast<int64_t>(0 - wide(a));
    case Fn::abs: return a < 0 ? static_cast<int64_t>(0 - wide(a)) : a;
    case Fn::logical_not: return a == 0;
    case Fn::add: return static_cast<int64_t>(wide(a) + wide(b));
    case Fn::sub: return static_cast<int64_t>(wide(a) - wide(b));
    case Fn::mul: return static_cast<int64_t>(wide(a) * wide(b));
    case Fn::div:
    case Fn::mod: {
      if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return 0;
      const int64_t q = floor_div(a, b);
      return fn == Fn::div ? q : a - q * b;
    }
    case Fn::pow: return integer_pow(a, b);
    case Fn::min: return std::min(a, b);
    case Fn::max: return std::max(a, b);
    case Fn::logical_and: return a && b;
    case Fn::logical_or: return a || b;
    case Fn::bit_and: return a & b;
    case Fn::bit_or: return a | b;
    case Fn::bit_xor: return a ^ b;
    case Fn::shl: return b < 0 || b > 63 ? 0 : static_cast<int64_t>(wide(a) << b);
    case Fn::shr: return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b;
    default: return compares(fn, a, b);
  }
}

int64_t float_test(Fn fn, double a, double b) {
  switch (fn) {
    case Fn::isnan: return std::isnan(a);
    case Fn::isinf: return std::isinf(a);
    default: return compares(fn, a, b);
  }
}

// One stage's body as instructions.
class Code {
 public:
  using Tensors = std::map<TensorRef, std::pair<const std::vector<double>*, const Shape*>>;

  Code(const Stage& stage, const Tensors& tensors) : tensors_(tensors) {
    const int root = add(stage.body);
    std::vector<int> order(instructions_.size()), place(instructions_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return instructions_[a].level < instructions_[b].level; });
    std::vector<Instruction> sorted;
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
    for (int from : order) {
      Instruction one = instructions_[from];
      for (int& arg : one.args) arg = place[arg];
      if (one.guard >= 0) one.guard = place[one.guard];
      if (one.other >= 0) one.other = place[one.other];
      sorted.push_back(std::move(one));
    }
    instructions_ = std::move(sorted);
    root_ = place[root];
    registers_.resize(instructions_.size());
    first_.assign(stage.extents().size() + 2, instructions_.size());
    for (size_t i = instructions_.size(); i-- > 0;)
      for (int level = 0; level <= instructions_[i].level; ++level) first_[level] = i;
  }

  // Evaluates at `index`, of which axes before `changed` are as in the last call (-1: none).
  Number run(const std::vector<int64_t>& index, int changed) {
    for (size_t i = first_[changed + 1]; i < instructions_.size(); ++i) step(instructions_[i], registers_[i], index);
    return registers_[root_];
  }

 private:
  int add(const ExprP& expr) {
    if (const auto found = known_.find(expr.get()); found != known_.end()) return found->second;
    Instruction one;
    one.kind = expr->kind;
    one.fn = expr->fn;
    one.dtype = expr->dtype;
    one.axis = expr->axis;
    one.value = {expr->number, expr->integer};
    for (const ExprP& arg : expr->args) one.args.push_back(add(arg));
    if (expr->guard) one.guard = add(expr->guard);
    if (expr->other) one.other = add(expr->other);
    one.from = expr->args.empty() ? expr->dtype : expr->args[0]->dtype;
    if (expr->kind == Expr::Kind::axis) one.level = expr->axis + 1;
    if (expr->kind == Expr::Kind::load) {
      std::tie(one.data, std::ignore) = tensors_.at(expr->tensor);
      one.shape = *tensors_.at(expr->tensor).second;
    }
    for (int arg : one.args) one.level = std::max(one.level, instructions_[arg].level);
    for (int arg : {one.guard, one.other})
      if (arg >= 0) one.level = std::max(one.level, instructions_[arg].level);
    instructions_.push_back(std::move(one));
    return known_[expr.get()] = static_cast<int>(instructions_.size()) - 1;
  }

  void step(const Instruction& one, Number& result, const std::vector<int64_t>& index) const {
    switch (one.kind) {
      case Expr::Kind::constant: result = one.value; return;
      case Expr::Kind::axis: result.i = index[one.axis]; return;
      case Expr::Kind::load: load_element(one, result); return;
      case Expr::Kind::call: call_function(one, result); return;
      case Expr::Kind::cast: convert(one, result); return;
    }
  }

  void load_element(const Instruction& one, Number& result) const {
    if (one.guard >= 0 && !registers_[one.guard].i) {
      result = registers_[one.other];
      return;
    }
    int64_t at = 0;
    for (size_t i = 0; i < one.args.size(); ++i) {
      const int64_t position = registers_[one.args[i]].i;
      MTMC_CHECK(position >= 0 && position < one.shape[i],
                 "a load outside its tensor: index " + std::to_string(position) + " of dimension " + std::to_string(i));
      at = at * one.shape[i] + position;
    }
    const double value = (*one.data)[static_cast<size_t>(at)];
    if (is_float(one.dtype)) {
      result.d = value;
    } else {
      result.i = static_cast<int64_t>(value);
    }
  }

  void call_function(const Instruction& one, Number& result) const {
    const Number& a = registers_[one.args[0]];
    if (one.fn == Fn::select) {
      result = registers_[one.args[a.i ? 1 : 2]];
      return;
    }
    const Number b = one.args.size() > 1 ? registers_[one.args[1]] : Number{};
    if (!is_float(one.from)) {
      result.i = wrap(one.dtype, integer_call(one.fn, a.i, b.i));
    } else if (is_float(one.dtype)) {
      result.d = float_call(one.fn, a.d, b.d);
    } else {
      result.i = float_test(one.fn, a.d, b.d);
    }
  }

  void convert(const Instruction& one, Number& result) const {
    const Number& a = registers_[one.args[0]];
    if (is_float(one.dtype)) {
      result.d = is_float(one.from) ? a.d : static_cast<double>(a.i);
    } else if (!is_float(one.from)) {
      result.i = wrap(one.dtype, a.i);
    } else {
      result.i = one.dtype == DType::b1 ? a.d != 0 : wrap(one.dtype, to_integer(a.d));
    }
  }

  const Tensors& tensors_;
  std::map<const Expr*, int> known_;
  std::vector<Instruction> instructions_;
  std::vector<Number> registers_;
  std::vector<size_t> first_;  // by level
  int root_ = 0;
};

// What the values along the reduce axes have become so far.
struct Accumulator {
  Combine combine;
  bool floating;
  Number value;
  int64_t at = 0, steps = 0;

  Accumulator(Combine how, bool is_floating) : combine(how), floating(is_floating) {
    if (combine == Combine::prod) value = {1, 1};
  }

  bool wins(const Number& next) const {
    if (steps == 0) return true;
    const bool largest = combine == Combine::max || combine == Combine::argmax;
    if (!floating) return largest ? next.i > value.i : next.i < value.i;
    if (std::isnan(value.d)) return false;
    return std::isnan(next.d) || (largest ? next.d > value.d : next.d < value.d);
  }

  void take(const Number& next) {
    switch (combine) {
      case Combine::sum: value = {value.d + next.d, integer_call(Fn::add, value.i, next.i)}; break;
      case Combine::prod: value = {value.d * next.d, integer_call(Fn::mul, value.i, next.i)}; break;
      case Combine::max:
      case Combine::min:
      case Combine::argmax:
      case Combine::argmin:
        if (wins(next)) {
          value = next;
          at = steps;
        }
        break;
      default: value = next;
    }
    ++steps;
  }

  double result(DType dtype) const {
    if (combine == Combine::argmax || combine == Combine::argmin) return static_cast<double>(at);
    return floating ? value.d : static_cast<double>(wrap(dtype, value.i));
  }
};

std::vector<double> run_stage(const Stage& stage, const Code::Tensors& tensors) {
  Code code(stage, tensors);
  const auto extents = stage.extents();
  const int rank = static_cast<int>(extents.size());
  const int64_t inner = product(stage.reduce), outer = stage.type.elements();
  const bool floating = is_float(stage.body->dtype);
  std::vector<double> result;
  result.reserve(static_cast<size_t>(outer));
  const int64_t back = is_scan(stage.combine) ? contiguous_strides(stage.type.shape)[stage.scan_axis] : 0;
  std::vector<int64_t> index(extents.size(), 0);
  int changed = -1;
  for (int64_t out = 0; out < outer; ++out) {
    Accumulator total(stage.combine, floating);
    for (int64_t step = 0; step < inner; ++step) {
      total.take(code.run(index, changed));
      for (changed = rank - 1; changed >= 0 && ++index[changed] == extents[changed]; --changed) index[changed] = 0;
    }
    double value = total.result(stage.type.dtype);
    if (is_scan(stage.combine) && out / back % stage.type.shape[stage.scan_axis] > 0) {
      const double before = result[static_cast<size_t>(out - back)];
      value = stage.combine == Combine::scan_sum ? before + value : before * value;
    }
    result.push_back(value);
  }
  return result;
}

}  // namespace

std::vector<std::vector<double>> evaluate(const Definition& definition,
                                          std::span<const std::vector<double>* const> operands,
                                          std::span<const std::optional<TensorType>> operand_types) {
  Code::Tensors tensors;
  for (size_t i = 0; i < operands.size(); ++i)
    if (operand_types[i]) tensors[static_cast<int>(i)] = {operands[i], &operand_types[i]->shape};
  std::vector<std::vector<double>> results(definition.stages.size());
  for (size_t i = 0; i < definition.stages.size(); ++i) {
    results[i] = run_stage(definition.stages[i], tensors);
    tensors[stage_ref(static_cast<int>(i))] = {&results[i], &definition.stages[i].type.shape};
  }
  std::vector<std::vector<double>> outputs;
  for (int stage : definition.outputs) outputs.push_back(results[stage]);
  return outputs;
}

Result<std::vector<std::vector<double>>> evaluate(const Program& program, std::span<const std::vector<double>> leaves) {
  std::map<ValueId, std::vector<double>> known;
  size_t next = 0;
  for (const Value& value : program.values) {
    if (value.kind == ValueKind::result) continue;
    MTMC_CHECK(next < leaves.size(), "a value is missing for %" + std::to_string(value.id));
    const auto text = value.kind == ValueKind::constant ? literal(value) : std::nullopt;
    known[value.id] = text && leaves[next].empty() ? *text : leaves[next];
    MTMC_CHECK(static_cast<int64_t>(known[value.id].size()) == value.type.elements(),
               "wrong number of elements for %" + std::to_string(value.id));
    ++next;
  }
  for (const Node& node : program.nodes) {
    const OpDef* def = find_op(node.op);
    if (!def || (!def->define && !def->recurrence))
      return Error{"evaluating " + program.name, "no definition", node.op, "an operator with a definition"};
    const OpCall call = call_of(program, node);
    std::vector<const std::vector<double>*> operands;
    for (ValueId input : node.inputs) operands.push_back(input == kNoValue ? nullptr : &known.at(input));
    auto results =
        def->define ? evaluate(def->define(call), operands, call.operands) : evaluate(def->recurrence(call), operands);
    for (size_t i = 0; i < results.size(); ++i) known[node.outputs[i]] = std::move(results[i]);
  }
  std::vector<std::vector<double>> outputs;
  for (ValueId id : program.outputs) outputs.push_back(known.at(id));
  for (const StateUpdate& state : program.states) outputs.push_back(known.at(state.value));
  return outputs;
}

}  // namespace mtmc
