// Subgraphs cut from the graphs of real models: from a checkout of PaddlePaddle/GraphNet that the user names
// (python/mtmc/cut). Their code is theirs (MIT licence): each file's header names its sample and the commit.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "generate/scan.h"

namespace mtmc {

struct CutRequest {
  std::filesystem::path graphnet;
  uint64_t seed = 0;
  int count = 0;
  bool small = false;  // with the sample's own batch, whatever it is worth
  std::filesystem::path out;
  std::vector<std::filesystem::path> against;  // a cut that is among these is left out
};

struct CutTasks {
  int written = 0;
  int samples = 0;                     // that were tried
  std::map<std::string, int> refused;  // why cuts were no tasks
  std::vector<Match> left_out;
};
// Writes OUT/graphnet_0000.py and so on, at most one of a sample. Each ran in eager with finite results and was traced.
// The same request writes the same files. An Error: a folder without samples, or a Python without torch.
Result<CutTasks> cut_tasks(const CutRequest& request);

}  // namespace mtmc
