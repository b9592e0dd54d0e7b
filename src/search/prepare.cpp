// While one candidate is judged, what will probably be next is prepared: the builtin coder's versions and the judge's
// kernels are compiled on the cores that the timed one leaves idle. Nothing here changes what is chosen or how it is
// judged, and nothing begins for which there is no time. Of searches that share a GPU, and have few cores each, each
// prepares only what it is about to judge, whose kernels are compiled before anybody waits for the GPU.
#include "base/cores.h"
#include "base/hash.h"
#include "base/turn.h"
#include "search/environment.h"

namespace mtmc {
namespace {

constexpr size_t kPrepared = 3;  // proposals at a state, of those that may be tried
constexpr size_t kEnoughCores = 4;

bool crowded() { return !turn_file().empty() && usable_cores().size() < kEnoughCores; }

}  // namespace

Status Environment::prepare_coder(const CodeState& state, const std::vector<Proposal>& proposals, size_t first) {
  if (!coder_.prepares() || crowded()) return ok_status();
  for (size_t i = first; i < proposals.size() && i < first + kPrepared && !spent(); ++i)
    MTMC_RETURN_IF_ERROR(coder_.prepare({state, proposals[i].action}));
  return ok_status();
}

Status Environment::prepare_judge(const CodeState& state) {
  MTMC_TRY(const auto known, store_.find_verdict(key_of(state, Tier::screen)));
  return known ? ok_status() : judge_.prepare(parts_.task, {state.code.text, state.program});
}

Status Environment::prepare_way(const SearchNode& start) {
  const bool chosen_elsewhere = coder_.chooses() || parts_.target.handwritten;
  if (chosen_elsewhere || !coder_.prepares() || crowded() || !recorded_.empty() || !may_descend(start))
    return ok_status();
  MTMC_TRY(first_way_, foreseen(start));
  if (first_way_->steps.empty()) return ok_status();
  first_way_->steps.front().parent = nullptr;  // the start is no node of the tree yet
  return prepare_judge(first_way_->steps.back().state);
}

Status Environment::prepare_next(const SearchNode& next, const std::vector<Proposal>& beside, size_t first) {
  if (!coder_.prepares()) return ok_status();
  // This one is judged in any case: compiled beside on all cores it is ready sooner than when its first call compiles.
  MTMC_RETURN_IF_ERROR(prepare_judge(next.state));
  if (measuring_ || spent() || crowded()) return ok_status();
  if (policy_.foresees() && next.state.program != nullptr) {
    MTMC_TRY(const std::vector<Proposal> after, order(next, 0));
    MTMC_RETURN_IF_ERROR(prepare_coder(next.state, after, 0));
  }
  const bool last = parts_.limits.evaluations > 0 && evaluations_ + 1 >= parts_.limits.evaluations;
  if (last) return ok_status();
  const SearchNode& node = *next.parent;
  if (node.state.program == nullptr) return ok_status();  // what its coder makes of it cannot be foreseen
  for (size_t i = first; i < beside.size() && i < first + kPrepared && !spent(implement_seconds_); ++i) {
    if (beside[i].beyond) continue;  // only the asked model knows what it will write
    const auto predicted = apply_action(*node.state.program, beside[i].action, context());
    if (!predicted.ok() || by_state_.contains(mtmc::state_hash(*predicted))) continue;
    const auto made = coder_.implement({node.state, beside[i].action, &node.screen});
    if (made.ok()) return prepare_judge({made->program, made->code});  // else it will be refused when it is its turn
  }
  return ok_status();
}

}  // namespace mtmc
