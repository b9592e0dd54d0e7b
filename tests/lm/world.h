// The tiny models of make_models.py, opened.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "lm/model.h"
#include "support/source_dir.h"

namespace mtmc::lm::testing {

inline std::string data(const std::string& name) { return source_dir() + "/tests/lm/data/" + name; }

inline Model open(const std::string& name, at::ScalarType dtype = at::kFloat) {
  const auto checkpoint = open_checkpoint(data(name));
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().message();
  return Model::load(*checkpoint, {at::kCPU, dtype}).value();
}

// Of random weights, with heads of 64 numbers, which a GPU's flash kernels take.
inline Model wide(const Placement& placement) {
  Checkpoint checkpoint;
  checkpoint.config = {.architecture = "llama",
                       .vocabulary = 424,
                       .width = 192,
                       .inner = 256,
                       .layers = 2,
                       .heads = 6,
                       .kv_heads = 2,
                       .head_width = 64,
                       .context = 4096,
                       .rope = {},
                       .tied = true,
                       .end = {}};
  std::vector<std::vector<float>> numbers;
  Rng rng(1);
  for (const auto& [name, shape] : weights_of(checkpoint.config)) {
    StoredTensor& tensor = checkpoint.tensors[name];
    tensor.shape = shape;
    auto& drawn = numbers.emplace_back(static_cast<size_t>(tensor.count()));
    for (float& x : drawn) x = static_cast<float>((shape.size() == 1 ? 1 : 0) + (rng.uniform() - 0.5) * 0.2);
    tensor.bytes = std::as_bytes(std::span(drawn));
  }
  return Model::load(checkpoint, placement).value();
}

inline at::Tensor tensor_of(const StoredTensors& tensors, const std::string& name) {
  const StoredTensor& stored = tensors.at(name);
  at::Tensor tensor = at::from_blob(const_cast<std::byte*>(stored.bytes.data()), stored.shape, at::kFloat).clone();
  return tensor;
}

// The largest difference, as a part of the largest of `wanted`.
inline double difference(const at::Tensor& got, const at::Tensor& wanted) {
  const at::Tensor w = wanted.detach().to(at::kDouble);
  return (got.detach().to(at::kDouble) - w).abs().max().item<double>() / std::max(1e-12, w.abs().max().item<double>());
}

}  // namespace mtmc::lm::testing
