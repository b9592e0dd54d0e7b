// Which of many alike: one of each so many in a row, at a random place that nobody can foretell.
#pragma once
#include <cstdint>

#include "base/rng.h"

namespace mtmc {

class OneIn {
 public:
  explicit OneIn(int many) : many_(many) {}
  // Is it the next one?
  bool next(Rng& rng) {
    if (at_ == many_) at_ = 0;
    if (at_ == 0) chosen_ = static_cast<int>(rng.below(static_cast<uint64_t>(many_)));
    return at_++ == chosen_;
  }

 private:
  int many_, at_ = 0, chosen_ = 0;
};

}  // namespace mtmc
