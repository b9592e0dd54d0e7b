#include "train/rollout.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

namespace mtmc::train {
namespace {

// One episode, with its decisions' places counted from 0.
Status play(const Lesson& lesson, const RolloutRequest& request, size_t number, EpisodeFacts& facts,
            std::vector<Seen>& seen) {
  const uint64_t update = static_cast<uint64_t>(request.update);
  Episode episode(lesson.dynamics, lesson.episode);
  episode.set_progress(lesson.progress(request.update));
  Rng rng(seed_for(lesson.seed, {1, update, number}));
  MTMC_RETURN_IF_ERROR(episode.reset(facts.task, seed_for(lesson.seed, {2, update, number})));
  facts.start = episode.best();
  while (!episode.done()) {
    Seen one;
    MTMC_TRY(one.prompt, lesson.reader.read(episode));
    const auto think = [&](const lm::Model& model, bool adapters) {
      return lm::categorical(lm::score(model, lm::understand(model, one.prompt.tokens, adapters), one.prompt.actions,
                                       lesson.scores, adapters),
                             1);
    };
    const lm::Categorical choice = think(lesson.model, true);
    one.before = choice.log_probabilities.to(at::kCPU);
    one.chosen = choice.sample(rng);
    if (request.reference) one.reference = think(lesson.reference, true).log_probabilities.to(at::kCPU);
    if (request.value) {
      one.features = lm::understand(lesson.reference, one.prompt.tokens, false).last.to(at::kFloat);
      facts.values.push_back(request.value(one.features));
    }
    one.place = facts.rewards.size();
    const bool stop = static_cast<size_t>(one.chosen) + 1 == episode.actions().size();
    MTMC_TRY(const Stepped stepped, episode.step(static_cast<size_t>(one.chosen)));
    facts.rewards.push_back(stepped.reward);
    facts.stopped = stop, facts.cut = stepped.cut;
    if (!stepped.cut) seen.push_back(std::move(one));  // where it led is not known: nothing to learn
  }
  facts.best = episode.best();
  return ok_status();
}

}  // namespace

Result<Rollout> roll_out(const Lesson& lesson, const RolloutRequest& request) {
  const at::AutoGradMode no_grad(false);
  Rollout rollout;
  std::vector<double> own;  // of each episode: all that EpisodeFacts holds
  std::vector<std::pair<size_t, std::vector<Seen>>> mine;
  for (size_t number = 0; number < request.tasks.size(); ++number) {
    if (static_cast<int64_t>(number) % lesson.processes.count() != lesson.processes.rank()) continue;
    EpisodeFacts facts{.task = request.tasks[number], .rewards = {}, .values = {}};
    std::vector<Seen> seen;
    MTMC_RETURN_IF_ERROR(play(lesson, request, number, facts, seen));
    own.insert(own.end(), {static_cast<double>(number), static_cast<double>(facts.rewards.size()),
                           static_cast<double>(facts.values.size()), static_cast<double>(facts.stopped),
                           static_cast<double>(facts.cut), facts.start, facts.best});
    own.insert(own.end(), facts.rewards.begin(), facts.rewards.end());
    own.insert(own.end(), facts.values.begin(), facts.values.end());
    mine.emplace_back(number, std::move(seen));
  }
  MTMC_TRY(const auto all, lesson.processes.gather(own));
  rollout.episodes.resize(request.tasks.size());
  for (const auto& numbers : all)
    for (size_t at = 0; at < numbers.size();) {
      EpisodeFacts& facts = rollout.episodes[static_cast<size_t>(numbers[at])];
      const auto rewards = static_cast<long>(numbers[at + 1]), values = static_cast<long>(numbers[at + 2]);
      facts.stopped = numbers[at + 3] != 0, facts.cut = numbers[at + 4] != 0;
      facts.start = numbers[at + 5], facts.best = numbers[at + 6];
      const auto first = numbers.begin() + static_cast<long>(at) + 7;
      facts.rewards.assign(first, first + rewards);
      facts.values.assign(first + rewards, first + rewards + values);
      at += static_cast<size_t>(7 + rewards + values);
    }
  for (size_t i = 0; i < rollout.episodes.size(); ++i) {
    rollout.episodes[i].task = request.tasks[i];
    rollout.episodes[i].first = rollout.decisions;
    rollout.decisions += rollout.episodes[i].rewards.size();
  }
  for (auto& [number, seen] : mine)
    for (Seen& one : seen) {
      one.place += rollout.episodes[number].first;
      rollout.seen.push_back(std::move(one));
    }
  return rollout;
}

std::vector<std::pair<std::string, double>> told_of(const Rollout& rollout) {
  double reward = 0, gain = 0, stopped = 0;
  for (const EpisodeFacts& facts : rollout.episodes) {
    for (const double one : facts.rewards) reward += one;
    gain += std::log(facts.start / facts.best);
    stopped += facts.stopped;
  }
  const double count = static_cast<double>(std::max<size_t>(1, rollout.episodes.size()));
  return {{"reward", reward / count},
          {"speedup", std::exp(gain / count)},
          {"stopped", stopped / count},
          {"steps", static_cast<double>(rollout.decisions) / count}};
}

}  // namespace mtmc::train
