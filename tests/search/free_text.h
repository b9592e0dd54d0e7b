// Code that a language model writes, and a judge that reads it, for searches without torch.
#pragma once
#include <string>
#include <vector>

#include "eval/judge.h"
#include "search/world.h"

namespace mtmc::testing {

// An answer whose code returns this.
inline std::string says(const std::string& result) {
  return "```python\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return " +
         result + "\n```\n";
}

// Free code is certified when it says `right`, and the faster the longer it is; Programs are priced.
class FreeTextJudge final : public Judge {
 public:
  explicit FreeTextJudge(Judge& inner) : inner_(inner) {}
  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override {
    if (candidate.program != nullptr) return inner_.judge(task, candidate, tier);
    Verdict verdict;
    verdict.tier = tier, verdict.stage = "correctness", verdict.reason = "wrong-result";
    verdict.message = "element 7 is 1 instead of 2";
    if (candidate.code.find("right") == candidate.code.npos) return verdict;
    verdict.reason = "", verdict.outcome = Outcome::certified;
    verdict.speedup["eager"] = exactly(static_cast<double>(candidate.code.size()));
    verdict.time_ms = 1;
    return verdict;
  }

 private:
  Judge& inner_;
};

inline std::vector<std::string> actions_of(const std::vector<NodeRecord>& attempts) {
  std::vector<std::string> actions;
  for (const NodeRecord& attempt : attempts) actions.push_back(attempt.action.substr(0, attempt.action.find(' ')));
  return actions;
}

}  // namespace mtmc::testing
