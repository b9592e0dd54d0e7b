#include "train/evaluate.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "learn/walks.h"
#include "train/choices.h"

namespace mtmc::train {
namespace {

// A walk through a task, which counts for a share of what its way comes to there.
struct Walk {
  Walk(const EvaluationRequest& request, size_t task, size_t of_way, uint64_t seed, double of_share, Outcome& to)
      : way(of_way), share(of_share), outcome(to), episode(request.dynamics, {.steps = request.steps}), rng(seed) {
    begun = episode.reset(task, rng.next());
    start = begun.ok() ? episode.best() : 1;
  }

  // Takes an action; the last one says what the walk came to.
  Status step(size_t chosen) {
    const bool stopped = chosen + 1 == episode.actions().size();
    MTMC_TRY([[maybe_unused]] const Stepped stepped, episode.step(chosen));
    if (!episode.done()) return ok_status();
    outcome.gain += share * std::log(start / episode.best());
    outcome.steps += share * episode.taken();
    outcome.stopped += share * stopped;
    return ok_status();
  }

  size_t way;
  double share, start = 1;
  Outcome& outcome;
  Episode episode;
  Rng rng;
  Status begun = ok_status();
};

// The policy's next step in some walks, thought about together.
Status step_by_policy(const EvaluationRequest& request, const std::vector<Walk*>& walks) {
  std::vector<const Episode*> episodes;
  for (const Walk* walk : walks) episodes.push_back(&walk->episode);
  MTMC_TRY(const std::vector<lm::Prompt> read, request.reader.read_all(episodes));
  std::vector<const lm::Prompt*> prompts;
  for (const lm::Prompt& prompt : read) prompts.push_back(&prompt);
  size_t at = 0;
  for (const auto& part : lm::in_parts(request.model, prompts))
    for (const at::Tensor& scores : lm::score_all(request.model, part, request.scores)) {
      Walk& walk = *walks[at++];
      const lm::Categorical choice = lm::categorical(scores.to(at::kCPU), 1);
      MTMC_RETURN_IF_ERROR(walk.step(static_cast<size_t>(walk.way == 0 ? choice.greedy() : choice.sample(walk.rng))));
    }
  return ok_status();
}

}  // namespace

Result<std::vector<TaskOutcomes>> evaluate(const EvaluationRequest& request) {
  const at::AutoGradMode no_grad(false);
  std::vector<TaskOutcomes> all;
  for (const size_t task : request.tasks) {
    const Tree& tree = request.dynamics.trees()[task];
    all.push_back({tree.name, tree.hardware,
                   std::log(tree.places[0].time / Walks(tree, request.steps).best_time(0, request.steps)),
                   std::vector<Outcome>(std::size(kWays))});
  }
  const int times[] = {1, request.samples, request.random, 1, 1};
  std::vector<std::unique_ptr<Walk>> by_policy;
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t task = request.tasks[i];
    Rng rng(seed_for(request.seed, {7, task}));
    for (size_t way = 0; way < std::size(kWays); ++way)
      for (int time = 0; time < times[way]; ++time) {
        auto walk = std::make_unique<Walk>(request, task, way, rng.next(), 1.0 / times[way], all[i].outcomes[way]);
        MTMC_RETURN_IF_ERROR(walk->begun);
        if (way < 2) {
          by_policy.push_back(std::move(walk));
          continue;
        }
        while (!walk->episode.done())
          MTMC_RETURN_IF_ERROR(walk->step(way == 2   ? at_random(walk->episode, walk->rng)
                                          : way == 3 ? steepest(request.dynamics.trees()[task], walk->episode)
                                                     : expected_most(walk->episode)));
      }
  }
  while (true) {
    std::vector<Walk*> going;
    for (const auto& walk : by_policy)
      if (!walk->episode.done()) going.push_back(walk.get());
    if (going.empty()) return all;
    MTMC_RETURN_IF_ERROR(step_by_policy(request, going));
  }
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
