// What was computed before, by a key that says all it depends on. Several threads may ask at once; a value that two of
// them want at the same moment is computed twice.
#pragma once
#include <mutex>
#include <string>
#include <unordered_map>

namespace mtmc {

template <typename T>
class Memo {
 public:
  template <typename Make>
  T of(const std::string& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
    }
    T made = make();
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) known_.clear();
    known_.emplace(key, made);
    return made;
  }

 private:
  static constexpr size_t kMost = 1 << 12;
  std::mutex mutex_;
  std::unordered_map<std::string, T> known_;
};

}  // namespace mtmc
