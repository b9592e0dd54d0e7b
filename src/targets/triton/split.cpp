#include "targets/triton/split.h"

#include <algorithm>
#include <optional>

#include "targets/triton/packer.h"
#include "targets/triton/tile.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kEnoughRows = 1024, kWorthSplitting = int64_t(1) << 18;
// A row that a program holds at once is read once; in chunks it would be read again for what is made of it.
constexpr int64_t kEnoughHeldRows = 96;
constexpr int64_t kChunk = 8192;  // elements that a program holds while it computes both moments of them

// Elements of f32 that are gone from the L2 when they are read again, where each multiprocessor has such a row.
int64_t long_row(const Hardware& hardware) { return power_of_two(hardware.l3_bytes / hardware.cores / 4); }

// f of a square f * f.
const Expr* squared(const Expr& body) {
  const bool product = body.kind == Expr::Kind::call && body.fn == Fn::mul;
  return product && to_string(body.args[0]) == to_string(body.args[1]) ? body.args[0].get() : nullptr;
}

// The same sum over two kinds of axes: those of `reduce` before one of them with part of it as the first, the rest of
// that one and those behind it as the others, which hold a chunk of a row. Nothing where the first axis alone cuts rows
// small enough, or none does evenly.
std::optional<GroupStage> in_chunks(const GroupStage& whole) {
  const Stage& s = whole.stage;
  int64_t inner = 1;  // elements of the axes behind `a`
  size_t a = s.reduce.size();
  while (a > 0 && inner * s.reduce[a - 1] <= kChunk) inner *= s.reduce[--a];
  if (a < 2) return std::nullopt;  // the first is cut by `cut`
  --a;
  int64_t part = kChunk / inner;
  while (part * inner > kChunk / 4 && s.reduce[a] % part != 0) --part;
  if (part * inner <= kChunk / 4) return std::nullopt;
  const int rank = s.rank();
  GroupStage made = whole;
  made.contraction.reset();
  made.stage.reduce = {s.reduce[a] / part, part};
  for (size_t i = 0; i < a; ++i) made.stage.reduce[0] *= s.reduce[i];
  made.stage.reduce.insert(made.stage.reduce.end(), s.reduce.begin() + static_cast<std::ptrdiff_t>(a) + 1,
                           s.reduce.end());
  std::vector<ExprP> to = axes_to(rank);
  to.resize(rank + s.reduce.size());
  ExprP rest = axis(rank);
  to[rank + a] = rest % index_constant(s.reduce[a] / part) * index_constant(part) + axis(rank + 1);
  rest = rest / index_constant(s.reduce[a] / part);
  for (size_t i = a; i-- > 0; rest = rest / index_constant(s.reduce[i]))
    to[rank + i] = rest % index_constant(s.reduce[i]);
  for (size_t i = a + 1; i < s.reduce.size(); ++i) to[rank + i] = axis(rank + 2 + static_cast<int>(i - a - 1));
  made.stage.body = simplify(substitute_axes(s.body, to), made.stage.extents());
  return made;
}

class Splitter {
 public:
  Splitter(const Group& group, int64_t parts) : group_(group), parts_(parts) {
    result_.name = group.name;
    result_.tensors = group.tensors;
  }

  Group run(const std::function<bool(size_t)>& chosen) {
    const std::vector<GroupStage>& stages = group_.stages;
    for (size_t s = 0; s < stages.size(); ++s) {
      if (!chosen(s)) {
        result_.stages.push_back(stages[s]);
      } else if (s + 1 < stages.size() && are_moments(stages[s], stages[s + 1]) && has_chunks(stages[s])) {
        const auto chunked = [&](size_t which) {
          const auto cut = in_chunks(stages[which]);
          return cut ? *cut : stages[which];
        };
        const bool rest = s + 2 < stages.size() && is_rest(stages[s], stages[s + 1], stages[s + 2]);
        split_moments(chunked(s), chunked(s + 1), rest ? std::optional(chunked(s + 2)) : std::nullopt);
        s += rest ? 2 : 1;
      } else {
        split(stages[s]);
      }
    }
    return std::move(result_);
  }

  // Can a program hold a chunk of this stage's rows?
  bool has_chunks(const GroupStage& stage) const {
    const auto cut = in_chunks(stage);
    return even_chunk(cut ? cut->stage : stage.stage) > 0;
  }

 private:
  struct Cut {
    int64_t parts, chunk;  // of the first reduce axis
  };

  Cut cut(const Stage& s, int64_t chunk) const {
    const int64_t parts = blocks(s.reduce[0], chunk);
    return {parts, blocks(s.reduce[0], parts)};
  }
  int64_t usual_chunk(const Stage& s) const {
    const int64_t wanted =
        parts_ > 0 ? parts_ : std::max<int64_t>(2, kEnoughRows / std::max<int64_t>(1, s.type.elements()));
    return blocks(s.reduce[0], std::min(wanted, s.reduce[0]));
  }
  // The longest chunk without a rest that a program can hold; 0: there is none worth it.
  int64_t even_chunk(const Stage& s) const {
    const int64_t each = product(s.reduce) / s.reduce[0];
    int64_t chunk = std::min(usual_chunk(s), kChunk / std::max<int64_t>(each, 1));
    const int64_t least = chunk / 4;
    while (chunk > least && s.reduce[0] % chunk != 0) --chunk;
    return chunk > least ? chunk : 0;
  }

  int scratch(const std::string& name, const TensorType& type) {
    result_.tensors.push_back(
        {GroupTensor::Role::scratch, kNoValue, name, type, contiguous_strides(type.shape), false});
    return static_cast<int>(result_.tensors.size()) - 1;
  }

  // partial[.., p] = combine over chunk p of `body`, a new scratch tensor.
  int partial(const GroupStage& whole, const Cut& cut, const ExprP& whole_body) {
    const Stage& s = whole.stage;
    const int rank = s.rank();
    GroupStage made = whole;
    made.contraction.reset();
    made.stage.name = s.name + "_partial";
    made.stage.type = {s.body->dtype, s.type.shape};
    made.stage.type.shape.push_back(cut.parts);
    made.stage.reduce[0] = cut.chunk;
    std::vector<ExprP> axes = axes_to(rank);
    const ExprP at = axis(rank) * index_constant(cut.chunk) + axis(rank + 1);
    axes.push_back(at);
    for (size_t i = 1; i < s.reduce.size(); ++i) axes.push_back(axis(rank + 1 + static_cast<int>(i)));
    ExprP body = substitute_axes(whole_body, axes);
    if (cut.parts * cut.chunk != s.reduce[0]) {
      const ExprP inside = call(Fn::lt, {at, index_constant(s.reduce[0])});
      body = transform_loads(body, [&](const ExprP& e) -> ExprP {
        return load(e->tensor, e->dtype, e->args, e->guard ? call(Fn::logical_and, {inside, e->guard}) : inside,
                    e->other ? e->other : constant(e->dtype, 0));
      });
      body = select(inside, body, neutral(s.combine, s.body->dtype));
    }
    made.stage.body = simplify(body, made.stage.extents());
    made.dest = scratch(group_.tensors[whole.dest].name + "_partial", made.stage.type);
    result_.stages.push_back(made);
    return made.dest;
  }

  // The stage itself, over partial results.
  void combined(const GroupStage& whole, const Cut& cut, const ExprP& body) {
    GroupStage rest = whole;
    rest.contraction.reset();
    rest.stage.reduce = {cut.parts};
    rest.stage.body = body;
    result_.stages.push_back(std::move(rest));
  }

  // r = combine over k of f(k)  becomes  partial[p] = combine over chunk p of f, r = combine over p of partial[p].
  void split(const GroupStage& whole) {
    const Cut chunks = cut(whole.stage, usual_chunk(whole.stage));
    const int dest = partial(whole, chunks, whole.stage.body);
    combined(whole, chunks, load(dest, whole.stage.body->dtype, axes_to(whole.stage.rank() + 1)));
  }

  // Both moments of a chunk in one launch, about the chunk's own mean; then squares grow by how far the chunks' means
  // are from the whole's (Chan, Golub and LeVeque, 1979).
  void split_moments(const GroupStage& sum, const GroupStage& squares, const std::optional<GroupStage>& rest) {
    const Stage& s = sum.stage;
    const DType dtype = s.body->dtype;
    const Cut chunks = cut(s, even_chunk(s));
    const int rank = s.rank();
    const auto count = [&](int64_t n) { return constant(dtype, static_cast<double>(n)); };
    const int64_t each = product(s.reduce) / chunks.parts;
    const int sums = partial(sum, chunks, s.body);
    const ExprP x = s.body->args[0], start = s.body->args[1];
    // Written over the whole's axes: which chunk it is, is read off the first reduce axis.
    std::vector<ExprP> own = axes_to(rank);
    own.push_back(axis(rank) / index_constant(chunks.chunk));
    const ExprP difference = x - (start + load(sums, dtype, own) / count(each));
    const int around = partial(squares, chunks, difference * difference);
    const int rests = rest ? partial(*rest, chunks, difference) : -1;
    const std::vector<ExprP> at = axes_to(rank + 1);
    combined(sum, chunks, load(sums, dtype, at));
    const ExprP off =
        load(sums, dtype, at) / count(each) - load(sum.dest, s.type.dtype, axes_to(rank)) / count(product(s.reduce));
    combined(squares, chunks, load(around, dtype, at) + off * off * count(each));
    if (!rest) return;
    // As both means were rounded: how far they are apart is not rounded again.
    const ExprP apart = (start + load(sums, dtype, at) / count(each)) -
                        (start + load(sum.dest, s.type.dtype, axes_to(rank)) / count(product(s.reduce)));
    combined(*rest, chunks, load(rests, dtype, at) + apart * count(each));
  }

  const Group& group_;
  int64_t parts_;
  Group result_;
};

}  // namespace

bool lies_together(const Group& group, const Stage& s) {
  int64_t largest = 0;
  bool together = false;
  for (const Expr* e : loads_of(s.body)) {
    const GroupTensor& tensor = group.tensors[e->tensor];
    if (tensor.type.elements() <= largest) continue;
    largest = tensor.type.elements();
    const Affine form =
        affine(simplify(flat_index(e->args, tensor.strides), s.extents()), static_cast<int>(s.extents().size()));
    together = form.ok && form.coefficients.back() == 1;
  }
  return together;
}

bool are_moments(const GroupStage& sum, const GroupStage& squares) {
  if (sum.stage.combine != Combine::sum || squares.stage.combine != Combine::sum) return false;
  if (sum.stage.type != squares.stage.type || sum.stage.reduce != squares.stage.reduce) return false;
  const auto is = [](const ExprP& e, Fn fn) { return e->kind == Expr::Kind::call && e->fn == fn; };
  const Expr* difference = squared(*squares.stage.body);
  if (!difference || difference->kind != Expr::Kind::call || difference->fn != Fn::sub) return false;
  const ExprP& mean = difference->args[1];
  if (!is(mean, Fn::add) || !is(mean->args[1], Fn::div)) return false;
  const ExprP& total = mean->args[1]->args[0];
  const ExprP& count = mean->args[1]->args[1];
  return total->kind == Expr::Kind::load && total->tensor == sum.dest && !total->guard && is_constant(count) &&
         count->number == static_cast<double>(product(sum.stage.reduce)) && is(sum.stage.body, Fn::sub) &&
         to_string(sum.stage.body->args[0]) == to_string(difference->args[0]) &&
         to_string(sum.stage.body->args[1]) == to_string(mean->args[0]);
}

bool is_rest(const GroupStage& sum, const GroupStage& squares, const GroupStage& stage) {
  const Stage& s = sum.stage;
  for (int a = s.rank(); a < static_cast<int>(s.extents().size()); ++a)
    if (uses_axis(s.body->args[1], a)) return false;
  return stage.stage.combine == Combine::sum && stage.stage.type == squares.stage.type &&
         stage.stage.reduce == squares.stage.reduce &&
         to_string(stage.stage.body) == to_string(squares.stage.body->args[0]);
}

bool may_split(const Group& group, size_t stage, const Hardware& hardware) {
  const GroupStage& one = group.stages[stage];
  const Stage& s = one.stage;
  if (!is_reduction(s.combine) || s.combine == Combine::argmax || s.combine == Combine::argmin) return false;
  const int64_t rows = s.type.elements(), k = product(s.reduce);
  if (one.contraction) return false;
  if (rows < kEnoughRows) return rows * k >= kWorthSplitting;
  return k >= long_row(hardware) && stage + 1 < group.stages.size() && are_moments(one, group.stages[stage + 1]) &&
         Splitter(group, 0).has_chunks(one);
}

bool splits(const Group& group, size_t stage, const Hardware& hardware) {
  if (!may_split(group, stage, hardware)) return false;
  const Stage& s = group.stages[stage].stage;
  return s.type.elements() < kEnoughHeldRows || product(s.reduce) > kHeld || !lies_together(group, s);
}

Group split_reductions(const Group& group, const std::function<bool(size_t)>& chosen, int64_t parts) {
  return Splitter(group, parts).run(chosen);
}

}  // namespace mtmc::triton
