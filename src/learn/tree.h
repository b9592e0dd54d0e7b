// Dynamics from what was tried already: the states that a store holds of a task, merged over its runs. No coder, no
// judge, no compiler: a step is a look-up.
//
// States are right ones, told apart by state and code. What was tried at a state is known at all its codes. An action
// that was tried several times leads to each of its results in turn of chance, as often as it did; behind a refused
// result its remedy's stands for it, as in a search. An action that was never tried, or did something else when it was,
// leads to its state where that is known. What is left is unknown. Steps that a language model was asked beyond our
// actions are known where something of its was judged.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "learn/dynamics.h"
#include "store/store.h"

namespace mtmc {

// What becomes of an action of which nobody knows where it leads.
enum class Unknown {
  hidden,  // it is not offered: the episode stays on known ground
  ends     // it is offered as in a live environment, and ends the episode without a reward (Stepped::cut)
};

struct TreeOptions {
  Unknown unknown = Unknown::hidden;
  bool program = false;  // the Program's text is shown instead of the code
  // Told of each tree that is built, by one thread at a time: a thousand states take a minute or two of a core.
  std::function<void(size_t done, size_t of)> built = {};
};

constexpr int kNoCode = -1;

struct Tree {
  std::string name, hardware, description;
  std::vector<Place> places;  // the first is the start
  // outcomes[place][action]: the places that it led to, or kNoCode; none: unknown.
  std::vector<std::vector<std::vector<int>>> outcomes;
  std::string view = "code";  // what its places show: code, or program
  bool operator==(const Tree&) const = default;
};

// The trees of a store, one for each task, target, machine, judge and action space, in the order in which they were
// begun. Verdicts are those of the screen tier. Tasks whose start is refused have none.
Result<std::vector<Tree>> trees_of(Store& store, const TreeOptions& options = {});

class TreeDynamics final : public Dynamics {
 public:
  explicit TreeDynamics(std::vector<Tree> trees) : trees_(std::move(trees)) {}
  size_t tasks() const override { return trees_.size(); }
  std::string hardware(size_t task) const override { return trees_[task].hardware; }
  std::string description(size_t task) const override { return trees_[task].description; }
  Result<const Place*> start(size_t task) override { return &trees_[task].places.front(); }
  Result<const Place*> take(size_t task, const Place& place, size_t which, Rng& rng) override;
  bool unknown(size_t task, const Place& place, size_t which) const override;
  std::string leads_to(size_t task, const Place& place, size_t which) const override;
  const std::vector<Tree>& trees() const { return trees_; }

 private:
  const std::vector<int>& outcomes(size_t task, const Place& place, size_t which) const;
  std::vector<Tree> trees_;
};

}  // namespace mtmc
