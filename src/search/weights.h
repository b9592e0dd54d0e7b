// Weights that a policy was trained to, as they lie on disk: a file, or a folder with all its files.
#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"

namespace mtmc {

struct Weights {
  std::filesystem::path path;  // absolute
  std::string digest;          // SHA-256 over names and contents of the files
  bool operator==(const Weights&) const = default;
};

// An Error when there is nothing to read at `path`.
Result<Weights> find_weights(const std::filesystem::path& path);

}  // namespace mtmc
