#include "lm/scoring.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/log_softmax.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "lm/row.h"

namespace mtmc::lm {
namespace {

using at::Tensor;

// Rows of tokens, padded to one length with token 0 on the right: [rows, length].
Tensor padded(const std::vector<std::vector<TokenId>>& rows, const Model& model) {
  size_t length = 0;
  for (const auto& row : rows) length = std::max(length, row.size());
  std::vector<int64_t> flat(rows.size() * length, 0);
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(), flat.begin() + static_cast<long>(i * length));
  return ids(flat, model.placement().device).view({static_cast<int64_t>(rows.size()), static_cast<int64_t>(length)});
}

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
  ReadingList reading;
  for (size_t i = 0; i < actions.size(); ++i)
    reading.add(actions[i], mode, [&](size_t j) { return j == 0 ? 0 : static_cast<int64_t>(1 + i * length + j - 1); });
  return Reading(reading, model.placement().device).scores(model, states);
}

std::vector<Tensor> score_all(const Model& model, const std::vector<const Prompt*>& prompts, ScoreMode mode,
                              bool adapters) {
  std::vector<int64_t> counts;
  for (const Prompt* prompt : prompts) counts.push_back(static_cast<int64_t>(prompt->actions.size()));
  return ScoredRow(prompts, mode, model.placement().device).scores(model, adapters).split_with_sizes(counts);
}

Tensor last_states(const Model& model, const std::vector<const Prompt*>& prompts, bool adapters) {
  const at::Device device = model.placement().device;
  const Row row(prompts, false, device);
  std::vector<int64_t> last;
  for (int64_t end = 0; const int64_t length : row.packing.prompts) last.push_back((end += length) - 1);
  return at::index_select(model.states(row.tokens, row.packing, adapters), 0, ids(last, device));
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
  ReadingList reading;
  for (size_t i = 0; i < prompt.actions.size(); ++i)
    reading.add(prompt.actions[i], mode,
                [&](size_t j) { return static_cast<int64_t>(i * length + prompt.tokens.size() - 1 + j); });
  return Reading(reading, model.placement().device).scores(model, states.flatten(0, 1));
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
