// Where steps lead: the states of a task, what may be done at each, and what comes of it. Two kinds: the tree that a
// store holds (tree.h), and a coder with a judge (live.h). Episode makes an environment of either.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "learn/reward.h"

namespace mtmc {

// An action at a place; `stop` is none of these.
struct PlaceAction {
  std::string text;    // as the policy reads it: "fuse linear and gelu in lines 31-47"
  std::string action;  // stored text, "fuse %3 %4"
  double share = 0;    // of the time, what its region takes by the cost model
  double gain = 0;     // what that model expects of it (search/gains.h); 0 where there is no Program
  bool operator==(const PlaceAction&) const = default;
};

// A state as the judge left it.
struct Place {
  std::string state;    // names the state: its hash
  std::string code;     // what the policy is shown: kernel.py, or the Program's text
  std::string outcome;  // "certified", or the reason of the refusal
  Standing standing = Standing::right;
  double time = 1;                   // of one call, in units of eager's in the same rounds; right ones only
  std::vector<PlaceAction> actions;  // what may be done there, in a stable order
  size_t left_out = 0;               // further actions, that the first pass does not offer
  bool operator==(const Place&) const = default;
};

class Dynamics {
 public:
  virtual ~Dynamics() = default;
  virtual size_t tasks() const = 0;
  virtual std::string hardware(size_t task) const = 0;     // one line
  virtual std::string description(size_t task) const = 0;  // one line
  // The untouched program of a task. Places live as long as the dynamics.
  virtual Result<const Place*> start(size_t task) = 0;
  // What the `which`th action at a place leads to; where it led to several, one that `rng` draws. Null: the coder had
  // no code for it. A place that is not right is only told: an episode stays where it was.
  virtual Result<const Place*> take(size_t task, const Place& place, size_t which, Rng& rng) = 0;
  // The state that the `which`th action at a place is known to lead to before anything is coded or judged: what its
  // Program will be; empty where only a coder can tell.
  virtual std::string leads_to(size_t, const Place&, size_t) const { return ""; }
  // Nobody knows what this action leads to: an episode that takes it ends there, without a reward.
  virtual bool unknown(size_t, const Place&, size_t) const { return false; }
};

}  // namespace mtmc
