// Trees as a file: what a policy learns from, without the store that it was collected in. A line of JSON a tree, behind
// one that names the format.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "learn/tree.h"

namespace mtmc {

constexpr const char* kDatasetFormat = "mtmc-trees-3";

Status write_trees(const std::filesystem::path& file, const std::vector<Tree>& trees);
// An Error names the line: another format, or a tree that does not hold together.
Result<std::vector<Tree>> read_trees(const std::filesystem::path& file);

// How often an action type is there, and how often it is what should be done next.
struct TypeFacts {
  size_t offered = 0;  // places where it may be done
  size_t tried = 0;    // transitions of that type
  size_t best = 0;     // places where it begins a shortest way to the fastest state that can be reached
};

struct DatasetFacts {
  size_t tasks = 0, states = 0;         // states: told apart by state and code
  size_t right = 0, refused = 0;        // of the states
  size_t transitions = 0, no_code = 0;  // (place, action, result), and those without code
  double trajectories = 0;              // walks of at most `steps` known steps from a start to a right state
  size_t median_states = 0;             // of a task
  std::map<std::string, TypeFacts> types;
};
DatasetFacts facts_of(const std::vector<Tree>& trees, int steps = 8);

}  // namespace mtmc
