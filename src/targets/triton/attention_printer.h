// Attention as one launch: scores, row softmax and weighted values, block by block of keys, without the scores ever
// reaching memory (Dao et al., FlashAttention-2, 2023; online softmax: Milakov and Gimelshein, 2018).
#pragma once
#include <optional>

#include "targets/triton/launch.h"

namespace mtmc::triton {

// Stages of a group: scores[b,m,t] = sum_d q k; largest[b,m] = max_t f(scores); weights[b,m,t] = exp(f(scores) -
// largest); sum[b,m] = sum_t weights; context[b,m,e] = sum_t weights v, of weights or of weights / sum; then a
// pointwise epilogue.
struct Attention {
  int scores = 0, largest = 0, weights = 0, sum = 0, context = 0, last = 0;
  bool normalised = false;  // context is of weights / sum
};

// The attention that begins with stage `first`, if that is what the stages from there compute.
std::optional<Attention> find_attention(const Group& group, int first);
bool has_attention(const Group& group);

// `exact`: products of f32 operands keep f32's accuracy. `numbers`: "m", "n" (keys a block), "warps", "stages".
TritonLaunch print_attention(const Group& group, const Attention& attention, const std::string& name,
                             const Numbers& numbers);
std::vector<Numbers> attention_candidates(const Group& group, const Attention& attention);

}  // namespace mtmc::triton
