#include "search/weights.h"

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace mtmc {

namespace fs = std::filesystem;

namespace {

Error missing(const fs::path& path, const std::string& wrong) {
  return Error{"opening a policy's weights", wrong, "'" + path.string() + "'",
               "the file or folder that training wrote"};
}

}  // namespace

Result<Weights> find_weights(const fs::path& path) {
  std::error_code code;
  if (!fs::exists(path, code)) return missing(path, "no such file or folder");
  std::vector<fs::path> files;
  if (fs::is_regular_file(path, code)) files.push_back(path);
  if (fs::is_directory(path, code))
    for (const auto& entry : fs::recursive_directory_iterator(path, code))
      if (entry.is_regular_file(code)) files.push_back(entry.path());
  if (code) return missing(path, "cannot be read (" + code.message() + ")");
  if (files.empty()) return missing(path, "holds no file");
  std::sort(files.begin(), files.end());
  std::string all;
  for (const fs::path& file : files) {
    MTMC_TRY(const std::string content, read_file(file));
    all += file.lexically_relative(path).string() + "\n" + sha256(content) + "\n";
  }
  return Weights{fs::absolute(path), sha256(all)};
}

}  // namespace mtmc
