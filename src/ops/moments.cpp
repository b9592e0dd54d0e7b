#include "ops/moments.h"

namespace mtmc {

Moments moments(Builder& builder, const Shape& rows, const std::vector<int64_t>& over, const ExprP& x, double eps,
                bool rest) {
  const TensorType type{x->dtype, rows};
  const Indices at = spatial(type.rank());
  const ExprP count = number(x->dtype, static_cast<double>(product(over)));
  Moments result;
  // Taken from each row's first element: exact where all are equal, as eager is, and no loss far from zero.
  std::vector<ExprP> start = at;
  start.resize(at.size() + over.size(), index_constant(0));
  const ExprP first = substitute_axes(x, start);
  const int sum = builder.reduce("sum", type, over, Combine::sum, x - first);
  result.mean = builder.map("mean", type, first + builder.at(sum, at) / count);
  const ExprP difference = x - builder.at(result.mean, at);
  result.squares = builder.reduce("squares", type, over, Combine::sum, difference * difference);
  if (rest) result.rest = builder.reduce("rest", type, over, Combine::sum, difference);
  result.inverse =
      builder.map("inverse", type, fn(Fn::rsqrt, builder.at(result.squares, at) / count + number(x->dtype, eps)));
  return result;
}

}  // namespace mtmc
