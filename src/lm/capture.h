// A pass over tensors that stay where they are, captured on a GPU: its launches, a thousand and more, as one.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

#include "base/result.h"

namespace mtmc::lm {

// What cuda_graph.cpp makes, in a library of its own.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void begin() = 0;  // from here on, launches on the current stream are captured and not carried out
  virtual void end() = 0;
  // All of them on the current stream: they read what their tensors hold now, and write where they wrote when captured.
  virtual void replay() = 0;
};

// Carries `pass` out, then captures it. It may not wait for the GPU or read what lies on the host; what it makes and
// keeps is where a replay writes. An Error where there is no such library, or the pass cannot be captured.
Result<std::unique_ptr<Graph>> capture(at::Device device, const std::function<void()>& pass);

}  // namespace mtmc::lm
