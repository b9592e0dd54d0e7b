#include "lm/attention.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>

#include "lm/log_probs.h"
#include "lm/world.h"

namespace mtmc::lm {
namespace {

using at::Tensor;
using testing::difference;

// Every sequence with a prompt of its own, in double.
Tensor reference(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& shared_k, const Tensor& shared_v) {
  const int64_t n = q.size(0), repeats = q.size(1) / k.size(1), r = q.size(2), p = shared_k.size(1);
  const auto whole = [&](const Tensor& shared, const Tensor& own) {
    return at::cat({shared.unsqueeze(0).expand({n, -1, -1, -1}), own}, 2).repeat_interleave(repeats, 1);
  };
  Tensor scores = at::matmul(q, whole(shared_k, k).transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor seen = at::ones({r, p + r}, q.options().dtype(at::kBool)).tril(p);
  scores = scores.masked_fill(seen.logical_not(), -1e300);
  return at::matmul(at::softmax(scores, -1), whole(shared_v, v));
}

class TorchAttention : public ::testing::TestWithParam<AttentionKernel> {};

TEST_P(TorchAttention, IsAttentionOverCopiesOfThePrompt) {
  at::manual_seed(1);
  const auto draw = [](std::vector<int64_t> shape) { return at::randn(shape, at::kDouble).set_requires_grad(true); };
  const std::vector<Tensor> exact = {draw({3, 6, 5, 8}), draw({3, 2, 5, 8}), draw({3, 2, 5, 8}), draw({2, 37, 8}),
                                     draw({2, 37, 8})};
  std::vector<Tensor> x;
  for (const Tensor& t : exact) x.push_back(t.detach().to(at::kFloat).set_requires_grad(true));
  const Tensor wanted = reference(exact[0], exact[1], exact[2], exact[3], exact[4]);
  const Tensor got = two_region_attention(x[0], x[1], x[2], x[3], x[4], GetParam());
  EXPECT_LT(difference(got, wanted), 1e-6);
  const Tensor weights = at::randn(wanted.sizes(), at::kDouble);
  (wanted * weights).sum().backward();
  (got * weights.to(at::kFloat)).sum().backward();
  for (size_t i = 0; i < x.size(); ++i) EXPECT_LT(difference(x[i].grad(), exact[i].grad()), 2e-6) << i;
}

TEST_P(TorchAttention, NeedsNoPrompt) {
  at::manual_seed(2);
  const Tensor q = at::randn({2, 4, 7, 8}), k = at::randn({2, 2, 7, 8}), v = at::randn({2, 2, 7, 8});
  const Tensor none = at::randn({2, 0, 8}, at::kDouble);
  const Tensor wanted = reference(q.to(at::kDouble), k.to(at::kDouble), v.to(at::kDouble), none, none);
  EXPECT_LT(difference(two_region_attention(q, k, v, {}, {}, GetParam()), wanted), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(TorchKernels, TorchAttention,
                         ::testing::Values(AttentionKernel::fastest, AttentionKernel::plain), [](const auto& kernel) {
                           return kernel.param == AttentionKernel::plain ? "plain" : "fastest";
                         });

TEST(TorchPacking, AsOneProductIsTheSame) {
  at::manual_seed(4);
  const Packing packing({9, 1, 5}, {{3, 0, 2}, {}, {4}}, at::kCPU);
  const Tensor q = at::randn({6, 24, 8}), k = at::randn({2, 24, 8}), v = at::randn({2, 24, 8});
  EXPECT_LT(difference(masked_attention(q, k, v, packing.unseen()), packed_attention(q, k, v, packing)), 1e-6);
}

TEST(TorchLogProbs, AreLogSoftmaxWithItsGradients) {
  at::manual_seed(3);
  const Tensor hidden = at::randn({1500, 6}).set_requires_grad(true), head = at::randn({11, 6}).set_requires_grad(true);
  const Tensor tokens = at::randn({1500}).abs().mul(1000).to(at::kLong).remainder(11),
               weights = at::randn({1500}, at::kDouble);
  const Tensor exact_hidden = hidden.detach().to(at::kDouble).set_requires_grad(true);
  const Tensor exact_head = head.detach().to(at::kDouble).set_requires_grad(true);
  const Tensor wanted =
      at::log_softmax(at::matmul(exact_hidden, exact_head.t()), 1).gather(1, tokens.unsqueeze(1)).squeeze(1);
  const Tensor got = token_log_probs(hidden, head, tokens);
  EXPECT_LT(difference(got, wanted), 1e-6);
  (wanted * weights).sum().backward();
  (got * weights.to(at::kFloat)).sum().backward();
  EXPECT_LT(difference(hidden.grad(), exact_hidden.grad()), 1e-5);
  EXPECT_LT(difference(head.grad(), exact_head.grad()), 1e-5);
}

}  // namespace
}  // namespace mtmc::lm
