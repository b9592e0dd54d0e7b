// What was found out about a kernel, kept for those that are exactly alike in any Program: printing one to see whether
// and how that can be done takes milliseconds, and hundreds of actions on a large network ask about the same ones.
#pragma once
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "ir/hardware.h"
#include "ir/program.h"

namespace mtmc {

// Equal for kernels that are alike in all but their place: in what they compute, their schedule and their numbers.
std::string kernel_key(const Program& program, const Kernel& kernel, const Hardware& hardware);

// An Error that was met with a kernel named `before`, said of one that is alike.
Error as_of(Error error, const std::string& before, const std::string& name);

// Several threads may use it at once. It forgets everything when it is full.
template <class Fact>
class KernelMemo {
 public:
  // The fact by this key or, when there is none, what `find` returns.
  template <class Find>
  Fact known_or(const std::string& key, Find find) {
    if (std::optional<Fact> known = this->known(key)) return *std::move(known);
    Fact fact = find();
    keep(key, fact);
    return fact;
  }
  std::optional<Fact> known(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    return found == known_.end() ? std::nullopt : std::optional<Fact>(found->second);
  }
  void keep(const std::string& key, Fact fact) {
    const std::lock_guard lock(mutex_);
    if (known_.size() == kMost) known_.clear();
    known_.insert_or_assign(key, std::move(fact));
  }

 private:
  static constexpr size_t kMost = 1 << 16;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Fact> known_;
};

}  // namespace mtmc
