#include "lm/capture.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <map>

#include "base/check.h"

namespace mtmc::lm {
namespace {

struct GraphMaker {
  Graph* (*make)();
};

// It has no needs of its own: what it calls is in libtorch_cuda.so, which find_placement has loaded.
Result<GraphMaker> graph_maker() {
  void* library = dlopen("libmtmc_lm_cuda.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Error{"capturing a pass", "its library cannot be loaded", dlerror(),
                 "mtmc-lm built where CUDA's headers are, for a PyTorch that has CUDA"};
  void* make = dlsym(library, "mtmc_lm_graph");
  MTMC_CHECK(make != nullptr, "the library has its only function");
  return GraphMaker{reinterpret_cast<Graph* (*)()>(make)};
}

// A capture needs a stream that is not the default one. One for all of them: each keeps workspaces of libraries.
c10::Stream side_stream(const c10::impl::VirtualGuardImpl& gpu, at::Device device) {
  static std::map<c10::DeviceIndex, c10::Stream> streams;
  const auto found = streams.find(device.index());
  return found != streams.end() ? found->second
                                : streams.emplace(device.index(), gpu.getStreamFromGlobalPool(device)).first->second;
}

}  // namespace

Result<std::unique_ptr<Graph>> capture(at::Device device, const std::function<void()>& pass) {
  static const Result<GraphMaker> maker = graph_maker();
  if (!maker.ok()) return maker.error();
  const c10::impl::VirtualGuardImpl gpu(device.type());
  gpu.getStream(device).synchronize();
  const c10::StreamGuard on(side_stream(gpu, device));
  pass();  // what libraries make when they are first used is made before
  on.current_stream().synchronize();
  std::unique_ptr<Graph> graph(maker->make());
  graph->begin();
  std::string wrong;
  try {
    pass();
  } catch (const c10::Error& error) {
    wrong = error.what_without_backtrace();
  }
  try {
    graph->end();
  } catch (const c10::Error& error) {
    if (wrong.empty()) wrong = error.what_without_backtrace();
  }
  if (!wrong.empty()) return Error{"capturing a pass", wrong, "", ""};
  return graph;
}

}  // namespace mtmc::lm
