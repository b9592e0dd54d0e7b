#include "train/evaluate.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "learn/walks.h"

namespace mtmc::train {
namespace {

constexpr int kNoStopBefore = 4;  // for random walks

using Chooser = std::function<Result<size_t>(const Episode&)>;

Status walk(const EvaluationRequest& request, size_t task, uint64_t seed, double share, const Chooser& choose,
            Outcome& outcome) {
  Episode episode(request.dynamics, {.steps = request.steps});
  MTMC_RETURN_IF_ERROR(episode.reset(task, seed));
  const double start = episode.best();
  bool stopped = false;
  while (!episode.done()) {
    MTMC_TRY(const size_t chosen, choose(episode));
    stopped = chosen + 1 == episode.actions().size();
    MTMC_TRY([[maybe_unused]] const Stepped stepped, episode.step(chosen));
  }
  outcome.gain += share * std::log(start / episode.best());
  outcome.steps += share * episode.taken();
  outcome.stopped += share * stopped;
  return ok_status();
}

Result<lm::Categorical> think(const EvaluationRequest& request, const Episode& episode) {
  MTMC_TRY(const lm::Prompt prompt, request.reader.read(episode));
  return lm::categorical(
      lm::score(request.model, lm::understand(request.model, prompt.tokens), prompt.actions, request.scores), 1);
}

size_t at_random(const Episode& episode, Rng& rng) {
  const size_t count = episode.actions().size();
  return rng.below(episode.taken() < kNoStopBefore && count > 1 ? count - 1 : count);
}

// What each action led to on average; the fastest, or stop.
size_t steepest(const Tree& tree, const Episode& episode) {
  const Place& place = episode.place();
  const auto& outcomes = tree.outcomes[static_cast<size_t>(&place - tree.places.data())];
  size_t best = place.actions.size();
  double least = place.time / kFaster;
  for (size_t a = 0; a < outcomes.size(); ++a) {
    double time = 0;
    for (const int to : outcomes[a]) {
      const bool right = to != kNoCode && tree.places[static_cast<size_t>(to)].standing == Standing::right;
      time +=
          (right ? tree.places[static_cast<size_t>(to)].time : place.time) / static_cast<double>(outcomes[a].size());
    }
    if (!outcomes[a].empty() && time < least) least = time, best = a;
  }
  return best;
}

}  // namespace

Result<std::vector<TaskOutcomes>> evaluate(const EvaluationRequest& request) {
  const at::AutoGradMode no_grad(false);
  std::vector<TaskOutcomes> all;
  for (const size_t task : request.tasks) {
    const Tree& tree = request.dynamics.trees()[task];
    TaskOutcomes one{tree.name, tree.hardware,
                     std::log(tree.places[0].time / Walks(tree, request.steps).best_time(0, request.steps)),
                     std::vector<Outcome>(std::size(kWays))};
    Rng rng(seed_for(request.seed, {7, task}));
    const auto repeat = [&](size_t way, int times, const Chooser& choose) -> Status {
      for (int i = 0; i < times; ++i)
        MTMC_RETURN_IF_ERROR(walk(request, task, rng.next(), 1.0 / times, choose, one.outcomes[way]));
      return ok_status();
    };
    MTMC_RETURN_IF_ERROR(repeat(0, 1, [&](const Episode& episode) -> Result<size_t> {
      MTMC_TRY(const lm::Categorical choice, think(request, episode));
      return static_cast<size_t>(choice.greedy());
    }));
    MTMC_RETURN_IF_ERROR(repeat(1, request.samples, [&](const Episode& episode) -> Result<size_t> {
      MTMC_TRY(const lm::Categorical choice, think(request, episode));
      return static_cast<size_t>(choice.sample(rng));
    }));
    MTMC_RETURN_IF_ERROR(
        repeat(2, request.random, [&](const Episode& episode) -> Result<size_t> { return at_random(episode, rng); }));
    MTMC_RETURN_IF_ERROR(
        repeat(3, 1, [&](const Episode& episode) -> Result<size_t> { return steepest(tree, episode); }));
    all.push_back(std::move(one));
  }
  return all;
}

Summary summary_of(const std::vector<TaskOutcomes>& tasks, size_t way) {
  const double count = static_cast<double>(std::max<size_t>(1, tasks.size()));
  double gain = 0, missed = 0, ahead = 0, squares = 0;
  Summary summary;
  for (const TaskOutcomes& task : tasks) {
    const Outcome& own = task.outcomes[way];
    const double over = own.gain - task.outcomes[2].gain;
    gain += own.gain / count, missed += (task.known - own.gain) / count;
    ahead += over / count, squares += over * over / count;
    summary.steps += own.steps / count, summary.stopped += own.stopped / count;
  }
  const double deviation = std::sqrt(std::max(0.0, squares - ahead * ahead) / std::max(1.0, count - 1));
  summary.speedup = std::exp(gain), summary.of_known = std::exp(-missed);
  summary.over_random = std::exp(ahead);
  summary.low = std::exp(ahead - 1.96 * deviation), summary.high = std::exp(ahead + 1.96 * deviation);
  return summary;
}

}  // namespace mtmc::train
