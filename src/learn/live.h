// Dynamics with a coder and a judge: every step is implemented, judged and stored, through the search's Environment.
#pragma once
#include <map>
#include <string>

#include "learn/dynamics.h"
#include "search/environment.h"
#include "search/prospect.h"

namespace mtmc {

// How far the code of a verdict came: what did not compile or load, what ran and is not right, what is.
Standing standing_of(const Verdict& verdict);
// The time of one call in units of eager's, both from the same rounds: 1 over the median of the speedup.
double time_of(const Verdict& verdict);
// A judged state with what may be done there: `actions` and `left_out` by the first pass. `program`: it is shown
// instead of the code. `forecaster` is of the same context.
Result<Place> place_of(const CodeState& state, const std::string& state_hash, const Verdict& verdict,
                       const std::vector<Proposal>& proposals, const ActionContext& context, Forecaster& forecaster,
                       bool program);

class LiveDynamics final : public Dynamics {
 public:
  // One task. The environment must outlive it, and its limits must be wide enough for what is learned in it; a step
  // when they are spent is an Error.
  explicit LiveDynamics(Environment& environment, bool program = false)
      : environment_(environment), forecaster_(environment.context()), program_(program) {}
  size_t tasks() const override { return 1; }
  std::string hardware(size_t) const override { return hardware_line(environment_.context().hardware); }
  std::string description(size_t) const override { return environment_.description(); }
  Result<const Place*> start(size_t task) override;
  Result<const Place*> take(size_t task, const Place& place, size_t which, Rng& rng) override;
  std::string leads_to(size_t, const Place& place, size_t which) const override {
    return known_.at(&place)->leads[which];
  }

 private:
  struct Known {
    SearchNode* node = nullptr;
    std::vector<Proposal> proposals;  // of the place's actions, in their order
    Place place;
    std::vector<std::string> leads;  // to which state each leads; empty where only a coder can tell
  };
  Result<const Place*> known(SearchNode& node);

  Environment& environment_;
  Forecaster forecaster_;
  bool program_;
  SearchNode* start_ = nullptr;
  std::map<const SearchNode*, Known> places_;
  std::map<const Place*, const Known*> known_;
};

}  // namespace mtmc
