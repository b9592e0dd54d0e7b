// How likely a prompt's continuations are: the joint probability of an action's tokens, as TWOSOME (Tan et al. 2024)
// and the paper's equation 2 score actions, and the categorical distribution over those that are valid.
#pragma once
#include <ATen/core/Tensor.h>

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "lm/model.h"

namespace mtmc::lm {

// The sum of an action's log-probabilities; or divided by its number of tokens, or of words, so that long ones lose
// nothing.
enum class ScoreMode { sum, per_token, per_word };
Result<ScoreMode> score_mode(const std::string& name);  // sum, token or word
std::string to_string(ScoreMode mode);

struct Candidate {
  std::vector<TokenId> tokens;
  int64_t words = 1;
  double prior = 0;  // what its score begins at
  double voice = 1;  // weight of what the model says, beside that
};

struct Prompt {
  std::vector<TokenId> tokens;
  std::vector<Candidate> actions;
};
// Prompt and actions are tokenised apart, and their ids joined: an action has the same tokens after every prompt. An
// Error for no action, one without tokens, or more tokens than the model's context has.
Result<Prompt> read_prompt(const Tokenizer& tokenizer, const ModelConfig& config, const std::string& text,
                           const std::vector<std::string>& actions);
// Scores begin at `weight` times what the cost model expects of each action (search/gains.h), one number for each: the
// model says in what it thinks otherwise, with the weight `voice`. A residual policy, as in Johannink et al. 2019 and
// Silver et al. 2018; with a low voice it begins at the cost model's own choices.
struct Prior {
  double weight = 0, voice = 1;
};
void add_prior(Prompt& prompt, const std::vector<double>& gains, const Prior& prior);

// What is known of a prompt: its tokens' keys and values, and the state after the last.
struct Understood {
  std::vector<TokenId> tokens;
  KeyValues past;
  at::Tensor last;  // [width]
};
// Understands a prompt, differentiably where gradients are on. `begun`, a prompt whose first `shared` tokens are the
// same, saves computing those.
Understood understand(const Model& model, const std::vector<TokenId>& tokens, bool adapters = true,
                      const Understood* begun = nullptr, int64_t shared = 0);

// Understood prompts by (weight version, tokens): the same prompt is not computed again, nor is what a longer one
// shares with it. Holds the last few; without gradients.
class PromptCache {
 public:
  explicit PromptCache(size_t capacity = 4) : capacity_(capacity) {}
  const Understood& understand(const Model& model, const std::vector<TokenId>& tokens);
  // Of the last prompt: how many tokens were not computed.
  int64_t reused() const { return reused_; }

 private:
  size_t capacity_;
  uint64_t version_ = 0;
  std::list<Understood> prompts_;  // the last used first
  int64_t reused_ = 0;
};

// The actions' scores [N] in fp32, from prompt + sum of actions' tokens through the model; differentiable.
at::Tensor score(const Model& model, const Understood& prompt, const std::vector<Candidate>& actions, ScoreMode mode,
                 bool adapters = true);
// The same from N (prompt + action) tokens, each sequence by itself: what `score` is compared with.
at::Tensor score_replicated(const Model& model, const Prompt& prompt, ScoreMode mode, bool adapters = true);

// The scores of several prompts' actions, each equal to `score`, in one pass over all their tokens; and the states
// after the prompts' last tokens, [prompts, width].
std::vector<at::Tensor> score_all(const Model& model, const std::vector<const Prompt*>& prompts, ScoreMode mode,
                                  bool adapters = true);
at::Tensor last_states(const Model& model, const std::vector<const Prompt*>& prompts, bool adapters = true);
// The prompts in parts of so many tokens that a pass over one, and its gradients, take the model some 20 GB of a GPU,
// and of a host, where a row saves little, 2 GB; in their order. A prompt that is longer is a part by itself.
std::vector<std::vector<const Prompt*>> in_parts(const Model& model, const std::vector<const Prompt*>& prompts);

// The categorical distribution softmax(scores / temperature) over the candidates; temperature > 0.
struct Categorical {
  at::Tensor log_probabilities;  // [N], differentiable
  at::Tensor entropy() const;    // a scalar
  int64_t greedy() const;        // the first of the likeliest
  int64_t sample(Rng& rng) const;
};
Categorical categorical(const at::Tensor& scores, double temperature);

}  // namespace mtmc::lm
