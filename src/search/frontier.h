// Best first: which state is continued next, and with which of its actions. What counts is how fast the state was
// measured to be, times what its next action is hoped to bring; each try there makes it less attractive, so that a
// dead end is left in time and a success is followed at once. What is sure behind a step is done before anything is
// measured (a descent); what was passed on the way counts for as fast as it is hoped to be. The strategy `tree` goes by
// it, and so do the curves of `train evaluate`.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace mtmc {

// For each action that was tried at a state.
constexpr double kDiscount = 0.75;
// Of an expected gain half comes true in the middle; graphs are what is most often much better than expected, the less
// so the more they are expected to lose, which is what they copy; and what should lose a little is better than expected
// often enough. On the 63 held-out tasks of datasets/h100 trees by the cost model need 8 states for 95 % of the best
// known by what is hoped for so; on the 360 for training they needed 10 by the expected gain alone.
constexpr double kTrust = 0.5, kHopeOfGraphs = 0.3, kGraphLoses = -0.05;
constexpr double kLeastHope = -0.15;                // less is not worth a measurement
constexpr double kLeastGain = kLeastHope / kTrust;  // no action of less gain is
constexpr double kSure = 0.1;  // an expected gain from which on an action behind another one is not measured by itself

// What a search that measures hopes for, from what an action (its stored text, or its type) is expected to bring; both
// are logarithms.
inline double hoped(std::string_view action, double gain) {
  const bool graph = action.starts_with("capture");
  return kTrust * gain + (graph ? kHopeOfGraphs * std::clamp(1 - gain / kGraphLoses, 0.0, 1.0) : 0);
}

// What is thought of an action.
struct Chance {
  double hope = 0;     // `hoped`; 0 where nobody knows
  bool sure = false;   // see kSure
  bool tried = false;  // or passed over
};

// A state with its actions, the best first. State: how the caller knows it.
template <typename State>
struct Branch {
  State state;
  double speed = 1;          // how many times as fast as eager, measured or, of what was only passed, hoped for
  double promise = 1;        // by what factor further steps are expected to help, where single ones have no gain
  bool ranked = false;       // whether its actions are known: asking may cost money, and waits until it is chosen
  bool knows_gains = false;  // whether their hopes are
  std::vector<Chance> chances = {};
  size_t next = 0;  // the first that was not tried
  int tries = 0;    // those that cost a measurement, or were passed

  bool exhausted() const { return ranked && next >= chances.size(); }
  double attraction() const {
    const bool known = knows_gains && next < chances.size();
    return speed * (known ? std::exp(chances[next].hope) : promise) * std::pow(kDiscount, tries);
  }
  // How fast the state is hoped to be behind an action.
  double speed_behind(size_t action) const { return speed * std::exp(chances[action].hope); }
  // What is done at once where the state was reached by a step that is not measured yet.
  std::optional<size_t> sure() const {
    for (size_t i = next; i < chances.size(); ++i)
      if (chances[i].sure && !chances[i].tried) return i;
    return std::nullopt;
  }
  void tried(size_t action) {
    chances[action].tried = true;
    while (next < chances.size() && chances[next].tried) ++next;
  }
  // Nothing more is to be done there.
  void close() { ranked = true, chances.clear(), next = 0; }
};

template <typename State>
class Frontier {
 public:
  Branch<State>& open(State state, double speed, double promise = 1) {
    return branches_.emplace_back(Branch<State>{std::move(state), speed, promise});
  }
  // Of those with something left the most attractive one, of equal ones the oldest; null: all is tried.
  Branch<State>* most_attractive() {
    Branch<State>* best = nullptr;
    for (Branch<State>& one : branches_)
      if (!one.exhausted() && (best == nullptr || one.attraction() > best->attraction())) best = &one;
    return best;
  }

 private:
  std::deque<Branch<State>> branches_;  // they never move
};

}  // namespace mtmc
