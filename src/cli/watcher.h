// Shows a run to whoever started it.
#pragma once
#include <string>

#include "base/progress.h"
#include "search/progress.h"

namespace mtmc {

class Watcher final : public ProgressListener {
 public:
  // `store` is named in the message when the run is interrupted.
  Watcher(Progress& progress, const std::string& store) : progress_(progress), store_(store) {}
  void on_doing(const std::string& what, const RunStatus& status) override;
  void on_attempt(const NodeRecord& attempt, bool remembered, const RunStatus& status) override;

 private:
  Progress& progress_;
  std::string store_;
  int attempts_ = 0;
};

}  // namespace mtmc
