// The log-probability of one token at each place, without keeping the logits of the whole vocabulary.
#pragma once
#include <ATen/core/Tensor.h>

namespace mtmc::lm {

// hidden [M, W], head [V, W], tokens [M] int64 -> [M] fp32: log softmax(hidden head^T) at the tokens. Differentiates by
// hidden and head; a thousand rows of logits exist at a time, in backward once more.
at::Tensor token_log_probs(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& tokens);

}  // namespace mtmc::lm
