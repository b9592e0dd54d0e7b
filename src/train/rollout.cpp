#include "train/rollout.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace mtmc::train {
namespace {

// An episode that is played, with its decisions' places counted from 0.
struct Playing {
  Playing(const Lesson& lesson, const RolloutRequest& request, size_t of)
      : number(of),
        episode(lesson.dynamics, lesson.episode),
        rng(seed_for(lesson.seed, {1, static_cast<uint64_t>(request.update), of})) {
    facts.task = request.tasks[of];
    episode.set_progress(lesson.progress(request.update));
  }

  // Takes the action that was chosen.
  Status step(Seen one) {
    one.place = facts.rewards.size();
    const bool stop = static_cast<size_t>(one.chosen) + 1 == episode.actions().size();
    MTMC_TRY(const Stepped stepped, episode.step(static_cast<size_t>(one.chosen)));
    facts.rewards.push_back(stepped.reward);
    facts.stopped = stop, facts.cut = stepped.cut;
    if (!stepped.cut) seen.push_back(std::move(one));  // where it led is not known: nothing to learn
    if (episode.done()) facts.best = episode.best();
    return ok_status();
  }

  size_t number;
  Episode episode;
  Rng rng;
  EpisodeFacts facts{.task = 0, .rewards = {}, .values = {}};
  std::vector<Seen> seen;
};

using Prompts = std::vector<const lm::Prompt*>;

std::vector<at::Tensor> think(const Lesson& lesson, const lm::Model& model, const Prompts& prompts) {
  std::vector<at::Tensor> all;
  for (const Prompts& part : lm::in_parts(model, prompts))
    for (const at::Tensor& scores : lm::score_all(model, part, lesson.scores))
      all.push_back(lm::categorical(scores, 1).log_probabilities.to(at::kCPU));
  return all;
}

std::vector<at::Tensor> features_of(const Lesson& lesson, const Prompts& prompts) {
  std::vector<at::Tensor> all;
  for (const Prompts& part : lm::in_parts(lesson.reference, prompts))
    for (const at::Tensor& one : lm::last_states(lesson.reference, part, false).to(at::kFloat).unbind(0))
      all.push_back(one);
  return all;
}

// One step of all episodes that are not over: what they read is thought about together.
Status step_together(const Lesson& lesson, const RolloutRequest& request, const std::vector<Playing*>& playing) {
  std::vector<Seen> all(playing.size());
  std::vector<const Episode*> episodes;
  for (const Playing* one : playing) episodes.push_back(&one->episode);
  MTMC_TRY(std::vector<lm::Prompt> read, lesson.reader.read_all(episodes));
  Prompts prompts;
  for (size_t i = 0; i < playing.size(); ++i) {
    all[i].prompt = std::move(read[i]);
    prompts.push_back(&all[i].prompt);
  }
  const auto before = think(lesson, lesson.model, prompts);
  const auto reference = request.reference ? think(lesson, lesson.reference, prompts) : std::vector<at::Tensor>();
  const auto features = request.value ? features_of(lesson, prompts) : std::vector<at::Tensor>();
  for (size_t i = 0; i < playing.size(); ++i) {
    Seen& one = all[i];
    one.before = before[i];
    one.chosen = lm::Categorical{before[i]}.sample(playing[i]->rng);
    if (request.reference) one.reference = reference[i];
    if (request.value) one.features = features[i], playing[i]->facts.values.push_back(request.value(one.features));
    MTMC_RETURN_IF_ERROR(playing[i]->step(std::move(one)));
  }
  return ok_status();
}

}  // namespace

Result<Rollout> roll_out(const Lesson& lesson, const RolloutRequest& request) {
  const at::AutoGradMode no_grad(false);
  Rollout rollout;
  std::vector<std::unique_ptr<Playing>> mine;
  for (size_t number = 0; number < request.tasks.size(); ++number) {
    if (static_cast<int64_t>(number) % lesson.processes.count() != lesson.processes.rank()) continue;
    mine.push_back(std::make_unique<Playing>(lesson, request, number));
    Playing& one = *mine.back();
    MTMC_RETURN_IF_ERROR(
        one.episode.reset(one.facts.task, seed_for(lesson.seed, {2, static_cast<uint64_t>(request.update), number})));
    one.facts.start = one.facts.best = one.episode.best();
  }
  while (true) {
    std::vector<Playing*> playing;
    for (const auto& one : mine)
      if (!one->episode.done()) playing.push_back(one.get());
    if (playing.empty()) break;
    MTMC_RETURN_IF_ERROR(step_together(lesson, request, playing));
  }
  std::vector<double> own;  // of each episode: all that EpisodeFacts holds
  for (const auto& one : mine) {
    const EpisodeFacts& facts = one->facts;
    own.insert(own.end(), {static_cast<double>(one->number), static_cast<double>(facts.rewards.size()),
                           static_cast<double>(facts.values.size()), static_cast<double>(facts.stopped),
                           static_cast<double>(facts.cut), facts.start, facts.best});
    own.insert(own.end(), facts.rewards.begin(), facts.rewards.end());
    own.insert(own.end(), facts.values.begin(), facts.values.end());
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
  for (const auto& played : mine)
    for (Seen& one : played->seen) {
      one.place += rollout.episodes[played->number].first;
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
