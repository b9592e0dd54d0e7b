// The one file that needs CUDA's headers, and a PyTorch built for CUDA: a library that capture.cpp loads where a device
// asks for it.
#include <ATen/cuda/CUDAGraph.h>

#include <memory>

#include "lm/capture.h"

namespace mtmc::lm {
namespace {

using Pool = decltype(at::cuda::graph_pool_handle());

// One for all graphs: one is replayed at a time, and each reads nothing but inputs. A pool is gone with its last graph.
std::shared_ptr<const Pool> shared_pool() {
  static std::weak_ptr<const Pool> last;
  auto pool = last.lock();
  if (pool == nullptr) last = pool = std::make_shared<const Pool>(at::cuda::graph_pool_handle());
  return pool;
}

class CudaGraph final : public Graph {
 public:
  void begin() override {
    pool_ = shared_pool();
    graph_.capture_begin(*pool_);
  }
  void end() override { graph_.capture_end(); }
  void replay() override { graph_.replay(); }

 private:
  std::shared_ptr<const Pool> pool_;
  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace mtmc::lm

extern "C" mtmc::lm::Graph* mtmc_lm_graph() { return new mtmc::lm::CudaGraph; }
