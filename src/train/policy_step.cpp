#include "train/policy_step.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace mtmc::train {
namespace {

using at::Tensor;

// Sums over the decisions of a minibatch.
struct Sums {
  double loss = 0, entropy = 0, kl = 0, k3 = 0, clipped = 0;
};

// A decision with what is to be learned of it.
struct Weighed {
  const Seen* seen;
  double advantage;
};

// Adds the gradients of some decisions, times `weight`.
void learn_from(Lesson& lesson, const std::vector<const lm::Prompt*>& prompts,
                const std::map<const lm::Prompt*, Weighed>& of, double weight, Sums& sums) {
  const double clip = lesson.setting("clip"), entropy_weight = lesson.setting("entropy"),
               kl_weight = lesson.setting("kl");
  const std::vector<Tensor> scores = lm::score_all(lesson.model, prompts, lesson.scores);
  std::vector<Tensor> losses, entropies, kls, moves;
  for (size_t i = 0; i < prompts.size(); ++i) {
    const Seen& one = *of.at(prompts[i]).seen;
    const double advantage = of.at(prompts[i]).advantage;
    const at::Device device = scores[i].device();
    const lm::Categorical now = lm::categorical(scores[i], 1);
    const Tensor log_ratio = now.log_probabilities[one.chosen] - one.before[one.chosen].to(device);
    const Tensor ratio = log_ratio.exp();
    const Tensor surrogate = at::minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage);
    entropies.push_back(now.entropy()), moves.push_back(log_ratio);
    losses.push_back(-surrogate - entropies.back() * entropy_weight);
    if (!one.reference.defined()) continue;
    kls.push_back((now.log_probabilities.exp() * (now.log_probabilities - one.reference.to(device))).sum());
    losses.back() = losses.back() + kls.back() * kl_weight;
  }
  const Tensor loss = at::stack(losses).sum();
  (loss * weight).backward();
  // One number after the other would wait for the GPU each time.
  const Tensor moved = at::stack(moves).detach().to(at::kCPU, at::kDouble);
  sums.loss += loss.item<double>();
  sums.entropy += at::stack(entropies).detach().sum().item<double>();
  if (!kls.empty()) sums.kl += at::stack(kls).detach().sum().item<double>();
  sums.k3 += (moved.exp() - 1 - moved).sum().item<double>();
  sums.clipped += ((moved.exp() - 1).abs() > clip).sum().item<double>();
}

Status add_up(Lesson& lesson, Sums& sums) {
  MTMC_TRY(const auto all, lesson.processes.gather({sums.loss, sums.entropy, sums.kl, sums.k3, sums.clipped}));
  sums = {};
  for (const auto& one : all)
    sums.loss += one[0], sums.entropy += one[1], sums.kl += one[2], sums.k3 += one[3], sums.clipped += one[4];
  return ok_status();
}

}  // namespace

std::vector<Setting> policy_settings(double rate) {
  return {{"lr", rate, "of the policy, falling to 0 linearly"},
          {"weight-decay", 0, "of the policy"},
          {"epochs", 2, "how often each decision is learned from"},
          {"minibatch", 32, "decisions for a step"},
          {"clip", 0.2, "how far a step may move a decision's ratio from 1"},
          {"entropy", 0.01, "weight of the entropy over the valid actions"},
          {"kl", 0.02, "weight of the KL divergence to the policy before training"},
          {"target-kl", 0.02, "an update ends where the policy has moved this far"},
          {"grad-norm", 0.5, "the largest norm of a step's gradient"}};
}

Status check_policy_settings(const Lesson& lesson) {
  for (const char* name : {"epochs", "minibatch"})
    if (lesson.whole(name) < 1)
      return Error{"setting up training", "an impossible value", fmt::format("--{} {}", name, lesson.setting(name)),
                   "1 or more"};
  for (const char* name : {"clip", "target-kl", "grad-norm", "lr"})
    if (!(lesson.setting(name) > 0))
      return Error{"setting up training", "an impossible value", fmt::format("--{} {}", name, lesson.setting(name)),
                   "more than 0"};
  return ok_status();
}

Result<Metrics> improve_policy(Lesson& lesson, const Rollout& rollout, const std::vector<double>& advantages,
                               int64_t update) {
  const size_t size = static_cast<size_t>(lesson.whole("minibatch"));
  std::vector<const Seen*> by_place(rollout.decisions, nullptr);
  for (const Seen& one : rollout.seen) by_place[one.place] = &one;
  Sums last;
  double norm = 0, steps = 0, stopped_early = 0, count = 1;
  for (int64_t epoch = 0; epoch < lesson.whole("epochs") && stopped_early == 0; ++epoch) {
    const auto order = shuffled(
        rollout.decisions, seed_for(lesson.seed, {3, static_cast<uint64_t>(update), static_cast<uint64_t>(epoch)}));
    for (size_t from = 0; from < order.size(); from += size) {
      const size_t to = std::min(order.size(), from + size);
      Sums sums;
      std::map<const lm::Prompt*, Weighed> weighed;
      std::vector<const lm::Prompt*> prompts;
      for (size_t i = from; i < to; ++i)
        if (const Seen* one = by_place[order[i]]; one != nullptr)
          weighed[&one->prompt] = {one, advantages[order[i]]}, prompts.push_back(&one->prompt);
      for (const auto& part : lm::in_parts(lesson.model, prompts))
        learn_from(lesson, part, weighed, 1.0 / static_cast<double>(to - from), sums);
      MTMC_RETURN_IF_ERROR(add_up(lesson, sums));
      last = sums, count = static_cast<double>(to - from);
      if (sums.k3 / count > lesson.setting("target-kl")) {
        lesson.optimizer.forget_gradients();
        stopped_early = 1;
        break;
      }
      MTMC_TRY(norm, lesson.optimizer.step(lesson.rate("lr", update), lesson.setting("grad-norm"), lesson.processes));
      ++steps;
    }
  }
  return Metrics{{"loss", last.loss / count}, {"entropy", last.entropy / count}, {"kl", last.kl / count},
                 {"moved", last.k3 / count},  {"clipped", last.clipped / count}, {"norm", norm},
                 {"policy steps", steps},     {"stopped early", stopped_early}};
}

}  // namespace mtmc::train
