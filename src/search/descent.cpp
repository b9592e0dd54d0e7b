// Several steps judged once: all of them stand in the tree as attempts of their own, those on the way as not judged.
// The strategy `tree` descends by what a policy expects (frontier.h). And on a slow machine, or of a large task, few
// seconds are enough for one or two candidates; what only a second or third step brings would never be seen. What the
// cost model foresees clearly from the start on is done at once, then.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>

#include "base/hash.h"
#include "base/trace.h"
#include "search/drafts.h"
#include "search/environment.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr double kForeseenClearly = 0.95;      // of the time before: what is left after a step that pays for sure
constexpr size_t kWays = 4, kFewKernels = 16;  // ways that are looked at, each for a few hundredths of a second then
constexpr double kAnyGain = 1e-3;              // of one place among many
constexpr double kAlmostClearly = 0.04;        // a gain; what is less alone is not looked at alone
// Of a graph of the whole call. The host does more than the launches of which the cost model knows, and is disturbed
// more easily than the device: RegNet took 1.40 ms without one and 1.04 with it, where 4 % were foreseen.
constexpr double kForeseenOfACapture = 0.995;

// The step `wanted[first]`, taken wherever one of its type pays and no place is in another's way; and of how many
// proposals it is made. In a network of many shapes hardly a place is like another, each brings next to nothing, and a
// person would do all of them at once.
std::pair<Action, int> everywhere(const std::vector<Proposal>& wanted, size_t first) {
  Action all = wanted[first].action;
  std::set<ValueId> taken;
  for (const auto& region : all.regions) taken.insert(region.begin(), region.end());
  int merged = 1;
  for (size_t i = first + 1; i < wanted.size(); ++i) {
    const Action& one = wanted[i].action;
    if (wanted[i].beyond || one.type != all.type || one.detail != all.detail) continue;
    const auto free = [&](const std::vector<ValueId>& region) {
      return std::none_of(region.begin(), region.end(), [&](ValueId id) { return taken.contains(id); });
    };
    if (!std::all_of(one.regions.begin(), one.regions.end(), free)) continue;
    ++merged;
    for (const auto& region : one.regions) {
      all.regions.push_back(region);
      taken.insert(region.begin(), region.end());
    }
  }
  return {std::move(all), merged};
}

bool has_own_kernels(const Program& program) {
  return std::any_of(program.kernels.begin(), program.kernels.end(),
                     [](const Kernel& kernel) { return kernel.family != Family::library; });
}

bool is_before(const SearchNode& first, const SearchNode& last) {
  for (const SearchNode* at = last.parent; at != nullptr; at = at->parent)
    if (at == &first) return true;
  return false;
}

}  // namespace

double Environment::completed_seconds(const Program& program) {
  const std::optional<Prospect> all = policy_.prospect(program);
  return all ? all->completed : total_seconds(program, parts_.target, parts_.hardware);
}

Result<SearchNode> Environment::foreseen_step(const SearchNode& node, const Action& action, Program program) {
  SearchNode next;
  next.parent = &node, next.step = node.step + 1;
  next.action = action, next.rendered = render(action, *node.state.program, node.state.code);
  next.state_hash = mtmc::state_hash(program);
  MTMC_TRY(next.state.code, parts_.target.emit(program, parts_.hardware, parts_.shell));
  next.state.program = std::make_shared<const Program>(std::move(program));
  return next;
}

// What a policy puts first is not always a gain for sure: it hopes, too.
Result<std::vector<Environment::Paying>> Environment::paying(const SearchNode& at, double seconds, size_t most) {
  std::vector<Paying> found;
  std::vector<double> gains;
  MTMC_TRY(const std::vector<Proposal> wanted, order(at, 0, kAnyGain, &gains));
  std::set<std::string> seen;  // types and details: all places of one are looked at together, once
  for (size_t i = 0; i < wanted.size() && found.size() < most; ++i) {
    if (wanted[i].beyond) continue;  // the cost model sees nothing of it
    std::vector<std::pair<Action, int>> ways;
    if (seen.insert(wanted[i].action.type + ":" + wanted[i].action.detail).second)
      ways.push_back(everywhere(wanted, i));
    if (i >= gains.size() || gains[i] >= kAlmostClearly || wanted[i].action.type == "capture")
      ways.push_back({wanted[i].action, 1});
    for (const auto& [action, merged] : ways) {
      auto program = apply_action(*at.state.program, action, context());
      const double enough = action.type == "capture" ? kForeseenOfACapture : kForeseenClearly;
      const double then = program.ok() ? completed_seconds(*program) : seconds;
      if (!program.ok() || then > enough * seconds) continue;
      found.push_back({action, merged, std::move(program).value(), then});
      break;
    }
  }
  return found;
}

Result<Environment::Way> Environment::way_by(const SearchNode& node, Paying first) {
  Way way;
  const SearchNode* at = &node;
  for (std::optional<Paying> next = std::move(first); next;) {
    MTMC_TRY(SearchNode made, foreseen_step(*at, next->action, std::move(next->program)));
    way.steps.push_back(std::move(made));
    way.one_by_one += next->merged, way.seconds = next->seconds;
    at = &way.steps.back();
    next.reset();
    if (at->step >= parts_.limits.steps || spent()) break;
    MTMC_TRY(std::vector<Paying> more, paying(*at, way.seconds, 1));
    if (!more.empty()) next = std::move(more.front());
  }
  return way;
}

// The step that pays most need not be the first of the way that does: a convolution fused with all that follows leaves
// no choice, one that is lowered alone leaves the rest to be fused in rows.
Result<Environment::Way> Environment::foreseen(const SearchNode& node) {
  const Span span("planning");
  std::atomic<bool> planned = false;
  auto beside = std::async(std::launch::async, [&] {
    while (!planned && judge_.get_ahead() && !spent()) {
    }
  });
  Result<Way> way = best_way(node);
  planned = true;
  beside.get();
  return way;
}

Result<Environment::Way> Environment::best_way(const SearchNode& node) {
  Way best;
  if (node.step >= parts_.limits.steps || spent()) return best;
  const size_t most = node.state.program->kernels.size() <= kFewKernels ? kWays : 1;
  MTMC_TRY(std::vector<Paying> firsts, paying(node, completed_seconds(*node.state.program), most));
  for (Paying& first : firsts) {
    MTMC_TRY(Way way, way_by(node, std::move(first)));
    if (best.steps.empty() || way.seconds < kForeseenClearly * best.seconds) best = std::move(way);
  }
  return best;
}

SearchNode* Environment::met(const SearchNode& node, const Proposal& proposal) {
  if (node.state.program == nullptr || proposal.beyond) return nullptr;
  const auto predicted = apply_action(*node.state.program, proposal.action, context());
  if (!predicted.ok()) return nullptr;
  const std::string hash = mtmc::state_hash(*predicted);
  const auto at = std::find_if(nodes_.begin(), nodes_.end(), [&](SearchNode& one) { return one.state_hash == hash; });
  return at == nodes_.end() ? nullptr : &*at;
}

Result<Environment::Step> Environment::make(SearchNode& node, const std::vector<Proposal>& proposals, size_t which) {
  SearchNode* passed = met(node, proposals[which]);
  if (passed != nullptr && !passed->judged && passed != on_the_way(node, proposals[which].action))
    return Step{passed, false};
  MTMC_TRY(Written written, write(node, proposals, which, nullptr));
  if (!written.next) return written.known;
  written.next->judged = false, written.next->on_the_way = true;
  MTMC_TRY(SearchNode * kept, keep(std::move(*written.next), false));
  if (!node.announced) announce(node, false);
  return Step{kept, true};
}

SearchNode* Environment::on_the_way(const SearchNode& node, const Action& action) {
  for (SearchNode& made : nodes_)
    if (made.on_the_way && made.parent == &node && made.action == action) return &made;
  return nullptr;
}

Result<SearchNode*> Environment::judge_halfway(const SearchNode& node) {
  std::vector<const SearchNode*> between;  // the nearest first
  for (const SearchNode* at = node.parent; at != nullptr && !at->judged; at = at->parent) between.push_back(at);
  if (between.empty() || stopped()) return static_cast<SearchNode*>(nullptr);
  const SearchNode* half = between[(between.size() - 1) / 2];
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const SearchNode& one) { return &one == half; });
  MTMC_RETURN_IF_ERROR(judge_kept(*found));
  return &*found;
}

Status Environment::judge_kept(SearchNode& node) {
  say("judging " + node.rendered);
  if (coder_.prepares()) MTMC_RETURN_IF_ERROR(prepare_judge(node.state));
  MTMC_TRY(Judged verdict, judged(node.state, Tier::screen, recorded(node.parent->id, store_text(node.action))));
  ++evaluations_;
  if (!verdict.remembered) screen_seconds_ = std::max(screen_seconds_, verdict.verdict.seconds);
  MTMC_RETURN_IF_ERROR(store_.add_verdict(node.id, verdict.verdict));
  node.screen = std::move(verdict.verdict), node.judged = true;
  if (node.screen.certified()) by_state_[node.state_hash] = &node;
  announce(node, verdict.remembered);
  return ok_status();
}

Result<SearchNode*> Environment::judge_meanwhile(const SearchNode& last) {
  const int most = parts_.limits.evaluations;
  if (!coder_.prepares() || (most > 0 && evaluations_ + 1 >= most)) return static_cast<SearchNode*>(nullptr);
  MTMC_RETURN_IF_ERROR(prepare_judge(last.state));
  for (SearchNode& made : nodes_) {
    const bool behind = made.on_the_way && !made.judged && is_before(made, last);
    if (!behind || has_own_kernels(*made.state.program)) continue;
    MTMC_RETURN_IF_ERROR(judge_kept(made));
    return made.screen.certified() ? &made : nullptr;
  }
  return static_cast<SearchNode*>(nullptr);
}

Result<std::vector<SearchNode*>> Environment::judge_from_the_end(SearchNode& last, double enough) {
  std::vector<SearchNode*> right;
  SearchNode* worse = nullptr;  // the shortest way that was not right, or no faster
  SearchNode* at = &last;
  MTMC_RETURN_IF_ERROR(judge_kept(last));
  while (at != nullptr) {
    Step mended{at, true};
    if (!spent()) {
      MTMC_TRY(mended, mend(*at));
    }
    SearchNode* result = mended.node != nullptr && mended.node->screen.certified() ? mended.node : at;
    if (result->screen.certified()) right.push_back(result);
    if (result->score() <= enough) worse = at;
    // While nothing was gained, what is kept for certification is not kept: there would be nothing to certify.
    const bool gained = best()->score() > enough;
    const bool goes_on = !spent() || (!gained && !stopped() && searching() < parts_.limits.seconds);
    if (worse == nullptr || !goes_on) break;
    MTMC_TRY(at, judge_halfway(*worse));
  }
  return right;
}

Result<std::vector<SearchNode*>> Environment::judge_made(SearchNode& last, const std::vector<Proposal>& beside,
                                                         size_t first) {
  say("judging " + last.rendered);
  MTMC_RETURN_IF_ERROR(prepare_next(last, beside, first));
  return judge_from_the_end(last, 0);
}

bool Environment::may_descend(const SearchNode& node) const {
  return parts_.limits.seconds > 0 && !stopped() && policy_.foresees() && coder_.account().empty() &&
         node.state.program != nullptr;
}

Result<std::vector<SearchNode*>> Environment::descend(SearchNode& node) {
  const std::vector<SearchNode*> nothing;
  if (!may_descend(node)) return nothing;
  const double judgements =
      (parts_.limits.seconds - searching() - reserved(seconds_a_step())) / std::max(seconds_a_step(), 1e-9);
  if (judgements >= parts_.limits.steps) return nothing;
  const bool known = node.parent == nullptr && first_way_.has_value();
  MTMC_TRY(const Way way, known ? Result<Way>(*std::move(first_way_)) : foreseen(node));
  first_way_.reset();
  trace_note(fmt::format("{} steps foreseen, {} one by one, time for {:.1f} judgements", way.steps.size(),
                         way.one_by_one, judgements));
  if (way.one_by_one < 2 || judgements >= way.one_by_one) return nothing;
  SearchNode* last = &node;
  for (const SearchNode& next : way.steps) {  // to write them takes a fraction of what planning took
    if (last != &node && stopped()) break;
    MTMC_TRY(const Step made, make(*last, {{next.action, next.rendered}}, 0));
    if (!made.fresh) break;
    last = made.node;
    if (last->state.program == nullptr) break;
  }
  if (last == &node) return nothing;
  MTMC_TRY(SearchNode * meanwhile, judge_meanwhile(*last));
  MTMC_TRY(std::vector<SearchNode*> right, judge_from_the_end(*last, node.score()));
  if (meanwhile != nullptr) right.insert(right.begin(), meanwhile);
  return right;
}

}  // namespace mtmc
