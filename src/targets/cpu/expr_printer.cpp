#include "targets/cpu/expr_printer.h"

#include <cmath>

#include "base/text.h"
#include "targets/infix.h"

namespace mtmc {

using Reg = Printed::Reg;

Reg reg_of(DType dtype) {
  switch (dtype) {
    case DType::b1: return Reg::b1;
    case DType::f64: return Reg::f64;
    case DType::i64: return Reg::i64;
    case DType::f16:
    case DType::bf16:
    case DType::f32: return Reg::f32;
    default: return Reg::i32;
  }
}

std::string reg_type(Reg reg) {
  switch (reg) {
    case Reg::f32: return "float";
    case Reg::f64: return "double";
    case Reg::i32: return "int";
    case Reg::i64: return "long";
    case Reg::b1: return "bool";
  }
  return "";
}

std::string memory_type(DType dtype) {
  switch (dtype) {
    case DType::b1:
    case DType::u8: return "uint8_t";
    case DType::i8: return "int8_t";
    case DType::i16: return "int16_t";
    case DType::i32: return "int";
    case DType::i64: return "long";
    case DType::f16: return "_Float16";
    case DType::bf16: return "bf16";
    case DType::f32: return "float";
    case DType::f64: return "double";
  }
  return "";
}

namespace {

std::string number_text(double value, Reg reg) {
  if (std::isnan(value)) return reg == Reg::f64 ? "__builtin_nan(\"\")" : "__builtin_nanf(\"\")";
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") + (reg == Reg::f64 ? "__builtin_inf()" : "__builtin_inff()");
  if (reg == Reg::f64) return format_double(value);
  std::string text =
      format_double(static_cast<float>(value) == value ? value : static_cast<double>(static_cast<float>(value)));
  return text + "f";
}

// Makes a scalar or vector of another register kind; a vector stays a vector.
Printed convert(Printed value, Reg to) {
  if (value.reg == to) return value;
  const std::string type = reg_type(to);
  if (!value.vector) {
    if (to == Reg::b1) return {"(" + value.text + " != 0)", to, false};
    return {type + "(" + value.text + ")", to, false};
  }
  if (to == Reg::b1) return {"compare(" + value.text + " != 0)", to, true};
  if (value.reg == Reg::b1) return {"convert<" + type + ">(" + value.text + " & 1)", to, true};
  return {"convert<" + type + ">(" + value.text + ")", to, true};
}

Printed splat(Printed value) {
  if (value.vector) return value;
  if (value.reg == Reg::b1) return {"splat_mask(" + value.text + ")", value.reg, true};
  return {"splat<" + reg_type(value.reg) + ">(" + value.text + ")", value.reg, true};
}

bool is_compare(Fn fn) { return fn >= Fn::lt && fn <= Fn::ge; }

// i8, i16 and u8 live in int registers: results wrap as torch's do.
Printed wrapped(Printed value, DType dtype) {
  if (dtype != DType::i8 && dtype != DType::i16 && dtype != DType::u8) return value;
  const int bits = dtype == DType::i16 ? 16 : 8;
  if (dtype == DType::u8) return {"(" + value.text + " & 255)", value.reg, value.vector};
  const std::string shift = std::to_string(32 - bits);
  return {"((" + value.text + " << " + shift + ") >> " + shift + ")", value.reg, value.vector};
}

}  // namespace

ExprP ExprPrinter::flat_index(int tensor, const std::vector<ExprP>& indices) const {
  const auto own = context_.strides.find(tensor);
  const std::vector<int64_t>& strides =
      own != context_.strides.end() ? own->second : context_.group->tensors[tensor].strides;
  ExprP flat = mtmc::flat_index(indices, strides);
  return simplify(flat, context_.extents);
}

std::string ExprPrinter::scalar_code(const ExprP& expr) const {
  Context scalar = context_;
  scalar.vector_axis = -1;
  std::vector<std::string> lines;
  ExprPrinter printer(scalar);
  printer.nested_ = true;
  return printer.print(expr, lines).text;
}

std::string ExprPrinter::address(int tensor, const std::vector<ExprP>& indices, std::optional<int64_t>* lane_stride) {
  const ExprP flat = flat_index(tensor, indices);
  if (lane_stride) {
    *lane_stride = std::nullopt;
    if (context_.vector_axis < 0 || !uses_axis(flat, context_.vector_axis)) {
      *lane_stride = 0;
    } else {
      // Affine in the vector axis: the rest may be anything that does not use it.
      const Affine form =
          affine(transform(flat,
                           [&](const ExprP& e) -> ExprP {
                             const bool opaque =
                                 e->kind == Expr::Kind::load ||
                                 (e->kind == Expr::Kind::call &&
                                  (e->fn == Fn::div || e->fn == Fn::mod || e->fn == Fn::min || e->fn == Fn::max));
                             return opaque && !uses_axis(e, context_.vector_axis) ? index_constant(0) : e;
                           }),
                 static_cast<int>(context_.axes.size()));
      if (form.ok) *lane_stride = form.coefficients[context_.vector_axis];
    }
  }
  std::string text = scalar_code(flat);
  const auto offset = context_.offsets.find(tensor);
  if (offset != context_.offsets.end() && !offset->second.empty())
    text = text == "0" ? "-(" + offset->second + ")" : text + " - (" + offset->second + ")";
  return text;
}

void ExprPrinter::count(const ExprP& expr) {
  if (expr->kind == Expr::Kind::constant || expr->kind == Expr::Kind::axis) return;
  if (++counts_[numbers_.of(expr)] > 1) return;
  if (expr->kind == Expr::Kind::load) return;
  for (const ExprP& arg : expr->args) count(arg);
}

Printed ExprPrinter::print(const ExprP& expr, std::vector<std::string>& lines) {
  if (!nested_) count(expr);
  return print_node(expr, lines);
}

std::string ExprPrinter::vector_of(const ExprP& expr, std::vector<std::string>& lines) {
  return convert(splat(print(expr, lines)), reg_of(expr->dtype)).text;
}
std::string ExprPrinter::scalar_of(const ExprP& expr, std::vector<std::string>& lines) {
  return convert(print(expr, lines), reg_of(expr->dtype)).text;
}

Printed ExprPrinter::print_node(const ExprP& expr, std::vector<std::string>& lines) {
  if (expr->kind == Expr::Kind::constant) {
    const Reg reg = reg_of(expr->dtype);
    if (is_float(expr->dtype)) return {number_text(expr->number, reg), reg, false};
    if (expr->dtype == DType::b1) return {expr->integer ? "true" : "false", reg, false};
    return {std::to_string(expr->integer), reg, false};
  }
  if (expr->kind == Expr::Kind::axis) {
    if (expr->axis == context_.vector_axis) return {"iota(" + context_.axes[expr->axis] + ")", Reg::i32, true};
    return {context_.axes[expr->axis], Reg::i64, false};
  }
  const int key = numbers_.of(expr);
  const auto found = bound_.find(key);
  if (found != bound_.end()) return found->second;
  Printed value;
  if (expr->kind == Expr::Kind::load) {
    value = print_load(expr, lines);
  } else if (expr->kind == Expr::Kind::call) {
    value = print_call(expr, lines);
  } else {
    const ExprP& inner = expr->args[0];
    value = print_node(inner, lines);
    if (is_float(inner->dtype) && !is_float(expr->dtype) && expr->dtype != DType::b1) {
      value = convert(value, Reg::i64);  // torch truncates toward zero through the widest integer
    }
    value = convert(value, reg_of(expr->dtype));
    if (expr->dtype == DType::bf16 || expr->dtype == DType::f16) {
      const std::string type = memory_type(expr->dtype);
      value.text = value.vector ? "each<float>(0, Full{}, [&, x = " + value.text + "](long l) { return widen(narrow<" +
                                      type + ">(x[l])); })"
                                : "widen(narrow<" + type + ">(" + value.text + "))";
    }
    value = wrapped(value, expr->dtype);
  }
  const bool worth_a_name = !nested_ && expr->dtype != DType::i64 && counts_[key] > 1;
  if (worth_a_name) {
    const std::string name = "t" + std::to_string(next_++);
    lines.push_back("const auto " + name + " = " + value.text + ";");
    value.text = name;
    bound_[key] = value;
  }
  return value;
}

Printed ExprPrinter::lane_by_lane(const ExprP& expr) {
  const std::string& i = context_.axes[context_.vector_axis];
  const Reg reg = reg_of(expr->dtype);
  const std::string body =
      "(" + i + ", " + context_.lanes + ", [&](long " + i + ") { return " + scalar_code(expr) + "; })";
  if (reg == Reg::b1) return {"each_mask" + body, reg, true};
  return {"each<" + reg_type(reg) + ">" + body, reg, true};
}

Printed ExprPrinter::print_load(const ExprP& expr, std::vector<std::string>& lines) {
  const GroupTensor& tensor = context_.group->tensors[expr->tensor];
  const Reg reg = reg_of(expr->dtype);
  std::optional<int64_t> stride;
  const std::string at = address(expr->tensor, expr->args, &stride);
  const bool guard_varies = expr->guard && context_.vector_axis >= 0 && uses_axis(expr->guard, context_.vector_axis);
  if (context_.vector_axis >= 0 && (guard_varies || (expr->guard && stride && *stride != 0))) {
    if (stride != 1 || reg == Reg::b1 || reg == Reg::i64) return lane_by_lane(expr);
    const std::string where = splat(print_node(expr->guard, lines)).text;
    const std::string other = splat(convert(print_node(expr->other, lines), reg)).text;
    return {"load_where(" + tensor.name + " + " + at + ", " + where + ", " + other + ", " + context_.lanes + ")", reg,
            true};
  }
  if (context_.vector_axis >= 0 && !stride) return lane_by_lane(expr);
  const std::string element = tensor.name + "[" + at + "]";
  if (context_.vector_axis < 0 || *stride == 0) {
    const bool narrow = expr->dtype == DType::bf16 || expr->dtype == DType::f16;
    std::string text = narrow                     ? "widen(" + element + ")"
                       : expr->dtype == DType::b1 ? "(" + element + " != 0)"
                                                  : element;
    if (reg == Reg::i32 && expr->dtype != DType::i32) text = "int(" + text + ")";
    if (expr->guard) {
      std::string guard = scalar_code(expr->guard);
      text = "(" + guard + " ? " + text + " : " + scalar_code(expr->other) + ")";
    }
    return {text, reg, false};
  }
  const std::string pointer = tensor.name + " + " + at;
  if (*stride == 1)
    return {(reg == Reg::b1 ? "load_mask(" : "load(") + pointer + ", " + context_.lanes + ")", reg, true};
  if (reg == Reg::b1) return lane_by_lane(expr);
  return {"load_strided(" + pointer + ", " + std::to_string(*stride) + ", " + context_.lanes + ")", reg, true};
}

Printed ExprPrinter::print_call(const ExprP& expr, std::vector<std::string>& lines) {
  std::vector<Printed> args;
  bool vector = false;
  for (const ExprP& arg : expr->args) {
    args.push_back(print_node(arg, lines));
    vector |= args.back().vector;
  }
  const Fn fn = expr->fn;
  const size_t first = fn == Fn::select ? 1 : 0;
  // Operands of one register kind: index arithmetic is int in vectors unless a loaded long meets it.
  Reg kind = args[first].reg;
  for (size_t i = first; i < args.size(); ++i)
    if (args[i].reg == Reg::i64 && (!vector || args[i].vector)) kind = Reg::i64;
  if (vector && kind == Reg::i64) {
    bool long_lanes = false;
    for (size_t i = first; i < args.size(); ++i) long_lanes |= args[i].vector && args[i].reg == Reg::i64;
    if (!long_lanes && !(fn == Fn::select && args[0].vector && !args[1].vector && !args[2].vector)) kind = Reg::i32;
  }
  if (fn == Fn::select && vector && kind == Reg::i64) kind = Reg::i64;
  for (size_t i = first; i < args.size(); ++i) {
    args[i] = convert(args[i], kind);
    if (vector) args[i] = splat(args[i]);
  }
  if (vector) args[0] = splat(args[0]);
  const auto result = [&](std::string text) {
    return wrapped(Printed{std::move(text), expr->dtype == DType::b1 ? Reg::b1 : kind, vector}, expr->dtype);
  };
  const bool floating = kind == Reg::f32 || kind == Reg::f64;
  const std::string& a = args[0].text;
  const std::string fn_name(name(fn));
  switch (fn) {
    case Fn::neg: return result("(-" + a + ")");
    case Fn::abs:
      if (!vector) return result(floating ? "std::abs(" + a + ")" : "std::abs(" + a + ")");
      return result("select(compare(" + a + " < 0), -" + a + ", " + a + (floating ? " + 0" : "") + ")");
    case Fn::rsqrt: return result("(1 / sqrt(" + a + "))");
    case Fn::isnan: return result(vector ? "compare(" + a + " != " + a + ")" : "(" + a + " != " + a + ")");
    case Fn::isinf:
      return result(vector
                        ? "(compare(" + a + " == " + a + ") & compare(" + a + " - " + a + " != " + a + " - " + a + "))"
                        : "std::isinf(" + a + ")");
    case Fn::logical_not: return result(vector ? "(~" + a + ")" : "(!" + a + ")");
    case Fn::round: return result(vector ? "nearbyint(" + a + ")" : "std::nearbyint(" + a + ")");
    case Fn::floor:
    case Fn::ceil:
    case Fn::trunc: return result(floating ? (vector ? "" : "std::") + fn_name + "(" + a + ")" : a);
    case Fn::select:
      if (!vector) return result("(" + a + " ? " + args[1].text + " : " + args[2].text + ")");
      if (expr->dtype == DType::b1)
        return result("((" + a + " & " + args[1].text + ") | (~" + a + " & " + args[2].text + "))");
      return result("select(" + a + ", " + args[1].text + ", " + args[2].text + ")");
    case Fn::div:
      if (!floating)
        return result((vector ? "floor_div_lanes(" : "floor_div<" + reg_type(kind) + ">(") + a + ", " + args[1].text +
                      ")");
      break;
    case Fn::mod:
      if (floating && !vector)
        return result("(" + a + " - " + args[1].text + " * std::floor(" + a + " / " + args[1].text + "))");
      if (floating) return result("(" + a + " - " + args[1].text + " * floor(" + a + " / " + args[1].text + "))");
      return result((vector ? "floor_mod_lanes(" : "floor_mod<" + reg_type(kind) + ">(") + a + ", " + args[1].text +
                    ")");
    case Fn::min:
    case Fn::max:
      if (!vector) return result(fn_name + "<" + reg_type(kind) + ">(" + a + ", " + args[1].text + ")");
      return result(fn_name + "(" + a + ", " + args[1].text + ")");
    default: break;
  }
  if (const char* sign = infix(fn)) {
    const std::string text = "(" + a + " " + sign + " " + args[1].text + ")";
    return result(vector && is_compare(fn) && kind != Reg::b1 ? "compare" + text : text);
  }
  return result(fn_name + "(" + a + (args.size() > 1 ? ", " + args[1].text : "") + ")");
}

}  // namespace mtmc
