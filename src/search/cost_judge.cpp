#include "search/cost_judge.h"

#include <fmt/format.h>

#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr const char* kFault = "# fault: ";

Timing timing(double seconds) { return {{seconds * 1e3}, seconds * 1e3, 0}; }

}  // namespace

CostJudge::CostJudge(const Program& eager, const TargetDef& target, const Hardware& hardware)
    : target_(target), hardware_(hardware), eager_seconds_(total_seconds(eager, target, hardware)) {}

Result<Verdict> CostJudge::judge(const Task&, const Candidate& candidate, Tier tier) {
  Verdict verdict;
  verdict.tier = tier;
  verdict.sandbox = "none";
  verdict.evaluator = kVersion;
  verdict.library_use = "any";
  if (const size_t fault = candidate.code.find(kFault); fault != std::string::npos) {
    const size_t word = fault + std::string(kFault).size();
    verdict.stage = "run";
    verdict.reason = candidate.code.substr(word, candidate.code.find_first_of(" \n", word) - word);
    verdict.message = "the code says itself that it is faulty";
    return verdict;
  }
  if (candidate.program == nullptr) {
    verdict.stage = "run", verdict.reason = "no-program";
    verdict.message = "the cost model prices Programs, and this code has none: it can only be run";
    return verdict;
  }
  double seconds = 0, own = 0;
  for (const KernelCost& cost : cost_of(*candidate.program, target_, hardware_)) {
    seconds += cost.seconds;
    if (cost.own) own += cost.seconds;
  }
  verdict.outcome = Outcome::certified;
  verdict.stage = "timing";
  verdict.official = verdict.legacy = true;
  verdict.accuracy_class = "exact";
  verdict.time_ms = seconds * 1e3;
  verdict.times = {{"candidate", timing(seconds)}, {"eager", timing(eager_seconds_)}};
  verdict.speedup["eager"] = exactly(eager_seconds_ / seconds);
  verdict.own_kernel_share = seconds > 0 ? own / seconds : 0;
  verdict.message =
      fmt::format("predicted, not measured: {:.4f} ms, eager {:.4f} ms", seconds * 1e3, eager_seconds_ * 1e3);
  return verdict;
}

}  // namespace mtmc
