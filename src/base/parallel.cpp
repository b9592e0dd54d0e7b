#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>
#include <vector>

#include "base/cores.h"

namespace mtmc {
namespace {

thread_local bool within = false;  // one of these pieces: all cores are busy already

}  // namespace

void in_parallel(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    const bool outer = std::exchange(within, true);
    try {
      for (size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      within = outer;
      throw;
    }
    within = outer;
  };
  const size_t most = within ? 1 : std::min(count, usable_cores().size());
  std::vector<std::future<void>> others;  // whatever is thrown, all of them are waited for
  for (size_t t = 1; t < most; ++t) others.push_back(std::async(std::launch::async, take));
  take();
  for (std::future<void>& other : others) other.get();
}

}  // namespace mtmc
