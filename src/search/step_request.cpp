#include "search/step_request.h"

namespace mtmc {
namespace {

// The step that led to a node, through repairs of it; null for the start.
const SearchNode* origin_of(const SearchNode& node) {
  const SearchNode* at = &node;
  while (at->action.type == "repair") at = at->parent;
  return at->parent == nullptr ? nullptr : at;
}

}  // namespace

StepRequest::StepRequest(const StepOrder& order, DraftJudge* drafts, std::function<double()> seconds_left) {
  const auto& [node, proposal, partner] = order;
  if (const SearchNode* led = origin_of(node); led != nullptr && proposal.action.type == "repair")
    origin_.emplace(Origin{led->parent->state, led->rendered});
  std::vector<const SearchNode*> newest_first;
  for (const SearchNode* at = &node; at != nullptr; at = at->parent) newest_first.push_back(at);
  for (auto at = newest_first.rbegin(); at != newest_first.rend(); ++at)
    lineage_.push_back({(*at)->rendered, (*at)->state, (*at)->verdict()});
  if (partner != nullptr) partner_.emplace(Ancestor{partner->rendered, partner->state, partner->verdict()});
  request_.emplace(CoderRequest{node.state, proposal.action, node.judged ? &node.verdict() : nullptr, proposal.text,
                                origin_ ? &*origin_ : nullptr, &lineage_, partner_ ? &*partner_ : nullptr, drafts,
                                std::move(seconds_left)});
}

}  // namespace mtmc
