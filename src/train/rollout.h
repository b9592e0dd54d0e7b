// Episodes of the policy that is trained, shared out among the processes.
#pragma once
#include <functional>
#include <vector>

#include "train/lesson.h"

namespace mtmc::train {

// A decision that this process has seen, with what was thought of it then; on the CPU unless said otherwise.
struct Seen {
  size_t place = 0;  // among all decisions of the rollout, in the order of episodes
  lm::Prompt prompt;
  int64_t chosen = 0;
  at::Tensor before;     // [N] log-probabilities of the policy that chose
  at::Tensor reference;  // [N] of the policy before training; undefined unless asked for
  at::Tensor features;   // [width] fp32 of the frozen backbone, where the model is; undefined unless asked for
};

// What all processes know of an episode.
struct EpisodeFacts {
  size_t task = 0, first = 0;  // first: the place of its first decision
  bool stopped = false, cut = false;
  double start = 1, best = 1;  // times in units of eager's
  std::vector<double> rewards, values;
};

struct Rollout {
  std::vector<Seen> seen;
  std::vector<EpisodeFacts> episodes;
  size_t decisions = 0;
};

struct RolloutRequest {
  std::vector<size_t> tasks;  // one for each episode
  int64_t update = 0;
  bool reference = false;
  // What a state is worth, of its features; none: features are not computed.
  std::function<double(const at::Tensor&)> value = {};
};
Result<Rollout> roll_out(const Lesson& lesson, const RolloutRequest& request);

// The metrics of a rollout: mean reward of an episode, geometric mean of the best speedup, the share that said stop.
std::vector<std::pair<std::string, double>> told_of(const Rollout& rollout);

}  // namespace mtmc::train
