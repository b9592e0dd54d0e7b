// From a dataset to a policy by one command: phases of training, each from what the one before it learned.
#pragma once
#include <string>
#include <vector>

#include "train/run.h"

namespace mtmc::train {

struct PhasesOptions {
  RunOptions run;  // its algorithm, settings, updates and reward are the phases' own; `out` holds a folder for each
  // "ppo updates=100 reward=frugal lr=1e-6": an algorithm, and what is not as by default.
  std::vector<std::string> phases = {"clone updates=150", "ppo updates=100 reward=frugal"};
};

struct Phases {
  bool finished = false;
  std::string model, adapter;  // of the policy so far; adapter "": it is part of the model
};
// The budget is that of all phases together. An Error for a phase that makes no sense, before anything is trained.
Result<Phases> run_phases(const PhasesOptions& options, Processes& processes, Progress* progress);

}  // namespace mtmc::train
