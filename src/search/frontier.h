// Best first: which state is continued next, and with which of its actions. What counts is how fast the state was
// measured to be, times what its next action is expected to bring; each try there makes it less attractive, so that a
// dead end is left in time and a success is followed at once. The strategy `tree` goes by it, and so do the curves of
// `train evaluate`.
#pragma once
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace mtmc {

// For each action that was tried at a state. On the 360 tasks for training of datasets/h100 trees by the cost model
// need 9 states for 95 % of the best known with it, 10 with 0.9; and 11 where the state's time alone decides.
constexpr double kDiscount = 0.75;

// A state with its actions, the best first. State: how the caller knows it.
template <typename State>
struct Branch {
  State state;
  double speed = 1;                // how many times as fast as eager, measured
  double promise = 1;              // by what factor further steps are expected to help, where single ones have no gain
  bool ranked = false;             // whether its actions are known: asking may cost money, and waits until it is chosen
  std::vector<double> gains = {};  // what each action is expected to bring, as logarithms; empty: nobody knows
  size_t actions = 0, next = 0;    // how many there are, and the first that was not looked at
  int tries = 0;                   // of these, those that cost a measurement

  bool exhausted() const { return ranked && next >= actions; }
  double attraction() const {
    return speed * (next < gains.size() ? std::exp(gains[next]) : promise) * std::pow(kDiscount, tries);
  }
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
