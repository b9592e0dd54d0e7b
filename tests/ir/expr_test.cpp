#include <gtest/gtest.h>

#include "base/rng.h"
#include "ir/expr.h"

namespace mtmc {
namespace {

ExprP c(int64_t value) { return index_constant(value); }

// A guarded read that is scaled by another: of axes 0, 2 and one that has no bit of its own.
ExprP two_reads() {
  const ExprP index = load(1, DType::i64, {axis(2)});
  const ExprP guard = call(Fn::lt, {axis(70), c(5)});
  return load(0, DType::f32, {axis(0), index}, guard, constant(DType::f32, 0)) * constant(DType::f32, 2);
}

TEST(Expr, KnowsItsAxesAndLoads) {
  const ExprP both = two_reads(), moved = axis(1) + c(1);
  EXPECT_TRUE(both->loads);
  EXPECT_FALSE(moved->loads);
  EXPECT_EQ(moved->axes, 2u);
  for (const int used : {0, 2, 70}) EXPECT_TRUE(uses_axis(both, used)) << used;
  for (const int other : {-1, 1, 3, 63, 71}) EXPECT_FALSE(uses_axis(both, other)) << other;
  EXPECT_EQ(loads_of(both).size(), 2u);
}

TEST(Expr, OtherAxesAndLoadsReachEveryPart) {
  const ExprP both = two_reads();
  std::vector<ExprP> axes(71);
  axes[2] = axis(1), axes[70] = axis(3);
  EXPECT_EQ(to_string(substitute_axes(both, axes)), "mul((%0[a0, %1[a1]] if lt(a3, 5) else 0.0), 2.0)");
  EXPECT_EQ(substitute_axes(both, {nullptr, axis(5)}), both) << "none of them is there";
  const ExprP renamed =
      transform_loads(both, [](const ExprP& e) { return load(e->tensor + 7, e->dtype, e->args, e->guard, e->other); });
  EXPECT_EQ(to_string(renamed), "mul((%7[a0, %8[a2]] if lt(a70, 5) else 0.0), 2.0)");
}

TEST(Simplify, ViewsCancel) {
  // [4,8] flattened and viewed as [2,16]: row-major address is unchanged.
  const std::vector<int64_t> extents = {2, 16};
  const ExprP flat = axis(0) * c(16) + axis(1);
  const ExprP i = flat / c(8), j = flat % c(8);
  EXPECT_EQ(to_string(simplify(i * c(8) + j, extents)), "add(mul(a0, 16), a1)");
  EXPECT_EQ(to_string(simplify((axis(0) * c(16) + axis(1)) / c(16), extents)), "a0");
  EXPECT_EQ(to_string(simplify((axis(0) * c(16) + axis(1)) % c(16), extents)), "a1");
  EXPECT_EQ(to_string(simplify((axis(0) * c(32) + axis(1) * c(2)) / c(16), extents)), "add(mul(a0, 2), div(a1, 8))");
}

TEST(Simplify, SplitsOffWhatADivisorCannotReach) {
  // [4,128,64] read as [512,64].
  const std::vector<int64_t> extents = {512, 64};
  const ExprP flat = axis(0) * c(64) + axis(1);
  EXPECT_EQ(to_string(simplify(flat / c(128 * 64), extents)), "div(a0, 128)");
  EXPECT_EQ(to_string(simplify(flat / c(128 * 64) * c(128 * 64) + flat % c(128 * 64), extents)),
            "add(mul(a0, 64), a1)");
}

TEST(Simplify, JoinsTheDigitsOfANumber) {
  // [4,2,8] flattened, taken apart, and put together: the middle digit is (x div 8) mod 2.
  const ExprP x = axis(0), digits = x / c(16) * c(16) + x / c(8) % c(2) * c(8) + x % c(8);
  EXPECT_EQ(to_string(simplify(digits, {64})), "a0");
}

TEST(Simplify, DecidesGuards) {
  const std::vector<int64_t> extents = {4};
  EXPECT_EQ(to_string(simplify(call(Fn::lt, {axis(0), c(4)}), extents)), "true");
  EXPECT_EQ(to_string(simplify(call(Fn::ge, {axis(0) - c(1), c(0)}), extents)), "ge(sub(a0, 1), 0)");
}

int64_t value_of(const ExprP& e, const std::vector<int64_t>& at) {
  const auto arg = [&](int i) { return value_of(e->args[i], at); };
  const auto floor_div = [](int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); };
  if (e->kind == Expr::Kind::constant) return e->integer;
  if (e->kind == Expr::Kind::axis) return at[e->axis];
  switch (e->fn) {
    case Fn::add: return arg(0) + arg(1);
    case Fn::sub: return arg(0) - arg(1);
    case Fn::mul: return arg(0) * arg(1);
    case Fn::div: return floor_div(arg(0), arg(1));
    case Fn::mod: return arg(0) - arg(1) * floor_div(arg(0), arg(1));
    case Fn::min: return std::min(arg(0), arg(1));
    case Fn::max: return std::max(arg(0), arg(1));
    default: ADD_FAILURE() << "unexpected " << name(e->fn); return 0;
  }
}

ExprP random_index(Rng& rng, int depth) {
  if (depth == 0)
    return rng.below(3) == 0 ? c(static_cast<int64_t>(rng.below(20)) - 5) : axis(static_cast<int>(rng.below(3)));
  const ExprP a = random_index(rng, depth - 1), b = random_index(rng, depth - 1);
  const ExprP by = c(1 + static_cast<int64_t>(rng.below(12)));
  switch (rng.below(7)) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * by;
    case 3: return a / by;
    case 4: return a % by;
    case 5: return call(Fn::min, {a, b});
    default: return call(Fn::max, {a, b});
  }
}

TEST(Simplify, KeepsTheValueOnRandomIndices) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Rng rng(seed);
    const std::vector<int64_t> extents = {1 + static_cast<int64_t>(rng.below(5)),
                                          1 + static_cast<int64_t>(rng.below(9)),
                                          1 + static_cast<int64_t>(rng.below(4))};
    const ExprP original = random_index(rng, 4), simple = simplify(original, extents);
    for (int64_t i = 0; i < extents[0]; ++i)
      for (int64_t j = 0; j < extents[1]; ++j)
        for (int64_t k = 0; k < extents[2]; ++k)
          ASSERT_EQ(value_of(original, {i, j, k}), value_of(simple, {i, j, k})) << "seed " << seed << "\n"
                                                                                << to_string(original) << "\n"
                                                                                << to_string(simple);
  }
}

TEST(Expr, SubstitutionHappensOnceWhereANodeFoldsToItsChild) {
  const ExprP index = axis(0) * index_constant(8) + axis(1);  // with axis 0 at 0 and axis 1 now called 0
  EXPECT_EQ(to_string(substitute_axes(index, {index_constant(0), axis(0)})), "a0");
}

}  // namespace
}  // namespace mtmc
