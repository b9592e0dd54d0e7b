// The options that say how tasks are optimised, shared by the verbs that search.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "cli/options.h"
#include "workbench/way.h"
#include "workbench/workbench.h"

namespace mtmc {

struct SearchOptions {
  WorkbenchOptions bench;
  std::string store;

  void declare(Options& options);
  // An Error: an option for a language model is given, and neither coder nor policy asks one.
  Status check_model() const;
  // As if --policy, --strategy and --actions had been given so.
  void search_by(const Way& way);
  // As the words were given. An Error for a baseline that there is not.
  Result<WorkbenchOptions> read() const;

 private:
  std::string actions_ = "all", accuracy_ = "eager";
  std::vector<std::string> baselines_ = {"compile"};
  ModelOptions model_;
  int64_t steps_ = 8, evaluations_ = 0, seed_ = 0;
};

}  // namespace mtmc
