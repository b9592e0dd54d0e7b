// The one file that needs CUDA's headers, and a PyTorch built for CUDA: a library that capture.cpp loads where a device
// asks for it.
#include <ATen/cuda/CUDAGraph.h>

#include "lm/capture.h"

namespace mtmc::lm {
namespace {

class CudaGraph final : public Graph {
 public:
  void begin() override {
    // One pool for all: of several graphs one is replayed at a time, and each reads nothing but inputs.
    static const at::cuda::MempoolId_t pool = at::cuda::graph_pool_handle();
    graph_.capture_begin(pool);
  }
  void end() override { graph_.capture_end(); }
  void replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace mtmc::lm

extern "C" mtmc::lm::Graph* mtmc_lm_graph() { return new mtmc::lm::CudaGraph; }
