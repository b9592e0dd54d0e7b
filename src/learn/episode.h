// The environment that a policy learns in: reset(task), look at what may be done, step(action) -> reward, until it is
// done. It keeps the history, rewards and limits; where steps lead is the business of its dynamics.
//
// An episode stands at a state whose code is right. A step whose code is refused, or for which there is none, leaves it
// there, with the penalty and a line in the history. What was tried at a state, or leads to a Program that was met
// before, is not offered again; where nothing else is left, ways back to states where it has been are. It ends with
// `stop`, after `steps` steps, or where nothing but `stop` is left.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "learn/dynamics.h"
#include "search/prompt.h"

namespace mtmc {

struct EpisodeOptions {
  int steps = 8;
  const RewardDef* reward = find_reward("shaped");
  RewardOptions reward_options = {};
};

// What one step did.
struct Stepped {
  double reward = 0;
  bool done = false;
  bool cut = false;  // done because nobody knows what the action leads to: no end that the policy chose or reached
  const Place* reached = nullptr;  // where it led, refused or not; null: nothing came of it
};

class Episode {
 public:
  // `dynamics` must outlive it.
  Episode(Dynamics& dynamics, EpisodeOptions options) : dynamics_(dynamics), options_(std::move(options)) {}

  // Begins anew; the seed decides where steps lead that led to several places.
  Status reset(size_t task, uint64_t seed);
  // What may be done, `stop` last.
  const std::vector<std::string>& actions() const { return actions_; }
  // The same without `stop`, by position among the actions of place().
  const std::vector<size_t>& offered() const { return offered_; }
  // What the cost model expects of each (search/gains.h).
  const std::vector<double>& gains() const { return gains_; }
  // By position in actions(). Not after the episode is done.
  Result<Stepped> step(size_t action);

  // The observation; see prompt.h.
  Result<std::string> prompt(const PromptOptions& options) const;
  // Of training, 0 to 1: what rewards may depend on.
  void set_progress(double progress) { progress_ = progress; }

  const Place& place() const { return *place_; }
  const std::vector<HistoryStep>& history() const { return history_; }
  int taken() const { return taken_; }
  bool done() const { return done_; }
  // The least time of a right state so far, in units of eager's.
  double best() const { return best_; }

 private:
  void stand_at(const Place& place);
  void offer();
  Payment pay(const Place* reached);

  Dynamics& dynamics_;
  EpisodeOptions options_;
  double progress_ = 0;
  size_t task_ = 0;
  Rng rng_{0};
  const Place* place_ = nullptr;
  std::vector<std::string> actions_;
  std::vector<double> gains_;
  std::vector<size_t> offered_;
  std::vector<HistoryStep> history_;
  std::set<std::string> visited_, met_;                  // states where it has stood; all, refused ones too
  std::set<std::pair<std::string, std::string>> tried_;  // state and action
  int taken_ = 0;
  bool done_ = true;
  double best_ = 1;
  double paid_ = 1;  // the time that rewards have been paid for, see Moment::before
};

}  // namespace mtmc
