// Each region is attended to by itself and the two are joined by their log-sum-exps. A probability is exp(score - joint
// log-sum-exp) in either region, so that a flash kernel's backward, given the joint result and log-sum-exp, has each
// region's gradients: nothing is kept but q, k, v, the result and a number a query. A fused kernel replaces
// `forward_regions` and `backward_regions`.
#include "lm/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mtmc::lm {
namespace {

using at::Tensor;

struct Attended {
  Tensor out, lse;  // [B, H, Q, D] and [B, H, Q] in fp32
};
struct Gradients {
  Tensor q, k, v;
};

bool has_flash(const Tensor& q) { return q.is_cpu() || has_packed_kernels(q.device(), q.scalar_type(), q.size(-1)); }

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

// Sequences of several lengths beside each other, [T, H, D], as flash kernels take them.
struct Lengths {
  const Tensor& ends;
  int64_t longest;
};

Attended flash(const Tensor& q, const Tensor& k, const Tensor& v, const Lengths& queries, const Lengths& keys,
               bool causal) {
  const auto all =
      at::_flash_attention_forward(q, k, v, queries.ends, keys.ends, queries.longest, keys.longest, 0.0, causal, false);
  return {std::get<0>(all), std::get<1>(all)};
}

Gradients flash_backward(const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                         const Tensor& lse, const Lengths& queries, const Lengths& keys, bool causal) {
  const Tensor none = at::empty({0}, q.options().dtype(at::kInt)),
               seed = at::empty({2}, q.options().dtype(at::kUInt64));
  auto [by_q, by_k, by_v] = at::_flash_attention_backward(grad, q, k, v, out, lse, queries.ends, keys.ends,
                                                          queries.longest, keys.longest, 0.0, causal, seed, none);
  return {by_q, by_k, by_v};
}

// A row of prompts and actions by three kernels: prompts, actions over their prompts, actions over themselves.
class PackedFlash : public torch::autograd::Function<PackedFlash> {
 public:
  // q [T, H, D]; k, v [T, G, D]; `ends`: those of the packing.
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& q, const Tensor& k, const Tensor& v,
                        const Tensor& prompt_ends, const Tensor& decision_ends, const Tensor& action_ends,
                        std::vector<int64_t> sizes) {
    const int64_t p = sizes[0], own = q.size(0) - p;
    const Lengths prompts{prompt_ends, sizes[1]}, decisions{decision_ends, sizes[2]}, actions{action_ends, sizes[3]};
    const Tensor pk = k.narrow(0, 0, p), pv = v.narrow(0, 0, p);
    Attended all = flash(q.narrow(0, 0, p), pk, pv, prompts, prompts, true);
    if (own > 0) {
      const Tensor aq = q.narrow(0, p, own);
      const Attended shared = flash(aq, pk, pv, decisions, prompts, false);
      const Attended among = flash(aq, k.narrow(0, p, own), v.narrow(0, p, own), actions, actions, true);
      const Tensor lse = at::logaddexp(among.lse, shared.lse);  // [H, T]
      const auto part = [&](const Attended& one) { return one.out * (one.lse - lse).exp().t().unsqueeze(-1); };
      all.out = at::cat({all.out, (part(among) + part(shared)).to(q.scalar_type())});
      all.lse = at::cat({all.lse, lse}, 1);
    }
    context->save_for_backward({q, k, v, all.out, all.lse, prompt_ends, decision_ends, action_ends});
    context->saved_data["sizes"] = sizes;
    return all.out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &out = saved[3], &lse = saved[4];
    const std::vector<int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const int64_t p = sizes[0], own = q.size(0) - p;
    const Lengths prompts{saved[5], sizes[1]}, decisions{saved[6], sizes[2]}, actions{saved[7], sizes[3]};
    const Tensor grad = grads[0].contiguous(), pk = k.narrow(0, 0, p), pv = v.narrow(0, 0, p);
    Gradients all = flash_backward(grad.narrow(0, 0, p), q.narrow(0, 0, p), pk, pv, out.narrow(0, 0, p),
                                   lse.narrow(1, 0, p).contiguous(), prompts, prompts, true);
    if (own > 0) {
      const Tensor aq = q.narrow(0, p, own), by = grad.narrow(0, p, own), of = out.narrow(0, p, own),
                   joint = lse.narrow(1, p, own).contiguous();
      const Gradients shared = flash_backward(by, aq, pk, pv, of, joint, decisions, prompts, false);
      const Gradients among =
          flash_backward(by, aq, k.narrow(0, p, own), v.narrow(0, p, own), of, joint, actions, actions, true);
      all = {at::cat({all.q, among.q + shared.q}), at::cat({all.k + shared.k, among.k}),
             at::cat({all.v + shared.v, among.v})};
    }
    return {all.q, all.k, all.v, Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

// The actions of one prompt, [H, tokens, D] after each other, as rows padded to one length: [N, H, R, D].
struct Padding {
  Padding(const std::vector<int64_t>& lengths, const Tensor& like) {
    count = static_cast<int64_t>(lengths.size()), longest = *std::max_element(lengths.begin(), lengths.end());
    std::vector<int64_t> from, back;
    int64_t start = 0;
    for (int64_t i = 0; i < count; start += lengths[static_cast<size_t>(i)], ++i)
      for (int64_t j = 0; j < longest; ++j) {
        const bool there = j < lengths[static_cast<size_t>(i)];
        from.push_back(there ? start + j : 0);
        if (there) back.push_back(i * longest + j);
      }
    padded = at::tensor(from, at::kLong).to(like.device()), packed = at::tensor(back, at::kLong).to(like.device());
  }
  Tensor rows(const Tensor& x) const {
    return at::index_select(x, 1, padded).view({x.size(0), count, longest, x.size(2)}).transpose(0, 1);
  }
  Tensor tokens(const Tensor& rows) const { return at::index_select(rows.transpose(0, 1).flatten(1, 2), 1, packed); }

  int64_t count, longest;
  Tensor padded, packed;
};

int64_t sum(const std::vector<int64_t>& all) { return std::accumulate(all.begin(), all.end(), int64_t{0}); }

Tensor ends_of(const std::vector<int64_t>& lengths, at::Device device) {
  std::vector<int> ends = {0};
  for (const int64_t length : lengths) ends.push_back(ends.back() + static_cast<int>(length));
  return at::tensor(ends, at::kInt).to(device);
}

int64_t longest_of(const std::vector<int64_t>& lengths) {
  // A single query is another kernel, whose log-sum-exps lie in another order.
  return lengths.empty() ? 2 : std::max<int64_t>(2, *std::max_element(lengths.begin(), lengths.end()));
}

}  // namespace

Tensor two_region_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& shared_k,
                            const Tensor& shared_v, AttentionKernel kernel) {
  const Tensor none = shared_k.defined() ? Tensor() : at::empty({k.size(1), 0, k.size(3)}, k.options());
  return TwoRegions::apply(q, k, v, none.defined() ? none : shared_k, none.defined() ? none : shared_v,
                           static_cast<int64_t>(kernel));
}

bool has_packed_kernels(at::Device device, at::ScalarType type, int64_t head_width) {
  return device.is_cuda() && type != at::kFloat && head_width % 8 == 0 && head_width <= 256;
}

Packing::Packing(std::vector<int64_t> of_prompts, std::vector<std::vector<int64_t>> of_actions, at::Device device)
    : prompts(std::move(of_prompts)), actions(std::move(of_actions)) {
  std::vector<int64_t> decisions, each;
  for (const auto& some : actions) {
    decisions.push_back(sum(some));
    each.insert(each.end(), some.begin(), some.end());
  }
  prompt_ends = ends_of(prompts, device), decision_ends = ends_of(decisions, device),
  action_ends = ends_of(each, device);
  std::vector<int> place, prompt, action;
  const auto add = [&](int64_t from, int64_t length, size_t of, int number) {
    for (int64_t i = 0; i < length; ++i)
      place.push_back(static_cast<int>(from + i)), prompt.push_back(static_cast<int>(of)), action.push_back(number);
  };
  for (size_t i = 0; i < prompts.size(); ++i) add(0, prompts[i], i, 0);
  int number = 0;
  for (size_t i = 0; i < actions.size(); ++i)
    for (const int64_t length : actions[i]) add(prompts[i], length, i, ++number);
  place.insert(place.end(), prompt.begin(), prompt.end());
  place.insert(place.end(), action.begin(), action.end());
  standing = at::tensor(place, at::kInt).view({3, -1}).to(device);
  longest_prompt = longest_of(prompts), longest_decision = longest_of(decisions), longest_action = longest_of(each);
}

int64_t Packing::prompt_tokens() const { return sum(prompts); }

int64_t Packing::tokens() const {
  int64_t all = prompt_tokens();
  for (const auto& some : actions) all += sum(some);
  return all;
}

Tensor Packing::places() const { return standing[0].to(at::kFloat); }

Tensor Packing::unseen() const {
  const Tensor place = standing[0], prompt = standing[1], action = standing[2];
  const auto column = [](const Tensor& x) { return x.unsqueeze(1); };  // of the token that sees
  const Tensor of_its_own = prompt == column(prompt), before = place <= column(place),
               of_the_prompt_or_action = (action == 0).logical_or(action == column(action));
  const Tensor seen = of_its_own.logical_and(before).logical_and(of_the_prompt_or_action);
  return at::zeros(seen.sizes(), seen.options().dtype(at::kFloat))
      .masked_fill_(seen.logical_not(), -std::numeric_limits<double>::infinity());
}

Tensor masked_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& unseen) {
  const auto of_all_heads = [&](const Tensor& x) { return repeat(x.unsqueeze(0), q.size(0)).squeeze(0); };
  const Tensor all = at::matmul(q, of_all_heads(k).transpose(-1, -2)).to(at::kFloat);
  const Tensor p = at::softmax(all.div(std::sqrt(static_cast<double>(q.size(-1)))).add_(unseen), -1);
  return at::matmul(p.to(v.scalar_type()), of_all_heads(v));
}

Tensor packed_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Packing& packing) {
  const at::ScalarType half = q.scalar_type() == at::kFloat ? at::kBFloat16 : q.scalar_type();
  if (has_packed_kernels(q.device(), half, q.size(-1))) {
    const std::vector<int64_t> sizes = {packing.prompt_tokens(), packing.longest_prompt, packing.longest_decision,
                                        packing.longest_action};
    const auto row = [&](const Tensor& x) { return x.to(half).transpose(0, 1); };
    return PackedFlash::apply(row(q), row(k), row(v), packing.prompt_ends, packing.decision_ends, packing.action_ends,
                              sizes)
        .transpose(0, 1)
        .to(q.scalar_type());
  }
  std::vector<Tensor> of_prompts, of_actions;
  int64_t prompt = 0, action = packing.prompt_tokens();
  for (size_t i = 0; i < packing.prompts.size(); ++i) {
    const int64_t length = packing.prompts[i], own = sum(packing.actions[i]);
    const Tensor pk = k.narrow(1, prompt, length), pv = v.narrow(1, prompt, length);
    of_prompts.push_back(
        two_region_attention(q.narrow(1, prompt, length).unsqueeze(0), pk.unsqueeze(0), pv.unsqueeze(0), {}, {})
            .squeeze(0));
    if (own > 0) {
      const Padding padding(packing.actions[i], q);
      const auto rows = [&](const Tensor& x) { return padding.rows(x.narrow(1, action, own)); };
      of_actions.push_back(padding.tokens(two_region_attention(rows(q), rows(k), rows(v), pk, pv)));
    }
    prompt += length, action += own;
  }
  of_prompts.insert(of_prompts.end(), of_actions.begin(), of_actions.end());
  return at::cat(of_prompts, 1);
}

}  // namespace mtmc::lm
