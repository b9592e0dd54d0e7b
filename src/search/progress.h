// How a run tells whoever watches what it does.
#pragma once
#include <string>

#include "eval/verdict.h"

namespace mtmc {

struct RunStatus {
  double seconds = 0;        // spent on this run, earlier parts of a resumed one included
  double seconds_left = -1;  // until the time limit; < 0: no limit
  double fraction = 0;       // of the tightest limit, in [0, 1]
  int evaluations = 0;
  double best_speedup = 1;  // over eager, of the best attempt so far
};

// One attempt after it was judged, or refused by its coder.
struct Attempt {
  int step = 0;        // depth in the tree; 0: the start
  std::string action;  // as rendered; empty at the start
  const Verdict* verdict = nullptr;
  std::string failure;      // why there is nothing to judge
  bool remembered = false;  // found in the store, nothing was run
};

class ProgressListener {
 public:
  virtual ~ProgressListener() = default;
  // "judging fuse linear and gelu in lines 31-47"
  virtual void on_doing(const std::string& what, const RunStatus& status) = 0;
  virtual void on_attempt(const Attempt& attempt, const RunStatus& status) = 0;
};

}  // namespace mtmc
