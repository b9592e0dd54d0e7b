#include "train/adamw.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

namespace mtmc::train {

namespace {
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
}

AdamW::AdamW(Tensors parameters, double weight_decay)
    : parameters_(std::move(parameters)), weight_decay_(weight_decay) {
  for (auto& [name, tensor] : parameters_) {
    MTMC_CHECK(tensor.scalar_type() == at::kFloat, "what is trained is fp32");
    tensor.requires_grad_(true);
    first_[name] = at::zeros_like(tensor).set_requires_grad(false);
    second_[name] = at::zeros_like(tensor).set_requires_grad(false);
    steps_[name] = at::zeros({}, first_[name].options());
  }
}

void AdamW::forget_gradients() {
  for (auto& [name, tensor] : parameters_) tensor.mutable_grad() = at::Tensor();
}

Result<double> AdamW::step(double rate, double most_norm, Processes& processes) {
  const at::AutoGradMode no_grad(false);
  std::vector<at::Tensor> tensors, gradients, first, second, steps;
  for (auto& [name, tensor] : parameters_) {
    tensors.push_back(tensor);
    gradients.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
    steps_.at(name).add_(1);
    first.push_back(first_.at(name)), second.push_back(second_.at(name)), steps.push_back(steps_.at(name));
  }
  MTMC_RETURN_IF_ERROR(processes.sum(gradients));
  double squares = 0;
  for (const at::Tensor& gradient : gradients) squares += gradient.to(at::kDouble).square().sum().item<double>();
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm))
    return Error{"training", "the gradients are not finite", "", "a smaller --lr, or other data"};
  if (norm > most_norm)
    for (at::Tensor& gradient : gradients) gradient.mul_(most_norm / norm);
  at::_fused_adamw_(tensors, gradients, first, second, {}, steps, rate, kBeta1, kBeta2, weight_decay_, kEpsilon, false,
                    false);
  forget_gradients();
  return norm;
}

Tensors AdamW::state() const {
  Tensors all;
  for (const auto& [name, tensor] : parameters_) {
    all["weight." + name] = tensor;
    all["first." + name] = first_.at(name);
    all["second." + name] = second_.at(name);
    all["steps." + name] = steps_.at(name);
  }
  return all;
}

}  // namespace mtmc::train
