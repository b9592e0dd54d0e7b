// Causal attention over two regions: a prompt that all sequences share, and each sequence's own tokens (the idea of
// DualKV, arXiv 2605.15422). The prompt's keys and values are read once for all sequences, and its gradients are summed
// where they arise.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace mtmc::lm {

// `plain` is written out in products and a softmax, for devices and types without a flash kernel and to test the
// others.
enum class AttentionKernel { fastest, plain };

// q [N, H, R, D]; k, v [N, G, R, D], the sequences' own, causal; shared_k, shared_v [G, P, D], seen by every query, or
// undefined. H is a multiple of G (grouped queries). Softmax of q k / sqrt(D) over both regions at once, in fp32;
// returns [N, H, R, D] and differentiates by all five. Equal to attention over N copies of the prompt.
at::Tensor two_region_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                const at::Tensor& shared_k, const at::Tensor& shared_v,
                                AttentionKernel kernel = AttentionKernel::fastest);

// Several prompts and their actions in one row of tokens: all prompts, then the first one's actions, the second's, ...
struct Packing {
  // `prompts`: tokens of each, one at least; `actions`: of each prompt's actions, none or more.
  Packing(std::vector<int64_t> prompts, std::vector<std::vector<int64_t>> actions, at::Device device);

  int64_t prompt_tokens() const;  // where actions begin
  int64_t tokens() const;
  // [T] fp32: how many tokens each one has before it in its sequence.
  at::Tensor places() const;
  // [T, T] fp32, 0 where a token sees another and else -inf.
  at::Tensor unseen() const;

  std::vector<int64_t> prompts;
  std::vector<std::vector<int64_t>> actions;
  // [parts + 1] int32 on the device: where each part begins, counted from the first prompt or the first action.
  at::Tensor prompt_ends, decision_ends, action_ends;
  at::Tensor
      standing;  // [3, T] int32 on the device: each token's place, prompt and action (of all; 0: it is the prompt's)
  int64_t longest_prompt = 0, longest_decision = 0, longest_action = 0;
  bool masked = false;  // a model's pass takes masked_attention
};

// q [H, T, D]; k, v [G, T, D] of such a row: prompts are causal, an action's tokens see its prompt and, causally, each
// other. Returns [H, T, D]. Equal to two_region_attention of each prompt with its actions; on a GPU three flash
// kernels for all of them, in half precision also where q is in fp32, as a training on many decisions is.
at::Tensor packed_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Packing& packing);
// Does that take flash kernels on this device for this type, which read nothing of a packing but tensors and bounds?
bool has_packed_kernels(at::Device device, at::ScalarType type, int64_t head_width);

// The same as one product of all with all, less what is `unseen`: exact in fp32 on a GPU, too, for rows that are short.
at::Tensor masked_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& unseen);

}  // namespace mtmc::lm
