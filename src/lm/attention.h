// Causal attention over two regions: a prompt that all sequences share, and each sequence's own tokens (the idea of
// DualKV, arXiv 2605.15422). The prompt's keys and values are read once for all sequences, and its gradients are summed
// where they arise.
#pragma once
#include <ATen/core/Tensor.h>

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

}  // namespace mtmc::lm
