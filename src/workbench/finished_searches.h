// Searches that the store knows to have ended, for who wants the rows of a benchmark once more.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "search/optimize.h"
#include "store/store.h"
#include "workbench/workbench.h"

namespace mtmc {

class FinishedSearches {
 public:
  // `bench` and `store` must outlive it; `out`: a folder that no task is made of.
  FinishedSearches(const Workbench& bench, Store& store, std::filesystem::path out)
      : bench_(bench), store_(store), out_(std::move(out)) {}

  // Of a task as it is now and the search that this workbench would make: the task's JSON and all Python files of its
  // folder and below; target, hardware, judge, strategy, policy and limits; host, processors and whether others share
  // the GPU; this program, its Python side, torch, Triton and numpy. None: it cannot be told, or a model is asked that
  // may answer differently. What the task reads or imports from elsewhere is not looked at. An Error: Python cannot be
  // asked.
  Result<std::optional<std::string>> key_of(const Task& task);
  // The run that ended so.
  Result<std::optional<RunId>> find(const std::optional<std::string>& key);
  // `done` came of the task that had this key when it was begun; kept where nothing has changed since, and where the
  // same search would end alike: not one that was resumed, or gave up, or met what only the moment decides.
  Status keep(const std::optional<std::string>& key, const Task& task, const Optimized& done);

 private:
  const Workbench& bench_;
  Store& store_;
  std::filesystem::path out_;
  std::string searcher_;  // all but the task, hashed; empty: not asked yet
};

}  // namespace mtmc
