// A folder under $TMPDIR (or /tmp), or under a parent of the caller's choice, that is removed with everything in it at
// the end of its scope.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/check.h"

namespace mtmc {

// No link to somewhere else.
inline bool is_own_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::directory;
}

// Removes a folder as far as it can be removed, what its files' writer has taken our rights from included.
inline void remove_everything(const std::filesystem::path& root) {
  std::error_code failed, ignored;
  std::filesystem::remove_all(root, failed);
  if (!failed) return;
  std::vector<std::filesystem::path> folders = {root};
  while (!folders.empty()) {
    const std::filesystem::path folder = folders.back();
    folders.pop_back();
    if (!is_own_folder(folder)) continue;
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, std::filesystem::perm_options::add,
                                 ignored);
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) folders.push_back(entry.path());
  }
  std::filesystem::remove_all(root, ignored);
}

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
    remove_everything(path_);
    const std::lock_guard lock(mutex_);
    alive_.erase(path_);
  }
  // For a program that is about to exit without destructors.
  static void remove_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& path : alive_) remove_everything(path);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  inline static std::mutex mutex_;
  inline static std::set<std::filesystem::path> alive_;
  std::filesystem::path path_;
};

}  // namespace mtmc
