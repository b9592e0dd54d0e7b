// AdamW (Loshchilov and Hutter 2019) over named tensors, whose state can be kept and read back bit by bit.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/processes.h"

namespace mtmc::train {

using Tensors = std::map<std::string, at::Tensor>;

class AdamW {
 public:
  // Trains the tensors in place; each is fp32 and becomes a leaf that wants gradients.
  AdamW(Tensors parameters, double weight_decay);
  // Adds up the gradients of all processes, scales them to a norm of at most `most_norm`, takes a step and forgets
  // them. Returns the norm before.
  Result<double> step(double rate, double most_norm, Processes& processes);
  void forget_gradients();
  const Tensors& parameters() const { return parameters_; }
  // What it trains and remembers, by name: the same objects, to be copied into.
  Tensors state() const;

 private:
  Tensors parameters_;
  double weight_decay_;
  std::map<std::string, at::Tensor> first_, second_, steps_;
};

}  // namespace mtmc::train
