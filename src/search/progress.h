// How a run tells whoever watches what it does.
#pragma once
#include <string>

#include "store/store.h"

namespace mtmc {

struct RunStatus {
  double seconds = 0;        // spent on this run, earlier parts of a resumed one included
  double seconds_left = -1;  // until the time limit; < 0: no limit, or the start is not judged yet
  double fraction = 0;       // of the tightest limit, in [0, 1]
  int evaluations = 0;
  double best_speedup = 1;  // the headline over eager of the best attempt so far
};

class ProgressListener {
 public:
  virtual ~ProgressListener() = default;
  // "judging fuse linear and gelu in lines 31-47"
  virtual void on_doing(const std::string& what, const RunStatus& status) = 0;
  // One attempt after it was screened, certified (again, with both verdicts) or refused by its coder; as it is stored.
  // `remembered`: the verdict was found in the store, nothing was run.
  virtual void on_attempt(const NodeRecord& attempt, bool remembered, const RunStatus& status) = 0;
};

}  // namespace mtmc
