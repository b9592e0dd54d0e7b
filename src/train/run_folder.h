// The files of a training run; see run.h.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "train/adamw.h"
#include "train/algorithm.h"

namespace mtmc::train {

class RunFolder {
 public:
  // `asked`: all that shapes the result. Makes the folder, or finds a run with the same. An Error names what is
  // another.
  static Result<RunFolder> open(const std::filesystem::path& path, const Json& asked, bool writes);
  // The updates done; what was kept of them is copied into `tensors`. An Error when it is cut off or of another shape.
  Result<int64_t> restore(const Tensors& tensors);
  Status keep(int64_t updates, const Tensors& tensors, const Metrics& metrics);
  Status draw() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  Status write_lines() const;

  std::filesystem::path path_;
  std::string asked_;  // its digest
  std::vector<std::string> lines_;
};

}  // namespace mtmc::train
