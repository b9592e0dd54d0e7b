#include "targets/cpu/expr_printer.h"

#include <algorithm>
#include <cmath>
#include <span>

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

// Behind a condition.
size_t first_operand(Fn fn) { return fn == Fn::select ? 1 : 0; }

// The register kind that a call's operands are converted to: index arithmetic is int in vectors unless a loaded long
// meets it.
Reg common_kind(Fn fn, const std::vector<Printed>& args, bool vector) {
  const auto operands = std::span(args).subspan(first_operand(fn));
  const auto is_long = [](const Printed& one) { return one.reg == Reg::i64; };
  const auto is_long_vector = [](const Printed& one) { return one.reg == Reg::i64 && one.vector; };
  const bool long_lanes = std::any_of(operands.begin(), operands.end(), is_long_vector);
  if (!vector) return std::any_of(operands.begin(), operands.end(), is_long) ? Reg::i64 : operands[0].reg;
  if (long_lanes || !is_long(operands[0])) return long_lanes ? Reg::i64 : operands[0].reg;
  const bool scalars_by_lane = fn == Fn::select && args[0].vector && !args[1].vector && !args[2].vector;
  return scalars_by_lane ? Reg::i64 : Reg::i32;
}

bool is_floating(Reg kind) { return kind == Reg::f32 || kind == Reg::f64; }

std::string named_call(const std::string& name, const std::vector<std::string>& args) {
  return name + "(" + join(args, ", ") + ")";
}

// A call of scalars of one kind, but for the condition of a select.
std::string scalar_call(Fn fn, const std::vector<std::string>& args, Reg kind) {
  const bool floating = is_floating(kind);
  const std::string &a = args[0], typed = "<" + reg_type(kind) + ">", fn_name(name(fn));
  switch (fn) {
    case Fn::neg: return "(-" + a + ")";
    case Fn::rsqrt: return "(1 / sqrt(" + a + "))";
    case Fn::isnan: return "(" + a + " != " + a + ")";
    case Fn::logical_not: return "(!" + a + ")";
    case Fn::abs:
    case Fn::isinf: return named_call("std::" + fn_name, args);
    case Fn::round: return named_call("std::nearbyint", args);
    case Fn::floor:
    case Fn::ceil:
    case Fn::trunc: return floating ? named_call("std::" + fn_name, args) : a;
    case Fn::select: return "(" + a + " ? " + args[1] + " : " + args[2] + ")";
    case Fn::div:
      if (floating) break;
      return named_call("floor_div" + typed, args);
    case Fn::mod:
      if (floating) return "(" + a + " - " + args[1] + " * std::floor(" + a + " / " + args[1] + "))";
      return named_call("floor_mod" + typed, args);
    case Fn::min:
    case Fn::max: return named_call(fn_name + typed, args);
    default: break;
  }
  if (const char* sign = infix(fn)) return "(" + a + " " + sign + " " + args[1] + ")";
  return named_call(fn_name, args);
}

// The same of vectors. `condition`: of a select between conditions, which are masks.
std::string vector_call(Fn fn, const std::vector<std::string>& args, Reg kind, bool condition) {
  const bool floating = is_floating(kind);
  const std::string &a = args[0], fn_name(name(fn));
  switch (fn) {
    case Fn::neg: return "(-" + a + ")";
    case Fn::rsqrt: return "(1 / sqrt(" + a + "))";
    case Fn::isnan: return "compare(" + a + " != " + a + ")";
    case Fn::isinf:
      return "(compare(" + a + " == " + a + ") & compare(" + a + " - " + a + " != " + a + " - " + a + "))";
    case Fn::logical_not: return "(~" + a + ")";
    case Fn::abs: return "select(compare(" + a + " < 0), -" + a + ", " + a + (floating ? " + 0" : "") + ")";
    case Fn::round: return named_call("nearbyint", args);
    case Fn::floor:
    case Fn::ceil:
    case Fn::trunc: return floating ? named_call(fn_name, args) : a;
    case Fn::select:
      return condition ? "((" + a + " & " + args[1] + ") | (~" + a + " & " + args[2] + "))"
                       : named_call("select", args);
    case Fn::div:
      if (floating) break;
      return named_call("floor_div_lanes", args);
    case Fn::mod:
      if (floating) return "(" + a + " - " + args[1] + " * floor(" + a + " / " + args[1] + "))";
      return named_call("floor_mod_lanes", args);
    case Fn::min:
    case Fn::max: return named_call(fn_name, args);
    default: break;
  }
  if (const char* sign = infix(fn)) {
    const std::string text = "(" + a + " " + sign + " " + args[1] + ")";
    return is_compare(fn) && kind != Reg::b1 ? "compare" + text : text;
  }
  return named_call(fn_name, args);
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

std::optional<int64_t> lane_stride(const ExprP& flat, int vector_axis, int axes) {
  if (vector_axis < 0 || !uses_axis(flat, vector_axis)) return 0;
  // Affine in the vector axis: the rest may be anything that does not use it.
  const auto opaque = [&](const ExprP& e) {
    if (e->kind == Expr::Kind::load) return true;
    return e->kind == Expr::Kind::call &&
           (e->fn == Fn::div || e->fn == Fn::mod || e->fn == Fn::min || e->fn == Fn::max);
  };
  const ExprP simple =
      transform(flat, [&](const ExprP& e) { return opaque(e) && !uses_axis(e, vector_axis) ? index_constant(0) : e; });
  const Affine form = affine(simple, axes);
  return form.ok ? std::optional(form.coefficients[vector_axis]) : std::nullopt;
}

std::string ExprPrinter::address(int tensor, const std::vector<ExprP>& indices, std::optional<int64_t>* stride) {
  const ExprP flat = flat_index(tensor, indices);
  if (stride) *stride = lane_stride(flat, context_.vector_axis, static_cast<int>(context_.axes.size()));
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
  const Reg kind = common_kind(expr->fn, args, vector);
  for (size_t i = 0; i < args.size(); ++i) {
    if (i >= first_operand(expr->fn)) args[i] = convert(args[i], kind);
    if (vector) args[i] = splat(args[i]);
  }
  std::vector<std::string> texts;
  for (const Printed& arg : args) texts.push_back(arg.text);
  const bool condition = expr->dtype == DType::b1;
  const std::string text = vector ? vector_call(expr->fn, texts, kind, condition) : scalar_call(expr->fn, texts, kind);
  return wrapped({text, condition ? Reg::b1 : kind, vector}, expr->dtype);
}

}  // namespace mtmc
