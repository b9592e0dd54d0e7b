#include "lm/scoring.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "lm/log_probs.h"

namespace mtmc::lm {
namespace {

using at::Tensor;

Tensor ids(const std::vector<int64_t>& values, const Model& model) {
  return at::tensor(values, at::kLong).to(model.placement().device);
}

// Rows of tokens, padded to one length with token 0 on the right: [rows, length].
Tensor padded(const std::vector<std::vector<TokenId>>& rows, const Model& model) {
  size_t length = 0;
  for (const auto& row : rows) length = std::max(length, row.size());
  std::vector<int64_t> flat(rows.size() * length, 0);
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(), flat.begin() + static_cast<long>(i * length));
  return ids(flat, model).view({static_cast<int64_t>(rows.size()), static_cast<int64_t>(length)});
}

// What is read of the states to score actions: for each token, the row of the state before it.
struct Reading {
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

  // states [M, width] -> a score for each action.
  Tensor scores(const Model& model, const Tensor& states) const {
    const Tensor each =
        token_log_probs(at::index_select(states, 0, ids(rows, model)), model.head(), ids(tokens, model));
    const Tensor sums = at::zeros({static_cast<int64_t>(divisors.size())}, each.options().requires_grad(false));
    const Tensor own = sums.index_add(0, ids(owner, model), each) / at::tensor(divisors).to(each.device());
    return own + at::tensor(priors).to(each.device());
  }
};

// An action's last token is only ever predicted.
int64_t inputs_of(const Candidate& action) { return static_cast<int64_t>(action.tokens.size()) - 1; }

// One row of all prompts, and of all actions behind them where they are asked for.
struct Row {
  Row(const Model& model, const std::vector<const Prompt*>& prompts, bool actions) {
    std::vector<int64_t> flat, lengths;
    std::vector<std::vector<int64_t>> of_actions(prompts.size());
    for (const Prompt* prompt : prompts) {
      flat.insert(flat.end(), prompt->tokens.begin(), prompt->tokens.end());
      lengths.push_back(static_cast<int64_t>(prompt->tokens.size()));
    }
    for (size_t i = 0; actions && i < prompts.size(); ++i)
      for (const Candidate& action : prompts[i]->actions) {
        flat.insert(flat.end(), action.tokens.begin(), action.tokens.end() - 1);
        of_actions[i].push_back(inputs_of(action));
      }
    packing.emplace(std::move(lengths), std::move(of_actions), model.placement().device);
    tokens = ids(flat, model);
  }
  Tensor tokens;
  std::optional<Packing> packing;
};

// What a layer's backward pass needs of a token: some 16 numbers for each of its width and 4 for each inside of its
// MLP.
int64_t pass_tokens(const Model& model) {
  const ModelConfig& config = model.config();
  const double numbers = static_cast<double>(config.layers * (16 * config.width + 4 * config.inner));
  const double bytes = numbers * (model.placement().dtype == at::kFloat ? 4 : 2);
  return std::max<int64_t>(1, static_cast<int64_t>((model.placement().device.is_cuda() ? 20e9 : 2e9) / bytes));
}

int64_t common_prefix(const std::vector<TokenId>& a, const std::vector<TokenId>& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

}  // namespace

Result<ScoreMode> score_mode(const std::string& name) {
  if (name == "sum") return ScoreMode::sum;
  if (name == "token") return ScoreMode::per_token;
  if (name == "word") return ScoreMode::per_word;
  return Error{"scoring actions", "unknown mode", name, "sum, token or word"};
}

std::string to_string(ScoreMode mode) {
  return mode == ScoreMode::sum ? "sum" : mode == ScoreMode::per_token ? "token" : "word";
}

Result<Prompt> read_prompt(const Tokenizer& tokenizer, const ModelConfig& config, const std::string& text,
                           const std::vector<std::string>& actions) {
  Prompt prompt;
  MTMC_TRY(prompt.tokens, tokenizer.encode(text, true));
  if (prompt.tokens.empty()) return Error{"scoring actions", "the prompt has no tokens", "", "a prompt"};
  if (actions.empty()) return Error{"scoring actions", "no action", "", "one at least"};
  size_t longest = 0;
  for (const std::string& action : actions) {
    MTMC_TRY(auto tokens, tokenizer.encode(action, false));
    if (tokens.empty()) return Error{"scoring actions", "an action without tokens", "'" + action + "'", "some text"};
    longest = std::max(longest, tokens.size());
    int64_t words = 0;
    for (const std::string& word : split(action, ' ')) words += !trim(word).empty();
    prompt.actions.push_back({std::move(tokens), std::max<int64_t>(words, 1)});
  }
  if (static_cast<int64_t>(prompt.tokens.size() + longest) > config.context)
    return Error{"scoring actions", "the prompt is too long",
                 fmt::format("{} tokens and an action of {}", prompt.tokens.size(), longest),
                 fmt::format("{} in all", config.context)};
  return prompt;
}

void add_prior(Prompt& prompt, const std::vector<double>& gains, const Prior& prior) {
  MTMC_CHECK(gains.size() == prompt.actions.size(), "an expectation for each action");
  MTMC_CHECK(prior.voice > 0, "a model without a voice cannot learn");
  for (size_t i = 0; i < gains.size(); ++i)
    prompt.actions[i].prior = prior.weight * gains[i], prompt.actions[i].voice = prior.voice;
}

Understood understand(const Model& model, const std::vector<TokenId>& tokens, bool adapters, const Understood* begun,
                      int64_t shared) {
  const KeyValues past = begun != nullptr && shared > 0 ? begun->past.first(shared) : KeyValues{};
  Understood understood{tokens, {}, {}};
  const Tensor rest = padded({{tokens.begin() + past.length(), tokens.end()}}, model);
  const Tensor states = model.states(rest, {&past, &understood.past, adapters});
  understood.last = states[0][-1];
  return understood;
}

const Understood& PromptCache::understand(const Model& model, const std::vector<TokenId>& tokens) {
  const at::AutoGradMode no_grad(false);
  if (const uint64_t version = model.weight_version(); version != version_) {
    prompts_.clear();
    version_ = version;
  }
  auto best = prompts_.end();
  int64_t shared = 0;
  for (auto at = prompts_.begin(); at != prompts_.end(); ++at)
    if (const int64_t common = common_prefix(at->tokens, tokens); common > shared) best = at, shared = common;
  const auto length = static_cast<int64_t>(tokens.size());
  reused_ = shared;
  if (best != prompts_.end() && shared == length && best->tokens.size() == tokens.size()) {
    prompts_.splice(prompts_.begin(), prompts_, best);
    return prompts_.front();
  }
  reused_ = shared = std::min(shared, length - 1);  // the last token's state is needed
  prompts_.push_front(lm::understand(model, tokens, true, best == prompts_.end() ? nullptr : &*best, shared));
  if (prompts_.size() > capacity_) prompts_.pop_back();
  return prompts_.front();
}

Tensor score(const Model& model, const Understood& prompt, const std::vector<Candidate>& actions, ScoreMode mode,
             bool adapters) {
  std::vector<std::vector<TokenId>> inputs;  // an action's last token is only ever predicted
  size_t length = 0;
  for (const Candidate& action : actions) {
    inputs.emplace_back(action.tokens.begin(), action.tokens.end() - 1);
    length = std::max(length, inputs.back().size());
  }
  Tensor states = prompt.last.unsqueeze(0);
  if (length > 0) {
    const Tensor own = model.states(padded(inputs, model), {&prompt.past, nullptr, adapters});
    states = at::cat({states, own.flatten(0, 1)});
  }
  Reading reading;
  for (size_t i = 0; i < actions.size(); ++i)
    reading.add(actions[i], mode, [&](size_t j) { return j == 0 ? 0 : static_cast<int64_t>(1 + i * length + j - 1); });
  return reading.scores(model, states);
}

std::vector<Tensor> score_all(const Model& model, const std::vector<const Prompt*>& prompts, ScoreMode mode,
                              bool adapters) {
  const Row row(model, prompts, true);
  const Tensor states = model.states(row.tokens, *row.packing, adapters);
  Reading reading;
  std::vector<int64_t> counts;
  int64_t end = 0, own = row.packing->prompt_tokens();
  for (const Prompt* prompt : prompts) {
    end += static_cast<int64_t>(prompt->tokens.size());
    for (const Candidate& action : prompt->actions) {
      reading.add(action, mode, [&](size_t j) { return j == 0 ? end - 1 : own + static_cast<int64_t>(j) - 1; });
      own += inputs_of(action);
    }
    counts.push_back(static_cast<int64_t>(prompt->actions.size()));
  }
  return reading.scores(model, states).split_with_sizes(counts);
}

Tensor last_states(const Model& model, const std::vector<const Prompt*>& prompts, bool adapters) {
  const Row row(model, prompts, false);
  std::vector<int64_t> last;
  for (int64_t end = 0; const int64_t length : row.packing->prompts) last.push_back((end += length) - 1);
  return at::index_select(model.states(row.tokens, *row.packing, adapters), 0, ids(last, model));
}

std::vector<std::vector<const Prompt*>> in_parts(const Model& model, const std::vector<const Prompt*>& prompts) {
  const int64_t most = pass_tokens(model);
  std::vector<std::vector<const Prompt*>> parts;
  int64_t tokens = 0;
  for (const Prompt* prompt : prompts) {
    int64_t own = static_cast<int64_t>(prompt->tokens.size());
    for (const Candidate& action : prompt->actions) own += inputs_of(action);
    if (parts.empty() || tokens + own > most) parts.emplace_back(), tokens = 0;
    parts.back().push_back(prompt), tokens += own;
  }
  return parts;
}

Tensor score_replicated(const Model& model, const Prompt& prompt, ScoreMode mode, bool adapters) {
  std::vector<std::vector<TokenId>> inputs;
  for (const Candidate& action : prompt.actions) {
    inputs.push_back(prompt.tokens);
    inputs.back().insert(inputs.back().end(), action.tokens.begin(), action.tokens.end() - 1);
  }
  const Tensor states = model.states(padded(inputs, model), {nullptr, nullptr, adapters});
  const auto length = static_cast<size_t>(states.size(1));
  Reading reading;
  for (size_t i = 0; i < prompt.actions.size(); ++i)
    reading.add(prompt.actions[i], mode,
                [&](size_t j) { return static_cast<int64_t>(i * length + prompt.tokens.size() - 1 + j); });
  return reading.scores(model, states.flatten(0, 1));
}

Categorical categorical(const Tensor& scores, double temperature) {
  MTMC_CHECK(temperature > 0, "a temperature of zero is greedy()");
  return {at::log_softmax(scores / temperature, 0)};
}

Tensor Categorical::entropy() const { return -(log_probabilities.exp() * log_probabilities).sum(); }

int64_t Categorical::greedy() const { return log_probabilities.argmax().item<int64_t>(); }

int64_t Categorical::sample(Rng& rng) const {
  const Tensor p = log_probabilities.detach().to(at::kCPU, at::kDouble).exp();
  double left = rng.uniform() * p.sum().item<double>();
  const int64_t last = p.size(0) - 1;
  for (int64_t i = 0; i < last; ++i)
    if ((left -= p[i].item<double>()) < 0) return i;
  return last;
}

}  // namespace mtmc::lm
