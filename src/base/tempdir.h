// A folder under $TMPDIR (or /tmp), or under a parent of the caller's choice, that is removed with everything in it at
// the end of its scope.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

#include "base/check.h"

namespace mtmc {

class TempDir {
 public:
  explicit TempDir(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string pattern = (parent / "mtmc-XXXXXX").string();
    const char* made = mkdtemp(pattern.data());
    MTMC_CHECK(made != nullptr, "cannot make a temporary folder " + pattern);
    path_ = made;
    const std::lock_guard lock(mutex_);
    alive_.insert(path_);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;  // a destructor has nobody to tell
    std::filesystem::remove_all(path_, ignored);
    const std::lock_guard lock(mutex_);
    alive_.erase(path_);
  }
  // For a program that is about to exit without destructors.
  static void remove_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& path : alive_) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  inline static std::mutex mutex_;
  inline static std::set<std::filesystem::path> alive_;
  std::filesystem::path path_;
};

}  // namespace mtmc
