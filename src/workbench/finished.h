// Runs that the store knows to have ended, for who wants the same once more: a benchmark whose rows are made again.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/store.h"
#include "workbench/workbench.h"

namespace mtmc {

class FinishedRuns {
 public:
  // `bench` and `store` must outlive it.
  FinishedRuns(const Workbench& bench, Store& store) : bench_(bench), store_(store) {}

  // The run that ended with an answer to the same task, by the same mtmc, torch and machine, searched in the same way
  // and for as long. The same: the task's JSON and all Python files of its folder and below; other packages that it
  // imports are not looked at. None where a language model is asked, which answers differently each time. An Error: a
  // file or the store cannot be read.
  Result<std::optional<RunId>> find(const Task& task);
  // This run answers the task from now on.
  Status keep(const Task& task, RunId run);

 private:
  bool answers_again() const;
  Result<std::string> key_of(const Task& task);
  Result<std::string> of_folder(const std::filesystem::path& folder);

  const Workbench& bench_;
  Store& store_;
  std::string searcher_;                        // all but the task, hashed; empty: not asked yet
  std::map<std::string, std::string> folders_;  // their files, hashed
};

}  // namespace mtmc
