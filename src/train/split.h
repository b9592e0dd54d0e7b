// Which tasks a policy learns from, and which it is measured on.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "learn/tree.h"

namespace mtmc::train {

struct Data {
  std::vector<Tree> trees;
  std::string view;    // of all of them
  std::string digest;  // SHA-256 over the files
};
// All files in turn. An Error: none, one that is no dataset of this version, or trees that show different things.
Result<Data> read_data(const std::vector<std::string>& files);

// By the task's name alone, so that it is the same for all machines and datasets; `share` of all names.
bool is_held_out(const std::string& name, double share);

}  // namespace mtmc::train
