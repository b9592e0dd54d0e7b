// Steps that a strategy has chosen and whose questions to a language model are under way beside each other. They are
// taken in the order in which they were asked, whichever answer is there first, so that the same answers make the same
// run. A refused step's repair is asked behind them. Whoever asks nobody has one step under way: the next is chosen
// when it is known what came of it.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "search/environment.h"

namespace mtmc {

class AskedSteps {
 public:
  // How a step is made beside which nothing is under way.
  using Alone = std::function<Result<Environment::Step>(SearchNode&, const std::vector<Proposal>&, size_t which)>;
  explicit AskedSteps(Environment& environment)
      : AskedSteps(environment, [&environment](SearchNode& node, const std::vector<Proposal>& proposals, size_t which) {
          return environment.step(node, proposals, which);
        }) {}
  AskedSteps(Environment& environment, Alone alone) : environment_(environment), alone_(std::move(alone)) {}

  bool empty() const { return steps_.empty(); }
  size_t size() const { return steps_.size(); }
  // Whether another step may be added.
  bool room() const;
  // The `which`th of what is wanted at a node; `proposals` must outlive its step. False: it has to wait until nothing
  // is under way, since it asks nobody.
  bool add(SearchNode& node, const std::vector<Proposal>& proposals, size_t which);
  // Makes the oldest one. Nothing: it was refused, and its repair was added.
  Result<std::optional<Environment::Step>> take();

 private:
  struct Chosen {
    SearchNode* node;
    const std::vector<Proposal>* proposals;
    size_t which;
    std::unique_ptr<const std::vector<Proposal>> repair = {};  // its own proposals
  };
  bool affordable() const;  // limits hold for what is under way, too

  Environment& environment_;
  const Alone alone_;
  std::deque<Chosen> steps_;
  bool asks_ = false;  // what is under way
};

}  // namespace mtmc
