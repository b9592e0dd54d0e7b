// The judge where nothing can be run: prices the candidate's Program with the cost model instead of running its code.
// Fast and the same everywhere: for the search's own tests and for training's.
#pragma once
#include "eval/judge.h"
#include "ir/hardware.h"
#include "ir/program.h"
#include "targets/target.h"

namespace mtmc {

class CostJudge final : public Judge {
 public:
  // `eager`: the Program as traced, which gives the time that speedups compare with.
  CostJudge(const Program& eager, const TargetDef& target, const Hardware& hardware);
  // A line `# fault: WORD` in the code refuses it for that reason; everything else is certified.
  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override;

  static constexpr const char* kVersion = "cost-1";

 private:
  const TargetDef& target_;
  Hardware hardware_;
  double eager_seconds_;
};

}  // namespace mtmc
