// One pass over a row of prompts and all their actions, and what is read of its states to score them.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "lm/model.h"
#include "lm/scoring.h"

namespace mtmc::lm {

// What is read of states to score actions, on the host: for each token, the row of the state before it.
struct ReadingList {
  std::vector<int64_t> rows, tokens, owner;
  std::vector<float> divisors, priors;

  // `row_of(j)`: the row of the state before the action's j-th token.
  template <typename RowOf>
  void add(const Candidate& action, ScoreMode mode, RowOf&& row_of) {
    for (size_t j = 0; j < action.tokens.size(); ++j) {
      rows.push_back(row_of(j));
      tokens.push_back(action.tokens[j]);
      owner.push_back(static_cast<int64_t>(divisors.size()));
    }
    const int64_t count = mode == ScoreMode::sum         ? 1
                          : mode == ScoreMode::per_token ? static_cast<int64_t>(action.tokens.size())
                                                         : action.words;
    divisors.push_back(static_cast<float>(static_cast<double>(count) / action.voice));
    priors.push_back(static_cast<float>(action.prior));
  }
};

// The same on a device.
struct Reading {
  Reading(const ReadingList& list, at::Device device);
  // states [M, width] -> a score for each action.
  at::Tensor scores(const Model& model, const at::Tensor& states) const;

  at::Tensor rows, tokens, owner, divisors, priors;
};

at::Tensor ids(const std::vector<int64_t>& values, at::Device device);

// An action's last token is only ever predicted.
inline int64_t inputs_of(const Candidate& action) { return static_cast<int64_t>(action.tokens.size()) - 1; }

// One row of all prompts, and of all actions behind them where they are asked for.
struct Row {
  Row(const std::vector<const Prompt*>& prompts, bool with_actions, at::Device device);

  at::Tensor tokens;
  Packing packing;
};

// All that a pass over a row with its actions reads beside the model.
struct ScoredRow {
  ScoredRow(const std::vector<const Prompt*>& prompts, ScoreMode mode, at::Device device);
  // Of all prompts' actions.
  at::Tensor scores(const Model& model, bool adapters) const {
    return reading.scores(model, model.states(row.tokens, row.packing, adapters));
  }
  std::vector<at::Tensor*> tensors();

  Row row;
  Reading reading;
};

}  // namespace mtmc::lm
