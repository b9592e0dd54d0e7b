#include "lm/log_probs.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace mtmc::lm {
namespace {

using at::Tensor;

constexpr int64_t kRows = 1024;

template <typename Body>
void each_part(int64_t rows, Body&& body) {
  for (int64_t from = 0; from < rows; from += kRows) body(from, std::min(kRows, rows - from));
}

class TokenLogProbs : public torch::autograd::Function<TokenLogProbs> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& hidden, const Tensor& head,
                        const Tensor& tokens) {
    std::vector<Tensor> parts;
    each_part(hidden.size(0), [&](int64_t from, int64_t rows) {
      const Tensor logits = at::matmul(hidden.narrow(0, from, rows), head.t()).to(at::kFloat);
      parts.push_back(logits.gather(1, tokens.narrow(0, from, rows).unsqueeze(1)).squeeze(1) -
                      at::logsumexp(logits, 1));
    });
    context->save_for_backward({hidden, head, tokens});
    return at::cat(parts);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &hidden = saved[0], &head = saved[1], &tokens = saved[2];
    const bool head_too = head.requires_grad();
    std::vector<Tensor> by_hidden;
    Tensor by_head = head_too ? at::zeros_like(head) : Tensor();
    each_part(hidden.size(0), [&](int64_t from, int64_t rows) {
      const Tensor part = hidden.narrow(0, from, rows);
      const Tensor grad = grads[0].narrow(0, from, rows).unsqueeze(1);
      Tensor by_logits = at::softmax(at::matmul(part, head.t()).to(at::kFloat), 1).mul_(-grad);
      by_logits.scatter_add_(1, tokens.narrow(0, from, rows).unsqueeze(1), grad);
      by_logits = by_logits.to(hidden.scalar_type());
      by_hidden.push_back(at::matmul(by_logits, head));
      if (head_too) by_head += at::matmul(by_logits.t(), part);
    });
    return {at::cat(by_hidden), by_head, Tensor()};
  }
};

}  // namespace

Tensor token_log_probs(const Tensor& hidden, const Tensor& head, const Tensor& tokens) {
  return TokenLogProbs::apply(hidden, head, tokens);
}

}  // namespace mtmc::lm
