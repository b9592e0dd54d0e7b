#include "lm/row.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "lm/log_probs.h"

namespace mtmc::lm {
namespace {

using at::Tensor;

Packing packing_of(const std::vector<const Prompt*>& prompts, bool with_actions, at::Device device) {
  std::vector<int64_t> lengths;
  std::vector<std::vector<int64_t>> actions(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    lengths.push_back(static_cast<int64_t>(prompts[i]->tokens.size()));
    for (size_t j = 0; with_actions && j < prompts[i]->actions.size(); ++j)
      actions[i].push_back(inputs_of(prompts[i]->actions[j]));
  }
  return {std::move(lengths), std::move(actions), device};
}

ReadingList list_of(const std::vector<const Prompt*>& prompts, ScoreMode mode, int64_t prompt_tokens) {
  ReadingList list;
  int64_t end = 0, own = prompt_tokens;
  for (const Prompt* prompt : prompts) {
    end += static_cast<int64_t>(prompt->tokens.size());
    for (const Candidate& action : prompt->actions) {
      list.add(action, mode, [&](size_t j) { return j == 0 ? end - 1 : own + static_cast<int64_t>(j) - 1; });
      own += inputs_of(action);
    }
  }
  return list;
}

}  // namespace

Tensor ids(const std::vector<int64_t>& values, at::Device device) { return at::tensor(values, at::kLong).to(device); }

Reading::Reading(const ReadingList& list, at::Device device)
    : rows(ids(list.rows, device)),
      tokens(ids(list.tokens, device)),
      owner(ids(list.owner, device)),
      divisors(at::tensor(list.divisors).to(device)),
      priors(at::tensor(list.priors).to(device)) {}

Tensor Reading::scores(const Model& model, const Tensor& states) const {
  const Tensor each = token_log_probs(at::index_select(states, 0, rows), model.head(), tokens);
  const Tensor sums = at::zeros(divisors.sizes(), each.options().requires_grad(false));
  return sums.index_add(0, owner, each) / divisors + priors;
}

Row::Row(const std::vector<const Prompt*>& prompts, bool with_actions, at::Device device)
    : packing(packing_of(prompts, with_actions, device)) {
  std::vector<int64_t> flat;
  for (const Prompt* prompt : prompts) flat.insert(flat.end(), prompt->tokens.begin(), prompt->tokens.end());
  for (size_t i = 0; with_actions && i < prompts.size(); ++i)
    for (const Candidate& action : prompts[i]->actions)
      flat.insert(flat.end(), action.tokens.begin(), action.tokens.end() - 1);
  tokens = ids(flat, device);
}

ScoredRow::ScoredRow(const std::vector<const Prompt*>& prompts, ScoreMode mode, at::Device device)
    : row(prompts, true, device), reading(list_of(prompts, mode, row.packing.prompt_tokens()), device) {}

std::vector<Tensor*> ScoredRow::tensors() {
  Packing& packing = row.packing;
  return {&row.tokens,   &packing.prompt_ends, &packing.decision_ends, &packing.action_ends, &packing.standing,
          &reading.rows, &reading.tokens,      &reading.owner,         &reading.divisors,    &reading.priors};
}

}  // namespace mtmc::lm
