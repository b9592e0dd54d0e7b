#include "search/drafts.h"

#include <map>

#include "base/hash.h"

namespace mtmc {

std::string StepWork::word() const {
  const std::string& detail = order_.proposal.action.detail;
  return detail.empty() ? "draft_" : detail + "_draft_";
}

SearchNode* StepWork::draft(const std::string& state_hash) const {
  for (SearchNode* draft : drafts_)
    if (draft->state_hash == state_hash) return draft;
  return nullptr;
}

Result<SearchNode*> StepWork::judged(const std::string& code, const std::string& notes) {
  SearchNode next;
  next.state.code.text = code;
  next.state_hash = Environment::hash_of(next.state);
  for (SearchNode& before : environment_.nodes_)  // refused or not: the same text gets the same verdict
    if (before.state_hash == next.state_hash) return &before;
  const int most = environment_.limits().evaluations;
  if (environment_.spent() || (most > 0 && environment_.evaluations() + 1 >= most)) return nullptr;
  const auto& [node, proposal, partner] = order_;
  next.parent = &node, next.partner = partner, next.step = node.step + 1;
  next.action = proposal.action;
  next.action.detail = word() + short_hash(code, 12);
  next.rendered = "a draft of " + proposal.text;
  next.coder = environment_.coder_.name(), next.notes = notes;
  next.rewrites = Environment::edits_graph(node.state, next.state, proposal.action);
  environment_.say("judging " + next.rendered);
  const NodeRecord* record = environment_.recorded(node.id, store_text(next.action));
  MTMC_TRY(SearchNode * kept, environment_.judge_node(std::move(next), record, true));
  drafts_.push_back(kept);
  return kept;
}

Result<const Verdict*> StepWork::judge(const std::string& code, const std::string& notes) {
  const Result<SearchNode*> node = judged(code, notes);
  if (!node.ok()) failed_ = node.error();
  if (!node.ok()) return node.error();
  return *node == nullptr ? nullptr : &(*node)->verdict();
}

Result<std::optional<std::string>> StepWork::compile(const std::string& code) {
  environment_.say("compiling a draft of " + order_.proposal.text);
  auto said = environment_.judge_.compile(environment_.parts_.task, {code, nullptr});
  if (!said.ok()) failed_ = said.error();
  return said;
}

Status StepWork::judge_again() {
  Action action = order_.proposal.action;
  action.detail = word();
  std::map<NodeId, const NodeRecord*> before;  // in the order in which they were made
  for (const auto& [place, record] : environment_.recorded_)
    if (place.first == order_.node.id && place.second.starts_with(store_text(action))) before[record.id] = &record;
  for (const auto& [id, record] : before) {
    MTMC_TRY([[maybe_unused]] const Verdict* verdict, judge(record->code, record->note));
  }
  return ok_status();
}

}  // namespace mtmc
