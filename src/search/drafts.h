// A step while its coder works on it, and may have drafts judged. Each of them is an attempt of its own, in the tree
// and in the store: the best one counts whether it is submitted or not, and a run that goes on finds them again.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "search/environment.h"

namespace mtmc {

class StepWork final : public DraftJudge {
 public:
  StepWork(Environment& environment, const StepOrder& order) : environment_(environment), order_(order) {}

  const StepOrder& order() const { return order_; }
  // One evaluation is always left for what will be submitted.
  Result<const Verdict*> judge(const std::string& code, const std::string& notes) override;
  Result<std::optional<std::string>> compile(const std::string& code) override;
  // The drafts that were judged before the run was cut off, when the coder need not be asked again.
  Status judge_again();
  // The draft of this step that is this state, or null.
  SearchNode* draft(const std::string& state_hash) const;
  // Why the judge cannot work: an error of the search's, whatever the coder makes of it.
  const std::optional<Error>& failed() const { return failed_; }

 private:
  std::string word() const;  // what the details of all its drafts begin with
  Result<SearchNode*> judged(const std::string& code, const std::string& notes);

  Environment& environment_;
  StepOrder order_;
  std::vector<SearchNode*> drafts_;
  std::optional<Error> failed_;
};

}  // namespace mtmc
