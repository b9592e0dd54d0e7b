#include "targets/triton/attention.h"

#include <algorithm>
#include <cmath>

#include "targets/triton/contraction_printer.h"
#include "targets/triton/pack.h"

namespace mtmc::triton {

bool loads_only(const ExprP& e, const std::vector<int>& tensors) {
  const auto loads = loads_of(e);
  return !loads.empty() && std::all_of(loads.begin(), loads.end(), [&](const Expr* load) {
    return std::find(tensors.begin(), tensors.end(), load->tensor) != tensors.end();
  });
}

bool reads(const ExprP& e, int tensor) {
  const auto loads = loads_of(e);
  return std::any_of(loads.begin(), loads.end(), [&](const Expr* load) { return load->tensor == tensor; });
}

bool is_masked(const ExprP& f) {
  return is_fn(f, Fn::select) && is_constant(f->args[2]) && std::isinf(f->args[2]->number) && f->args[2]->number < 0;
}

AttentionAxes axes_of(const Group& group, const Attention& found) {
  const Stage& scores = group.stages[found.scores].stage;
  const Contraction& c = *group.stages[found.scores].contraction;
  const Stage& context = group.stages[found.context].stage;
  const Contraction& v = *group.stages[found.context].contraction;
  const int rank = scores.rank();
  AttentionAxes axes;
  axes.extents = scores.extents();  // batch.., m, t, d
  if (axes.extents.size() != static_cast<size_t>(rank) + 1) throw Unsupported{"attention over several axes"};
  axes.m = c.m[0], axes.t = c.n[0], axes.d = rank;
  axes.e = rank + 1;
  axes.extents.push_back(context.extents()[v.n[0]]);
  for (int a = 0; a < rank; ++a)
    if (a != axes.m && a != axes.t) axes.batch.push_back(a);
  const auto identity = [](int count) {
    std::vector<int> all;
    for (int a = 0; a < count; ++a) all.push_back(a);
    return all;
  };
  axes.of_stage[found.scores] = identity(rank + 1);
  if (found.softmax) axes.of_stage[found.weights] = identity(rank);
  for (int row : found.softmax ? std::vector<int>{found.largest, found.sum} : std::vector<int>{}) {
    const Stage& stage = group.stages[row].stage;
    if (stage.rank() != rank - 1 || stage.reduce.size() != 1) throw Unsupported{"attention whose rows are not rows"};
    std::vector<int> own;
    for (int a = 0; a < rank; ++a)
      if (a != axes.t) own.push_back(a);
    own.push_back(axes.t);
    axes.of_stage[row] = own;
  }
  for (int s = found.context; s <= found.last; ++s) {
    std::vector<int> own;
    for (int a = 0; a < context.rank(); ++a) own.push_back(a == v.n[0] ? axes.e : a == v.m[0] ? axes.m : -1);
    size_t next = 0;
    for (int& a : own)
      if (a < 0) a = next < axes.batch.size() ? axes.batch[next++] : throw Unsupported{"attention over other batches"};
    if (s == found.context) own.push_back(axes.t);
    for (int a = 0; a < context.rank(); ++a)
      if (axes.extents[own[a]] != context.type.shape[a]) throw Unsupported{"attention over other batches"};
    axes.of_stage[s] = own;
  }
  return axes;
}

namespace {

// Of heads: wider tiles of queries, keys and values leave room for sixteen rows. Two products and a softmax between
// them, through memory, cost less then, by the forecast.
constexpr int64_t kWidest = 256;
// Bytes of a query and a value together, where there is no softmax: two products through memory have larger tiles, and
// wider rows make up for what they read and write (by the forecast).
constexpr int64_t kWidestUnnormalised = 1024;

ExprP canonical(const AttentionAxes& axes, int s, const ExprP& e) {
  std::vector<ExprP> to;
  for (int a : axes.of_stage.at(s)) to.push_back(axis(a));
  return simplify(substitute_axes(e, to), axes.extents);
}

class Finder {
 public:
  explicit Finder(const Group& group) : group_(group) {}

  std::optional<Attention> run(int first) {
    Attention with_softmax{.scores = first, .largest = first + 1, .weights = first + 2, .sum = first + 3};
    with_softmax.context = with_softmax.last = first + 4;
    if (is_one_launch(with_softmax)) return with_softmax;
    Attention without{.scores = first, .context = first + 1, .last = first + 1, .softmax = false};
    if (is_one_launch(without)) return without;
    return std::nullopt;
  }

 private:
  const Stage& stage(int s) const { return group_.stages[s].stage; }
  int dest(int s) const { return group_.stages[s].dest; }

  bool is_one_launch(Attention& found) const {
    if (found.context >= static_cast<int>(group_.stages.size()) || !shaped(found)) return false;
    try {
      const AttentionAxes axes = axes_of(group_, found);
      if (std::max(axes.extents[axes.d], axes.extents[axes.e]) > kWidest) return false;
      if (found.softmax ? !computes(found, axes) : !weighs(found, axes)) return false;
      extend(found);
      if (!reads_alike(found, axes_of(group_, found))) return false;
    } catch (const Unsupported&) {
      return false;
    }
    for (int i = found.scores; i < found.context; ++i)
      if (group_.tensors[group_.stages[i].dest].role == GroupTensor::Role::write || read_after(i, found.last))
        return false;
    return true;
  }

  // The stages are of the right kinds, each over one axis of every role.
  bool shaped(const Attention& found) const {
    const auto& scores = group_.stages[found.scores].contraction;
    const auto& context = group_.stages[found.context].contraction;
    if (!scores || !context) return false;
    for (const auto* c : {&*scores, &*context})
      if (c->m.size() != 1 || c->n.size() != 1 || c->k.size() != 1) return false;
    if (!found.softmax) return scores->n[0] == stage(found.scores).rank() - 1;
    return stage(found.largest).combine == Combine::max && stage(found.sum).combine == Combine::sum &&
           stage(found.weights).combine == Combine::none && scores->n[0] == stage(found.scores).rank() - 1 &&
           stage(found.scores).type.shape == stage(found.weights).type.shape;
  }

  // exp(f - g(largest)), f the very expression whose maximum was taken; its sum; and the products of the weights, or of
  // the weights divided by exactly that sum.
  bool computes(Attention& found, const AttentionAxes& axes) const {
    const ExprP weights = canonical(axes, found.weights, stage(found.weights).body);
    const ExprP f = canonical(axes, found.largest, stage(found.largest).body);
    if (!is_fn(weights, Fn::exp) || !is_fn(weights->args[0], Fn::sub)) return false;
    if (!reads(f, dest(found.scores)) || to_string(weights->args[0]->args[0]) != to_string(f)) return false;
    if (!loads_only(weights->args[0]->args[1], {dest(found.largest)})) return false;
    const ExprP sum = canonical(axes, found.sum, stage(found.sum).body);
    if (sum->kind != Expr::Kind::load || sum->tensor != dest(found.weights) || sum->guard) return false;
    const Contraction& v = *group_.stages[found.context].contraction;
    const ExprP left = canonical(axes, found.context, v.left);
    found.normalised = is_fn(left, Fn::div);
    const ExprP& weight = found.normalised ? left->args[0] : left;
    if (found.normalised && (left->args[1]->kind != Expr::Kind::load || left->args[1]->tensor != dest(found.sum)))
      return false;
    return weight->kind == Expr::Kind::load && weight->tensor == dest(found.weights) && !weight->guard &&
           !reads(v.right, dest(found.weights)) && !reads(v.right, dest(found.scores));
  }

  // f32 also where an operand is in two f16 parts.
  DType type_of(const ExprP& operand) const {
    const ExprP e = narrow(operand);
    return e->kind == Expr::Kind::load && has_low_part(group_, e->tensor) ? DType::f32 : e->dtype;
  }

  // The products of what is made of the scores, where their operands are of one type.
  bool weighs(const Attention& found, const AttentionAxes& axes) const {
    const Contraction &scores = *group_.stages[found.scores].contraction,
                      &context = *group_.stages[found.context].contraction;
    const ExprP weights = canonical(axes, found.context, context.left);
    if (!reads(weights, dest(found.scores)) || reads(context.right, dest(found.scores))) return false;
    const DType type = type_of(context.right);
    for (const ExprP& e : {scores.left, scores.right, context.left})
      if (type_of(e) != type) return false;
    return (axes.extents[axes.d] + axes.extents[axes.e]) * bytes(type) <= kWidestUnnormalised;
  }

  // Pointwise stages of the result's shape that look at the result, not at scores or weights.
  void extend(Attention& found) const {
    for (int next = found.context + 1; next < static_cast<int>(group_.stages.size()); ++next) {
      if (stage(next).combine != Combine::none || stage(next).type.shape != stage(found.context).type.shape) return;
      if (reads(stage(next).body, dest(found.scores))) return;
      if (found.softmax && reads(stage(next).body, dest(found.weights))) return;
      found.last = next;
    }
  }

  // Whatever one of these stages makes, another reads at its own place.
  bool reads_alike(const Attention& found, const AttentionAxes& axes) const {
    for (int s = found.scores; s <= found.last; ++s) {
      const ExprP body = canonical(axes, s, stage(s).body);
      for (const Expr* e : loads_of(body))
        for (int p = found.scores; p < s; ++p) {
          if (dest(p) != e->tensor) continue;
          if (e->guard || static_cast<int>(e->args.size()) != stage(p).rank()) return false;
          for (int d = 0; d < stage(p).rank(); ++d)
            if (stage(p).type.shape[d] > 1 && to_string(e->args[d]) != to_string(axis(axes.of_stage.at(p)[d])))
              return false;
        }
    }
    return true;
  }

  bool read_after(int s, int last) const {
    for (size_t i = static_cast<size_t>(last) + 1; i < group_.stages.size(); ++i)
      if (reads(group_.stages[i].stage.body, dest(s))) return true;
    return false;
  }

  const Group& group_;
};

}  // namespace

std::optional<Attention> find_attention(const Group& group, int first) { return Finder(group).run(first); }

bool has_attention(const Group& group) {
  for (size_t s = 0; s < group.stages.size(); ++s)
    if (find_attention(group, static_cast<int>(s))) return true;
  return false;
}

}  // namespace mtmc::triton
