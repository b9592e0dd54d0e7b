// Scores of one decision after the other, on a GPU. There a pass of 135 million weights over a prompt and its actions
// takes a few milliseconds, and launching its thousand kernels and more ten times as long. So a row of tokens is filled
// up to one of a few sizes, by a second prompt with actions of its own that nobody asks about; a pass over rows of a
// size that comes back is captured once and then replayed.
#pragma once
#include <list>

#include "lm/capture.h"
#include "lm/row.h"

namespace mtmc::lm {

struct RowSizes {
  explicit RowSizes(const Prompt& prompt);
  bool operator==(const RowSizes&) const = default;
  int64_t prompt_tokens, action_tokens, actions;
};

class CapturedScores {
 public:
  // Not more tokens than a GPU is busy with longer than launches take, or than one product of all with all has room
  // for.
  static bool takes(const Model& model, const Prompt& prompt);

  // The actions' scores [N] in fp32, equal to `score`; without gradients. On a CPU they are equal, too, launch by
  // launch.
  at::Tensor score(const Model& model, const Prompt& prompt, ScoreMode mode);

  // Of the present version of the weights: the sizes that came, and how many passes are captured.
  size_t sizes() const { return kept_.size(); }
  size_t captured() const;
  // Why none is, where it was tried in vain.
  const std::string& wrong() const { return wrong_; }

 private:
  struct Kept {
    RowSizes sizes;
    ScoredRow row;  // its tensors stay where they are
    at::Tensor scores;
    std::unique_ptr<Graph> graph;
  };
  void try_to_capture(const Model& model, Kept& kept);

  uint64_t version_ = 0;
  std::list<Kept> kept_;  // the last used first
  std::string wrong_;
};

}  // namespace mtmc::lm
