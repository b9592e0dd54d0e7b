// Attention among the stages of a group.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "targets/triton/tile.h"

namespace mtmc::triton {

// Stages of a group: scores[b,m,t] = sum_d q k; largest[b,m] = max_t f(scores); weights[b,m,t] = exp(f(scores) -
// largest); sum[b,m] = sum_t weights; context[b,m,e] = sum_t weights v, of weights or of weights / sum; then a
// pointwise epilogue. Or without a softmax, as in linear attention, retention, state spaces in their parallel form and
// MLPs of few features: context[b,m,e] = sum_t f(scores) v.
struct Attention {
  int scores = 0, largest = 0, weights = 0, sum = 0, context = 0, last = 0;
  bool softmax = true;      // else largest, weights and sum are none of the stages
  bool normalised = false;  // context is of weights / sum
};

// The attention that begins with stage `first`, if that is what the stages from there compute.
std::optional<Attention> find_attention(const Group& group, int first);
bool has_attention(const Group& group);

// Axes of the launch: batch, M, T (keys), D (of queries and keys), E (of values).
struct AttentionAxes {
  std::vector<int64_t> extents;
  std::vector<int> batch;
  int m = 0, t = 0, d = 0, e = 0;
  std::map<int, std::vector<int>> of_stage;  // stage -> axis of the launch for each of its axes
};

// Throws Unsupported where the stages have no such axes.
AttentionAxes axes_of(const Group& group, const Attention& found);

inline bool is_fn(const ExprP& e, Fn fn) { return e->kind == Expr::Kind::call && e->fn == fn; }
bool reads(const ExprP& e, int tensor);
// Whether it reads tensors, and these only.
bool loads_only(const ExprP& e, const std::vector<int>& tensors);
// A score that stands where a condition holds, and is masked elsewhere: select(condition, score, -inf).
bool is_masked(const ExprP& f);

}  // namespace mtmc::triton
