// What walks through a tree can reach, when every step leads to the best that it ever led to: for each place and number
// of steps the least time, and the actions that begin a shortest way there. What cloning imitates and what a policy is
// measured against.
#pragma once
#include <cstddef>
#include <vector>

#include "learn/tree.h"

namespace mtmc {

constexpr double kFaster = 1.01;  // times as fast: less is luck
constexpr double kStep = 0.02;    // of a logarithm of times: what a step has to bring
constexpr double kLater = 0.9;    // who goes a long way loses it now and then

class Walks {
 public:
  // Of at most `steps` steps. `tree` must outlive it.
  Walks(const Tree& tree, int steps);
  int steps() const { return steps_; }
  // The least time that can be reached from a place in `left` steps, in units of eager's.
  double best_time(size_t place, int left) const { return best_[static_cast<size_t>(left)][place].time; }
  // Positions in the place's actions that begin a shortest way to that time; none: the place is as fast, `stop` is
  // best.
  std::vector<size_t> best_actions(size_t place, int left) const;
  // What each action at a place is worth in a walk that may take `left` more steps and whose least time was `best` so
  // far; `stop`, the last, is worth 0. The logarithm of how much faster a state behind it is, kLater times as much for
  // each further step there, less kStep, at the state where that is most; of an action that led to several the mean.
  std::vector<double> values(size_t place, int left, double best) const;
  // How many walks there are from the start to a right state.
  double count() const;

 private:
  struct Best {
    double time = 0;
    int steps = 0;  // that lead there
    bool operator==(const Best&) const = default;
  };
  template <typename Visit>
  void for_each_right(size_t place, Visit visit) const;

  const Tree& tree_;
  int steps_;
  std::vector<std::vector<Best>> best_;  // by steps left, by place
};

}  // namespace mtmc
