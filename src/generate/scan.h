// Whether tasks are among others, such as a benchmark's: by the normal form of their source and by their operator graph
// (python/mtmc/scan).
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace mtmc {

struct Fingerprint {
  std::vector<std::string> syntax, graphs;  // hashes
  std::string unread;                       // why there is no operator graph; empty when there is
};
using Fingerprints = std::map<std::string, Fingerprint>;  // by file

// Of every Python file among the paths and below them. It imports them, and runs them on tensors without data. An
// Error: a path that is not there, or a Python without torch.
Result<Fingerprints> fingerprints(const std::vector<std::filesystem::path>& paths);

struct Match {
  std::string file, other;
  std::string by;  // "syntax" or "operators"
};
// Files of `files` that share a fingerprint with one of `others`; of several one, by operators before by syntax.
std::vector<Match> matches(const Fingerprints& files, const Fingerprints& others);

}  // namespace mtmc
