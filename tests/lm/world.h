// The tiny models of make_models.py, opened.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

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
