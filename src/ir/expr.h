// Scalar expressions: what one element of a stage is. Leaves are constants, axis indices and guarded loads; everything
// that a view, a pad, a concat or a gather does to a tensor is an index expression of a load, so that fusing pointwise
// code is substitution.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/type.h"

namespace mtmc {

// Scalar functions. Integer `div` floors, and `mod`, also of floats, has the sign of the divisor, as Python's do. `min`
// and `max` of floats propagate NaN, as torch's do.
enum class Fn {
  neg,
  abs,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log1p,
  sqrt,
  rsqrt,
  tanh,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  erfc,
  erf,
  floor,
  ceil,
  round,
  trunc,
  isnan,
  isinf,
  logical_not,  // one argument; round is half to even
  add,
  sub,
  mul,
  div,
  mod,
  pow,
  atan2,
  min,
  max,  // two arguments of the expression's dtype
  lt,
  le,
  eq,
  ne,
  gt,
  ge,  // two arguments of one dtype, result b1
  logical_and,
  logical_or,
  bit_and,
  bit_or,
  bit_xor,
  shl,
  shr,
  select,  // select(condition b1, then, else)
};

std::string_view name(Fn fn);
int arity(Fn fn);

struct Expr;
using ExprP = std::shared_ptr<const Expr>;

// Which tensor a load reads, in the numbering of whoever holds the expression (see Stage and FrameStage).
using TensorRef = int;

struct Expr {
  enum class Kind { constant, axis, load, call, cast };
  Kind kind = Kind::constant;
  DType dtype = DType::f32;
  double number = 0;        // constant of a float dtype
  int64_t integer = 0;      // constant of an integer dtype or b1
  int axis = 0;             // axis: which axis of the stage (spatial axes first, then reduce axes); dtype i64
  Fn fn = Fn::add;          // call
  std::vector<ExprP> args;  // call, cast: operands; load: one i64 index expression per dimension
  TensorRef tensor = 0;     // load
  ExprP guard;              // load: b1, or null when always in bounds
  ExprP other;              // load: the value where the guard is false
  // Of the node and all its parts, filled in by the constructors:
  uint64_t axes = 0;   // that it moves with, a bit each: of axis i the bit i, of all from kLastAxis on the last one
  bool loads = false;  // is any of them a load?
};

inline constexpr int kLastAxis = 63;

// Constructors. They fold constants and drop identities (x+0, x*1, casts to the same dtype), nothing that could change
// a float result.
ExprP constant(DType dtype, double number);
ExprP index_constant(int64_t value);
ExprP axis(int which);
ExprP load(TensorRef tensor, DType dtype, std::vector<ExprP> indices, ExprP guard = nullptr, ExprP other = nullptr);
ExprP call(Fn fn, std::vector<ExprP> args);  // the dtype follows from the arguments
ExprP cast(DType dtype, ExprP value);

inline ExprP operator+(ExprP a, ExprP b) { return call(Fn::add, {std::move(a), std::move(b)}); }
inline ExprP operator-(ExprP a, ExprP b) { return call(Fn::sub, {std::move(a), std::move(b)}); }
inline ExprP operator*(ExprP a, ExprP b) { return call(Fn::mul, {std::move(a), std::move(b)}); }
inline ExprP operator/(ExprP a, ExprP b) { return call(Fn::div, {std::move(a), std::move(b)}); }
inline ExprP operator%(ExprP a, ExprP b) { return call(Fn::mod, {std::move(a), std::move(b)}); }
inline ExprP select(ExprP c, ExprP t, ExprP f) { return call(Fn::select, {std::move(c), std::move(t), std::move(f)}); }

// "add(load %3[a0, a1], 1.0)": for messages, tests and hashing; equal text means equal meaning.
std::string to_string(const ExprP& expr);

// Of the same text, without writing it.
bool alike(const ExprP& a, const ExprP& b);
// Numbers expressions so that alike ones have the same number.
class ExprNumbers {
 public:
  int of(const ExprP& expr);

 private:
  std::unordered_map<const Expr*, int> met_;
  std::unordered_map<std::string, int> known_;  // by a node and the numbers of its parts
  std::vector<ExprP> kept_;                     // so that no address comes again
};
bool is_constant(const ExprP& expr);
bool is_index_constant(const ExprP& expr, int64_t value);

// Of the parts that `made` returns for its own; itself where all stay as they are.
ExprP with_parts(const ExprP& expr, const std::function<ExprP(const ExprP&)>& made);
// Rebuilds an expression bottom up; `visit` gets each node with rebuilt children and returns its replacement.
ExprP transform(const ExprP& expr, const std::function<ExprP(const ExprP&)>& visit);
// The same of loads only; what holds none is not looked at.
ExprP transform_loads(const ExprP& expr, const std::function<ExprP(const ExprP&)>& visit);
// Replaces axis i by axes[i] everywhere (a null entry keeps the axis).
ExprP substitute_axes(const ExprP& expr, const std::vector<ExprP>& axes);
// Calls `visit` for every node, parents first.
void walk(const ExprP& expr, const std::function<void(const Expr&)>& visit);
bool uses_axis(const ExprP& expr, int which);
// All load nodes, outermost first, index expressions' own loads included.
std::vector<const Expr*> loads_of(const ExprP& expr);
// How many arithmetic operations one evaluation costs (exp and its like count 8).
double operation_count(const ExprP& expr);

// Simplifies index arithmetic, knowing that axis i is in [0, extents[i]): ((a*8 + b) / 8 with b in [0,8) is a). Also
// decides guards.
ExprP simplify(const ExprP& expr, const std::vector<int64_t>& extents);

int64_t floor_div(int64_t a, int64_t b);  // rounds towards minus infinity

// An index as base + sum coefficient[i] * axis i; ok is false when it is not affine.
struct Affine {
  bool ok = false;
  int64_t base = 0;
  std::vector<int64_t> coefficients;  // one per axis
};
Affine affine(const ExprP& index, int axes);

}  // namespace mtmc
