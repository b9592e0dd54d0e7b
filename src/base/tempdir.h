// A folder under $TMPDIR (or /tmp) that is removed with everything in it at the end of its scope.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"

namespace mtmc {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mtmc-XXXXXX").string();
    const char* made = mkdtemp(pattern.data());
    MTMC_CHECK(made != nullptr, "cannot make a temporary folder " + pattern);
    path_ = made;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;  // a destructor has nobody to tell
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace mtmc
