// The judge that runs code: Python processes for candidate, reference and baselines (see docs/JUDGE.md).
#pragma once
#include <memory>
#include <string>

#include "eval/judge_options.h"

namespace mtmc {

// What can be said of Triton kernels where no GPU is.
struct Offline {
  Verdict interpreted;       // one of the task's draws and a structured one, by Triton's interpreter; nothing is timed
  int kernels = 0;           // that a call launches
  std::string compiled_for;  // "sm_80, sm_90, sm_100"
  std::string failure;       // what the compiler said, with the kernel's name; empty when all compile
};
Result<Offline> check_offline(JudgeOptions options, const Task& task, const Candidate& candidate);

std::unique_ptr<Judge> make_process_judge(const JudgeOptions& options);

}  // namespace mtmc
