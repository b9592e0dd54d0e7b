#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>
#include <vector>

#include "base/cores.h"

namespace mtmc {
namespace {

thread_local bool within = false;  // a piece of work that all cores share: they are busy already

// While it lives, this thread does such a piece.
class Within {
 public:
  explicit Within(bool shared) : outer_(std::exchange(within, within || shared)) {}
  ~Within() { within = outer_; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  bool outer_;
};

}  // namespace

void in_parallel(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const size_t most = within ? 1 : std::min(count, usable_cores().size());
  const auto take = [&] {
    const Within piece(most > 1);
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::future<void>> others;  // whatever is thrown, all of them are waited for
  for (size_t t = 1; t < most; ++t) others.push_back(std::async(std::launch::async, take));
  take();
  for (std::future<void>& other : others) other.get();
}

}  // namespace mtmc
