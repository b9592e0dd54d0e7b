// What every algorithm is given: a policy to train, and tasks to train it on.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "checkpoint/checkpoint.h"
#include "learn/episode.h"
#include "learn/tree.h"
#include "lm/scoring.h"
#include "train/adamw.h"
#include "train/processes.h"

namespace mtmc::train {

// Turns the state of an episode into what the model reads and may answer, as the policy `lm` of a search does.
class Reader {
 public:
  // `context`: tokens of a prompt, cut to what the model takes. `prior`: see lm::add_prior.
  Reader(const Tokenizer& tokenizer, const ModelConfig& config, int64_t context, const lm::Prior& prior);
  Result<lm::Prompt> read(const Episode& episode) const;
  // On all cores.
  Result<std::vector<lm::Prompt>> read_all(const std::vector<const Episode*>& episodes) const;

 private:
  const Tokenizer& tokenizer_;
  const ModelConfig& config_;
  lm::Prior prior_;
  PromptOptions options_;
};

struct Lesson {
  lm::Model& model;  // the policy; `optimizer` has what is trained of it
  AdamW& optimizer;
  const lm::Model& reference;  // the policy before training
  const Reader& reader;
  TreeDynamics& dynamics;
  std::vector<size_t> tasks;  // of the dynamics, those that may be learned from
  EpisodeOptions episode;
  Processes& processes;
  lm::ScoreMode scores = lm::ScoreMode::sum;
  std::map<std::string, double> settings;  // of the algorithm, all that its definition names
  uint64_t seed = 0;
  int64_t updates = 1;  // in all

  double setting(const std::string& name) const { return settings.at(name); }
  int64_t whole(const std::string& name) const { return static_cast<int64_t>(settings.at(name)); }
  double progress(int64_t update) const { return static_cast<double>(update) / static_cast<double>(updates); }
  // From `rate` to 0 linearly.
  double rate(const std::string& name, int64_t update) const { return setting(name) * (1 - progress(update)); }
};

// A seed for each thing that is drawn: it depends on nothing but these numbers, so that training goes on after an
// interruption as it would have.
uint64_t seed_for(uint64_t seed, std::initializer_list<uint64_t> what);
// The tasks in turn, in another order each time that all were had; `number` counts them.
size_t task_in_turn(const Lesson& lesson, uint64_t number);
// 0 to count - 1 in an order that the seed draws.
std::vector<size_t> shuffled(size_t count, uint64_t seed);

}  // namespace mtmc::train
