// The k best elements of every row: k rounds, each of which finds the best of those that no round before has taken.
#include <limits>

#include "ops/build.h"

namespace mtmc {
namespace {

// Every round walks the row twice and looks whether an element was taken by one of those before: beyond this a
// library's selection is faster.
constexpr int64_t kMostRounds = 16;
constexpr int64_t kLongestRow = int64_t(1) << 29;  // places and twice their number fit i32

bool largest(const OpCall& call) { return call.attrs.flag("largest", true); }

Result<std::vector<TensorType>> infer(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  TensorType out = call.type(0);
  MTMC_TRY(const int along, resolve_axis(call, call.attrs.integer("dim", -1), out.rank()));
  if (out.rank() == 0) return refusal(call, "needs a dimension", to_string(out), "at least one dimension");
  if (out.dtype == DType::b1) return refusal(call, "booleans have no order", to_string(out), "numbers");
  const int64_t rounds = call.attrs.integer("k"), most = std::min(out.shape[along], kMostRounds);
  if (rounds < 1 || rounds > most)
    return refusal(call, "k is too large or none", std::to_string(rounds), "1 to " + std::to_string(most));
  if (out.shape[along] > kLongestRow) return refusal(call, "long rows", to_string(out), std::to_string(kLongestRow));
  out.shape[along] = rounds;
  return std::vector<TensorType>{out, {DType::i64, out.shape}};
}

// What is no better than any number of the type: the largest, or the smallest where small ones are wanted.
ExprP worst(DType dtype, bool largest) {
  if (is_float(dtype)) return number(dtype, (largest ? -1 : 1) * std::numeric_limits<double>::infinity());
  Expr least = *constant(dtype, 0);
  const int bits = 8 * bytes(dtype) - 1;
  least.integer = dtype == DType::u8 ? (largest ? 0 : 255)
                  : largest          ? std::numeric_limits<int64_t>::min() >> (63 - bits)
                                     : std::numeric_limits<int64_t>::max() >> (63 - bits);
  return std::make_shared<const Expr>(least);
}

class Rounds {
 public:
  explicit Rounds(const OpCall& call)
      : call_(call),
        x_(call.type(0)),
        along_(axis_of(call, "dim", -1, x_.rank())),
        split_(split_axes(x_.shape, {along_}, true)),
        inner_(compute_type(x_.dtype)) {}

  Definition run() {
    for (int64_t round = 0; round < call_.attrs.integer("k"); ++round) add();
    join("values", x_.dtype, [&](size_t round) { return value(round); });
    join("indices", DType::i64, [&](size_t round) { return cast(DType::i64, place(round)); });
    return b_.done();
  }

 private:
  // Numbers that are none come before all others, or after them where small ones are wanted.
  bool none_last() const { return is_float(inner_) && !largest(call_); }

  // The round's best value, and the place of its first occurrence. What is no number is the largest; among the smallest
  // it is equal to none, and its place counts from behind the row.
  void add() {
    const ExprP x = cast(inner_, raw_operand(call_, 0, split_.input)), last = place_number(x_.shape[along_] - 1);
    const ExprP here = cast(DType::i32, split_.input[along_]), none = fn(Fn::isnan, x);
    ExprP taken;
    for (size_t round = 0; round < best_.size(); ++round) {
      const ExprP one = fn(Fn::eq, place(round), here);
      taken = taken ? fn(Fn::logical_or, taken, one) : one;
    }
    const auto unless_taken = [&](const ExprP& otherwise, const ExprP& body) {
      return taken ? select(taken, otherwise, body) : body;
    };
    const ExprP least = worst(inner_, largest(call_));
    best_.push_back(b_.reduce("chosen", {inner_, split_.shape}, split_.over,
                              largest(call_) ? Combine::max : Combine::min,
                              unless_taken(least, none_last() ? select(none, least, x) : x)));
    const ExprP best = at(best_.back());
    ExprP is_best = fn(Fn::eq, x, best);
    if (is_float(inner_) && largest(call_)) is_best = fn(Fn::logical_or, is_best, none);
    ExprP found = select(is_best, here, last);
    if (none_last()) found = select(none, here + place_number(x_.shape[along_]), found);
    const ExprP behind = none_last() ? last + place_number(x_.shape[along_]) : last;
    places_.push_back(
        b_.reduce("place", {DType::i32, split_.shape}, split_.over, Combine::min, unless_taken(behind, found)));
  }

  // One element a row.
  ExprP at(int stage) const { return b_.at(stage, spatial(x_.rank())); }
  ExprP place_number(int64_t value) const { return cast(DType::i32, index_constant(value)); }
  ExprP place(size_t round) const {
    const ExprP place = at(places_[round]);
    return none_last() ? place % place_number(x_.shape[along_]) : place;
  }
  ExprP value(size_t round) const {
    if (!none_last()) return at(best_[round]);
    return select(fn(Fn::lt, at(places_[round]), place_number(x_.shape[along_])), at(best_[round]),
                  number(inner_, std::numeric_limits<double>::quiet_NaN()));
  }

  // The rounds' results side by side.
  template <class Part>
  void join(std::string name, DType dtype, const Part& part) {
    Shape shape = split_.shape;
    shape[along_] = static_cast<int64_t>(best_.size());
    Indices row = spatial(x_.rank());
    row[along_] = index_constant(0);
    ExprP all;
    for (size_t round = best_.size(); round-- > 0;) {
      const ExprP one = substitute_axes(part(round), row);
      all = all ? select(fn(Fn::eq, axis(along_), index_constant(static_cast<int64_t>(round))), one, all) : one;
    }
    b_.output(b_.map(std::move(name), {dtype, shape}, cast(dtype, all)), dtype);
  }

  const OpCall& call_;
  const TensorType& x_;
  int along_;
  Split split_;
  DType inner_;
  Builder b_;
  std::vector<int> best_, places_;  // stages, by round
};

Definition define(const OpCall& call) { return Rounds(call).run(); }

// Of rows of 64 k and more torch keeps the k best so far; shorter ones are copied and partly sorted, which takes five
// times as long (2 and 10 ns an element on one core of an EPYC, for rows of 64 to 4096).
double library_steps(const OpCall& call) {
  const TensorType& x = call.type(0);
  const int64_t row = x.shape[axis_of(call, "dim", -1, x.rank())];
  return static_cast<double>(x.elements()) * (64 * call.attrs.integer("k") <= row ? 2 : 10);
}

}  // namespace

extern const OpFile topk_def = {
    {.name = "topk",
     .doc = "The k largest or smallest elements along an axis and their positions, best first; in any order where "
            "they need not be sorted.",
     .infer = infer,
     .define = define,
     .spelling = "torch.topk({0}, {k}, {dim|-1}, {largest|True}, {sorted|True})",
     .aten = {{"aten.topk.default", "self", "k dim largest sorted"}},
     .library_steps = library_steps},
};

}  // namespace mtmc
