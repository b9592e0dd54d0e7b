#include "learn/tree.h"

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "base/parallel.h"
#include "eval/stats.h"
#include "learn/live.h"
#include "learn/times.h"
#include "search/prompt.h"
#include "targets/shell_json.h"

namespace mtmc {
namespace {

// Whether a run had the paper's action space.
bool is_papers(const RunRecord& run) {
  const Json options = Json::parse(run.options, nullptr, false);
  return options.is_object() && options.value("actions", "all") == "paper";
}

// The store's records of one task as a tree in the making.
class Builder {
 public:
  Builder(const RunRecord& run, const TreeOptions& options) : run_(run), options_(options), papers_(is_papers(run)) {}

  void add(std::vector<NodeRecord> nodes) {
    records_.push_back(std::move(nodes));
    std::map<NodeId, const NodeRecord*> by_id;
    for (const NodeRecord& node : records_.back()) by_id[node.id] = &node;
    std::map<NodeId, const NodeRecord*> mended;  // a refused node -> the remedy's node behind it
    for (const NodeRecord& node : records_.back())
      if (node.parent != kNoNode && node.screen && !right(*by_id[node.parent])) mended.emplace(node.parent, &node);
    for (const NodeRecord& node : records_.back()) {
      if (node.parent == kNoNode && node.screen && start_ == nullptr) start_ = &node;
      if (node.parent == kNoNode || !right(*by_id[node.parent])) continue;
      if (!node.screen && node.failure.empty()) continue;  // cut off before it was judged
      const NodeRecord* result = &node;
      while (!right(*result) && mended.contains(result->id)) result = mended.at(result->id);
      Tried& tried = tried_[by_id[node.parent]->state_hash][node.action];
      tried.rendered = node.rendered;
      tried.results.push_back(result);
      tried.led.push_back(node.state_hash);
    }
  }

  // No tree where the start is refused.
  Result<std::optional<Tree>> build() {
    if (start_ == nullptr || !right(*start_)) return std::optional<Tree>();
    MTMC_TRY(shell_, shell_from_json_text(run_.shell));
    target_ = find_target(run_.target);
    if (target_ == nullptr)
      return Error{"building a tree", "no target has this name", run_.target, "a store of this version"};
    forecaster_ = std::make_unique<Forecaster>(context());
    Tree tree{run_.task.name,
              hardware_line(run_.hardware),
              shell_.description,
              {},
              {},
              options_.program ? "program" : "code"};
    number(*start_);
    for (const auto& [state, actions] : tried_)
      for (const auto& [action, tried] : actions)
        for (const NodeRecord* result : tried.results)
          if (result->screen) number(*result);
    std::vector<double> eager;
    for (const NodeRecord* node : order_)
      if (const double quick = quick_ms(*node->screen, "eager"); quick > 0) eager.push_back(quick);
    usual_ms_ = eager.empty() ? 0 : median(eager);
    tree.places.resize(order_.size());
    tree.outcomes.resize(order_.size());
    for (size_t i = 0; i < order_.size(); ++i) MTMC_RETURN_IF_ERROR(fill(*order_[i], tree.places[i], tree.outcomes[i]));
    forecaster_.reset();
    return std::optional<Tree>(std::move(tree));
  }

 private:
  struct Tried {
    std::string rendered;
    std::vector<const NodeRecord*> results;
    std::vector<std::string> led;  // to which states, before any remedy; empty where there was no code
  };

  static bool wrote_free_code(const Tried& tried) {
    return std::any_of(tried.results.begin(), tried.results.end(),
                       [](const NodeRecord* result) { return result->screen && result->program.empty(); });
  }

  static bool right(const NodeRecord& node) { return node.screen && node.screen->certified(); }

  int number(const NodeRecord& node) {
    const auto [at, fresh] =
        index_.emplace(std::pair{node.state_hash, node.code_hash}, static_cast<int>(order_.size()));
    if (fresh) {
      order_.push_back(&node);
      if (right(node)) right_[node.state_hash].push_back(at->second);
    }
    return at->second;
  }

  const Tried* tried(const std::string& state, const std::string& action) const {
    const auto of_state = tried_.find(state);
    if (of_state == tried_.end()) return nullptr;
    const auto at = of_state->second.find(action);
    return at == of_state->second.end() ? nullptr : &at->second;
  }

  // All that can be done at a place: what is legal where it has a Program, else what was tried. With a Program what a
  // coder of free code was asked beyond that (coder/beyond.h) is on offer, too, where something of its was judged: what
  // becomes of anything else that it could be asked nobody knows.
  std::vector<Proposal> proposals(const NodeRecord& node, const CodeState& state) const {
    std::vector<Proposal> all;
    if (state.program == nullptr) {
      if (const auto of_state = tried_.find(node.state_hash); of_state != tried_.end())
        for (const auto& [action, tried] : of_state->second)
          all.push_back({parse_action(action).value(), tried.rendered});
    } else {
      std::set<std::string> legal;
      for (Action& action : enumerate_actions(*state.program, context()))
        if (action.type != "stop") {
          legal.insert(store_text(action));
          std::string text = render(action, *state.program, state.code);
          all.push_back({std::move(action), std::move(text)});
        }
      if (const auto of_state = tried_.find(node.state_hash); of_state != tried_.end())
        for (const auto& [action, tried] : of_state->second)
          if (!legal.contains(action) && wrote_free_code(tried))
            if (auto beyond = parse_action(action); beyond.ok() && find_action(beyond->type) != nullptr)
              all.push_back({std::move(*beyond), tried.rendered, true});
    }
    all.push_back({{"stop", {}, ""}, "stop"});
    return all;
  }

  std::vector<int> outcomes_of(const NodeRecord& node, const CodeState& state, const Action& action) const {
    std::vector<int> outcomes;
    std::string leads;  // the state that it leads to today: actions may have changed since it was tried
    if (state.program != nullptr)
      if (const auto next = apply_action(*state.program, action, context()); next.ok()) leads = state_hash(*next);
    if (const Tried* known = tried(node.state_hash, store_text(action)))
      for (size_t i = 0; i < known->results.size(); ++i) {
        const NodeRecord& result = *known->results[i];
        if (!leads.empty() && (result.screen ? known->led[i] != leads : right_.contains(leads))) continue;
        outcomes.push_back(result.screen ? index_.at({result.state_hash, result.code_hash}) : kNoCode);
      }
    if (!outcomes.empty()) return outcomes;
    const auto at = right_.find(leads);
    return at == right_.end() ? outcomes : at->second;
  }

  Status fill(const NodeRecord& node, Place& place, std::vector<std::vector<int>>& outcomes) const {
    CodeState state{nullptr, Code{.text = node.code}};
    if (!right(node)) {
      MTMC_TRY(place, place_of(state, node.state_hash, *node.screen, {}, context(), *forecaster_, false));
      return ok_status();
    }
    if (!node.program.empty()) {
      MTMC_TRY(Program program, parse_program(node.program));
      if (!options_.program) {  // where the code's lines come from
        MTMC_TRY(state.code, target_->emit(program, run_.hardware, shell_));
      }
      state.code.text = node.code;
      state.program = std::make_shared<const Program>(std::move(program));
    }
    std::vector<Proposal> wanted = proposals(node, state);
    std::map<std::string, std::vector<int>> led;  // what to apply an action costs is most of the work
    for (const Proposal& proposal : wanted)
      if (!proposal.stop()) led[store_text(proposal.action)] = outcomes_of(node, state, proposal.action);
    size_t unknown = 0;
    if (options_.unknown == Unknown::hidden)
      unknown = std::erase_if(wanted, [&](const Proposal& proposal) {
        return !proposal.stop() && led.at(store_text(proposal.action)).empty();
      });
    MTMC_TRY(place, place_of(state, node.state_hash, *node.screen, wanted, context(), *forecaster_, options_.program));
    place.time = steady_time(*node.screen, usual_ms_);
    place.left_out += unknown;
    for (const PlaceAction& action : place.actions) outcomes.push_back(led[action.action]);
    return ok_status();
  }

  ActionContext context() const { return {run_.hardware, *target_, papers_}; }

  const RunRecord& run_;
  TreeOptions options_;
  bool papers_;
  ModuleShell shell_;
  const TargetDef* target_ = nullptr;
  std::unique_ptr<Forecaster> forecaster_;
  std::list<std::vector<NodeRecord>> records_;
  const NodeRecord* start_ = nullptr;
  double usual_ms_ = 0;                                        // of eager
  std::map<std::string, std::map<std::string, Tried>> tried_;  // state_hash -> action
  std::map<std::pair<std::string, std::string>, int> index_;   // (state_hash, code_hash) -> place
  std::vector<const NodeRecord*> order_;
  std::map<std::string, std::vector<int>> right_;  // state_hash -> places
};

}  // namespace

Result<std::vector<Tree>> trees_of(Store& store, const TreeOptions& options) {
  MTMC_TRY(const std::vector<RunRecord> runs, store.runs());
  using Key = std::tuple<std::string, std::string, std::string, std::string, bool>;
  std::map<Key, Builder*> builders;
  std::list<Builder> in_order;
  for (const RunRecord& run : runs) {
    Builder*& builder = builders[{run.task_hash, run.target, run.hardware.name, run.evaluator, is_papers(run)}];
    if (builder == nullptr) builder = &in_order.emplace_back(run, options);
    MTMC_TRY(std::vector<NodeRecord> nodes, store.nodes(run.id));
    builder->add(std::move(nodes));
  }
  std::vector<Builder*> all;
  for (Builder& builder : in_order) all.push_back(&builder);
  std::vector<std::optional<Result<std::optional<Tree>>>> built(all.size());
  std::mutex lock;
  size_t done = 0;
  in_parallel(all.size(), [&](size_t i) {
    built[i] = all[i]->build();
    const std::lock_guard held(lock);
    if (options.built) options.built(++done, all.size());
  });
  std::vector<Tree> trees;
  for (auto& one : built) {
    MTMC_TRY(auto tree, std::move(*one));
    if (tree) trees.push_back(std::move(*tree));
  }
  return trees;
}

const std::vector<int>& TreeDynamics::outcomes(size_t task, const Place& place, size_t which) const {
  const Tree& tree = trees_[task];
  const auto index = static_cast<size_t>(&place - tree.places.data());
  MTMC_CHECK(index < tree.places.size(), "a place of another tree");
  return tree.outcomes[index][which];
}

bool TreeDynamics::unknown(size_t task, const Place& place, size_t which) const {
  return outcomes(task, place, which).empty();
}

std::string TreeDynamics::leads_to(size_t task, const Place& place, size_t which) const {
  std::string state;
  for (const int to : outcomes(task, place, which)) {
    if (to == kNoCode) return "";
    const std::string& one = trees_[task].places[static_cast<size_t>(to)].state;
    if (!state.empty() && one != state) return "";
    state = one;
  }
  return state;
}

Result<const Place*> TreeDynamics::take(size_t task, const Place& place, size_t which, Rng& rng) {
  const std::vector<int>& led = outcomes(task, place, which);
  const int to = led[rng.below(led.size())];
  return to == kNoCode ? nullptr : &trees_[task].places[static_cast<size_t>(to)];
}

}  // namespace mtmc
