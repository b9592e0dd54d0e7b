#include "train/value_head.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <span>

namespace mtmc::train {
namespace {

constexpr int64_t kSizes[] = {1024, 512, 1};
constexpr const char* kNames[] = {"value.0", "value.1", "value.2"};

Tensors new_layers(int64_t width, const at::Device& device, Rng& rng) {
  Tensors all;
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    at::Tensor weight = at::empty({kSizes[i], width}, at::kFloat);
    // Uniform with the deviation that keeps ReLU's states (He et al. 2015); the last one begins near 0.
    const double bound = std::sqrt(6.0 / static_cast<double>(width)) * (kSizes[i] == 1 ? 0.01 : 1);
    for (float& x : std::span(weight.data_ptr<float>(), static_cast<size_t>(weight.numel())))
      x = static_cast<float>((2 * rng.uniform() - 1) * bound);
    all[std::string(kNames[i]) + ".weight"] = weight.to(device);
    all[std::string(kNames[i]) + ".bias"] = at::zeros({kSizes[i]}, all[std::string(kNames[i]) + ".weight"].options());
    width = kSizes[i];
  }
  return all;
}

}  // namespace

ValueHead::ValueHead(int64_t width, const at::Device& device, Rng& rng)
    : optimizer_(new_layers(width, device, rng), 0) {}

at::Tensor ValueHead::operator()(const at::Tensor& features) const {
  at::Tensor x = features;
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    const std::string name = kNames[i];
    x = at::linear(x, optimizer_.parameters().at(name + ".weight"), optimizer_.parameters().at(name + ".bias"));
    if (i + 1 < std::size(kSizes)) x = at::relu(x);
  }
  return x.squeeze(-1);
}

}  // namespace mtmc::train
