// Searches through a task's tree of measured states, as the strategies of a live search: what they try next depends on
// what was measured. What the actions of a state are expected to bring, they ask.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "learn/episode.h"
#include "learn/tree.h"

namespace mtmc::train {

// What was measured of a task so far: each state counts once, refused or not; the start does not, nor does what had no
// code.
class Measured {
 public:
  Measured(const Tree& tree, size_t states);
  // Whether it is a new state, and there was still room for one.
  bool add(const Place* reached);
  bool full() const { return curve_.size() >= states_; }
  size_t size() const { return curve_.size(); }
  // log(start / best time) of the first n states, or of as many as there are.
  double gain(size_t n) const;

 private:
  size_t states_;
  double start_, best_;
  std::set<const Place*> seen_;
  std::vector<double> curve_;
};

class GuidedSearch {
 public:
  GuidedSearch(TreeDynamics& dynamics, size_t task, size_t states)
      : dynamics_(dynamics), task_(task), measured_(dynamics.trees()[task], states) {}
  virtual ~GuidedSearch() = default;
  Status begin(int steps, uint64_t seed);
  // The state that stands before its next question; null: it is over.
  const Episode* asks() const { return asks_; }
  // For each of that state's actions, `stop` last, what it is expected to bring (search/gains.h). Goes on to the next
  // question.
  virtual Status answer(const std::vector<double>& gains) = 0;
  const Measured& measured() const { return measured_; }

 protected:
  virtual void start(Episode episode) = 0;
  // What comes of an action: of a new state that is right and not at the end of its steps, the episode that stands
  // there.
  struct Tried {
    bool known = false;  // it would lead to a state that was met: nothing was measured
    bool fresh = false;
    std::unique_ptr<Episode> right = nullptr;
  };
  Result<Tried> take(const Episode& from, size_t action);
  // The same in two steps: where an action leads, and, once for each state, its measurement.
  struct Reached {
    const Place* place = nullptr;  // null: no code, or a state that was met
    bool known = false, done = false;
    std::unique_ptr<Episode> episode = nullptr;  // that stands there; of one that is not right, before it
    bool right() const { return place != nullptr && place->standing == Standing::right; }
  };
  Result<Reached> go(const Episode& from, size_t action);
  bool would_be_new(const Episode& from, size_t action) const;
  bool measure(const Place* place) { return measured_.add(place); }
  // The actions that are expected to bring more than `stop`, the best first.
  static std::vector<size_t> wanted(const std::vector<double>& gains);

  const Episode* asks_ = nullptr;

 private:
  TreeDynamics& dynamics_;
  size_t task_;
  Measured measured_;
  std::set<std::string> met_;
};

// By the rule of the strategy `tree` (search/frontier.h).
std::unique_ptr<GuidedSearch> tree_search(TreeDynamics& dynamics, size_t task, size_t states);
// The same; but what is expected to gain a lot behind a step is done before anything is measured.
std::unique_ptr<GuidedSearch> descending_search(TreeDynamics& dynamics, size_t task, size_t states);
// As the strategy `beam`; it keeps the fastest.
std::unique_ptr<GuidedSearch> beam_search(TreeDynamics& dynamics, size_t task, size_t states);

}  // namespace mtmc::train
