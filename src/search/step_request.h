// What a coder is asked for a step, with all that it refers to.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "search/environment.h"

namespace mtmc {

class StepRequest {
 public:
  // What the order refers to, and `drafts`, must outlive it.
  StepRequest(const StepOrder& order, DraftJudge* drafts, std::function<double()> seconds_left);
  StepRequest(const StepRequest&) = delete;
  const CoderRequest& operator*() const { return *request_; }

 private:
  std::optional<Origin> origin_;
  std::vector<Ancestor> lineage_;
  std::optional<Ancestor> partner_;
  std::optional<CoderRequest> request_;
};

}  // namespace mtmc
