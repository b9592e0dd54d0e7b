// Processes that train one policy together, begun by torchrun or by hand with RANK, WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT. What they exchange, an update's gradients and some numbers, goes through a TCPStore of torch's c10d in
// the first process: the headers of gloo and NCCL, which ProcessGroup's want, are not part of PyTorch's wheel. Sums are
// taken in the order of ranks, so that all processes have the same bits.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"

namespace mtmc::train {

struct ProcessLink;

class Processes {
 public:
  Processes();  // alone
  Processes(Processes&&) noexcept;
  Processes& operator=(Processes&&) noexcept;
  ~Processes();
  // As the environment says; alone where it has no WORLD_SIZE. An Error for variables that are no numbers or do not go
  // together, and when the others do not come within ten minutes.
  static Result<Processes> join();

  int64_t rank() const { return rank_; }
  int64_t count() const { return count_; }
  // Each tensor, fp32, becomes the sum over all processes. An Error when one of them is gone.
  Status sum(const std::vector<at::Tensor>& tensors);
  // The numbers of every process, by rank.
  Result<std::vector<std::vector<double>>> gather(const std::vector<double>& own);

 private:
  Result<std::vector<std::vector<uint8_t>>> exchange(std::vector<uint8_t> own);

  int64_t rank_ = 0, count_ = 1, exchanges_ = 0;
  std::unique_ptr<ProcessLink> link_;
};

}  // namespace mtmc::train
