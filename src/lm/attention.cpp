// Each region is attended to by itself and the two are joined by their log-sum-exps. A probability is exp(score - joint
// log-sum-exp) in either region, so that a flash kernel's backward, given the joint result and log-sum-exp, has each
// region's gradients: nothing is kept but q, k, v, the result and a number a query. A fused kernel replaces
// `forward_regions` and `backward_regions`.
#include "lm/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>

namespace mtmc::lm {
namespace {

using at::Tensor;

struct Attended {
  Tensor out, lse;  // [B, H, Q, D] and [B, H, Q] in fp32
};
struct Gradients {
  Tensor q, k, v;
};

bool has_flash(const Tensor& q) {
  return q.is_cpu() || (q.is_cuda() && q.scalar_type() != at::kFloat && q.size(-1) % 8 == 0 && q.size(-1) <= 256);
}

Tensor scores(const Tensor& q, const Tensor& k, bool causal) {
  Tensor all = at::matmul(q, k.transpose(-1, -2)).to(at::kFloat) / std::sqrt(static_cast<double>(q.size(-1)));
  if (!causal) return all;
  const Tensor seen = at::ones({q.size(2), k.size(2)}, all.options().dtype(at::kBool)).tril();
  return all.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
}

// One region: q [B, H, Q, D], k and v [B, H, K, D].
Attended attend(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, AttentionKernel kernel) {
  if (kernel == AttentionKernel::plain || !has_flash(q)) {
    const Tensor all = scores(q, k, causal);
    const Tensor lse = at::logsumexp(all, -1);
    return {at::matmul((all - lse.unsqueeze(-1)).exp().to(v.scalar_type()), v), lse};
  }
  if (q.is_cpu()) {
    auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal);
    return {out, lse};
  }
  const auto all = at::_scaled_dot_product_flash_attention(q, k, v, 0.0, causal);
  return {std::get<0>(all), std::get<1>(all)};
}

// The gradients of one region; `out` and `lse` are those of both regions together.
Gradients attend_backward(const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                          const Tensor& lse, bool causal, AttentionKernel kernel) {
  if (kernel == AttentionKernel::plain || !has_flash(q)) {
    const Tensor p = (scores(q, k, causal) - lse.unsqueeze(-1)).exp();
    const Tensor row = (grad.to(at::kFloat) * out.to(at::kFloat)).sum(-1, true);
    const Tensor by_p = at::matmul(grad, v.transpose(-1, -2)).to(at::kFloat);
    const Tensor by_score = (p * (by_p - row) / std::sqrt(static_cast<double>(q.size(-1)))).to(q.scalar_type());
    return {at::matmul(by_score, k), at::matmul(by_score.transpose(-1, -2), q),
            at::matmul(p.to(q.scalar_type()).transpose(-1, -2), grad)};
  }
  if (q.is_cpu()) {
    auto [by_q, by_k, by_v] =
        at::_scaled_dot_product_flash_attention_for_cpu_backward(grad, q, k, v, out, lse, 0.0, causal);
    return {by_q, by_k, by_v};
  }
  const Tensor none = at::empty({0}, q.options().dtype(at::kInt)),
               seed = at::empty({2}, q.options().dtype(at::kUInt64));
  auto [by_q, by_k, by_v] = at::_scaled_dot_product_flash_attention_backward(grad, q, k, v, out, lse, {}, {}, q.size(2),
                                                                             k.size(2), 0.0, causal, seed, none);
  return {by_q, by_k, by_v};
}

// [N, H, R, D] -> [1, G, N (H/G) R, D]: all queries of all sequences that read one head of keys, beside each other.
Tensor fold(const Tensor& x, int64_t groups) {
  const auto n = x.size(0), h = x.size(1), r = x.size(2), d = x.size(3);
  return x.reshape({n, groups, h / groups, r, d}).transpose(0, 1).reshape({1, groups, n * (h / groups) * r, d});
}
Tensor unfold(const Tensor& x, const Tensor& like) {
  const auto n = like.size(0), h = like.size(1), r = like.size(2), groups = x.size(1);
  return x.reshape({groups, n, h / groups, r, x.size(-1)}).transpose(0, 1).reshape({n, h, r, x.size(-1)});
}

// Each head of keys once for every head of queries that reads it, and the sum over those.
Tensor repeat(const Tensor& x, int64_t heads) {
  const auto n = x.size(0), g = x.size(1), r = x.size(2), d = x.size(3);
  if (g == heads) return x;
  return x.unsqueeze(2).expand({n, g, heads / g, r, d}).reshape({n, heads, r, d});
}
Tensor sum_repeated(const Tensor& x, int64_t groups) {
  if (x.size(1) == groups) return x;
  return x.reshape({x.size(0), groups, x.size(1) / groups, x.size(2), x.size(3)}).sum(2);
}

Attended forward_regions(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& shared_k,
                         const Tensor& shared_v, AttentionKernel kernel) {
  const int64_t heads = q.size(1), groups = k.size(1);
  const Attended own = attend(q, repeat(k, heads), repeat(v, heads), true, kernel);
  if (shared_k.size(1) == 0) return own;
  Attended shared = attend(fold(q, groups), shared_k.unsqueeze(0), shared_v.unsqueeze(0), false, kernel);
  shared.out = unfold(shared.out, q);
  shared.lse = unfold(shared.lse.unsqueeze(-1), q).squeeze(-1);
  const Tensor lse = at::logaddexp(own.lse, shared.lse);
  const Tensor out =
      own.out * (own.lse - lse).exp().unsqueeze(-1) + shared.out * (shared.lse - lse).exp().unsqueeze(-1);
  return {out.to(q.scalar_type()), lse};
}

class TwoRegions : public torch::autograd::Function<TwoRegions> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& q, const Tensor& k, const Tensor& v,
                        const Tensor& shared_k, const Tensor& shared_v, int64_t kernel) {
    const Attended both = forward_regions(q, k, v, shared_k, shared_v, static_cast<AttentionKernel>(kernel));
    context->save_for_backward({q, k, v, shared_k, shared_v, both.out, both.lse});
    context->saved_data["kernel"] = kernel;
    return both.out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &shared_k = saved[3], &shared_v = saved[4];
    const Tensor &out = saved[5], &lse = saved[6], grad = grads[0].contiguous();
    const auto kernel = static_cast<AttentionKernel>(context->saved_data["kernel"].toInt());
    const int64_t heads = q.size(1), groups = k.size(1);
    const Gradients own = attend_backward(grad, q, repeat(k, heads), repeat(v, heads), out, lse, true, kernel);
    const Tensor by_k = sum_repeated(own.k, groups), by_v = sum_repeated(own.v, groups);
    if (shared_k.size(1) == 0) return {own.q, by_k, by_v, Tensor(), Tensor(), Tensor()};
    const Gradients shared =
        attend_backward(fold(grad, groups), fold(q, groups), shared_k.unsqueeze(0), shared_v.unsqueeze(0),
                        fold(out, groups), fold(lse.unsqueeze(-1), groups).squeeze(-1), false, kernel);
    return {own.q + unfold(shared.q, q), by_k, by_v, shared.k.squeeze(0), shared.v.squeeze(0), Tensor()};
  }
};

}  // namespace

Tensor two_region_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& shared_k,
                            const Tensor& shared_v, AttentionKernel kernel) {
  const Tensor none = shared_k.defined() ? Tensor() : at::empty({k.size(1), 0, k.size(3)}, k.options());
  return TwoRegions::apply(q, k, v, none.defined() ? none : shared_k, none.defined() ? none : shared_v,
                           static_cast<int64_t>(kernel));
}

}  // namespace mtmc::lm
