// PPO (Schulman et al. 2017) with generalised advantage estimation (Schulman et al. 2016) and a value head on the
// frozen backbone. Policy and value have optimisers of their own, and advantages are normalised over the whole rollout.
#include <ATen/TensorOperators.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "train/policy_step.h"
#include "train/value_head.h"

namespace mtmc::train {
namespace {

// By place.
struct Estimates {
  std::vector<double> advantages, returns;
};

Estimates estimate(const Rollout& rollout, double discount, double lambda) {
  Estimates all;
  for (const EpisodeFacts& facts : rollout.episodes) {
    std::vector<double> advantages(facts.rewards.size(), 0);
    double running = 0;
    for (size_t i = facts.rewards.size(); i-- > 0;) {
      const bool last = i + 1 == facts.rewards.size();
      if (last && facts.cut) continue;  // what it leads to is not known: its own value stands for it
      running = facts.rewards[i] + (last ? 0 : discount * facts.values[i + 1]) - facts.values[i] +
                discount * lambda * running;
      advantages[i] = running;
    }
    for (size_t i = 0; i < advantages.size(); ++i) all.returns.push_back(advantages[i] + facts.values[i]);
    all.advantages.insert(all.advantages.end(), advantages.begin(), advantages.end());
  }
  return all;
}

void normalise(std::vector<double>& all) {
  double sum = 0, squares = 0;
  for (const double one : all) sum += one, squares += one * one;
  const double count = static_cast<double>(all.size()), mean = sum / count;
  const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  for (double& one : all) one = (one - mean) / (deviation + 1e-6);
}

class Ppo final : public Algorithm {
 public:
  explicit Ppo(Lesson& lesson)
      : lesson_(lesson),
        rng_(seed_for(lesson.seed, {4})),
        value_(lesson.model.config().width, lesson.model.placement().device, rng_) {}

  Result<Metrics> update(int64_t number) override {
    RolloutRequest request{.tasks = {},
                           .update = number,
                           .reference = lesson_.setting("kl") > 0,
                           .value = [this](const at::Tensor& features) { return value_(features).item<double>(); }};
    for (int64_t i = 0; i < lesson_.whole("episodes"); ++i)
      request.tasks.push_back(task_in_turn(lesson_, static_cast<uint64_t>(number * lesson_.whole("episodes") + i)));
    MTMC_TRY(const Rollout rollout, roll_out(lesson_, request));
    Estimates estimates = estimate(rollout, lesson_.setting("discount"), lesson_.setting("lambda"));
    normalise(estimates.advantages);
    MTMC_TRY(Metrics improved, improve_policy(lesson_, rollout, estimates.advantages, number));
    MTMC_TRY(const double value_loss, improve_value(rollout, estimates.returns, number));
    Metrics metrics = told_of(rollout);
    metrics.insert(metrics.end(), improved.begin(), improved.end());
    metrics.emplace_back("value loss", value_loss);
    return metrics;
  }

  Tensors state() const override { return value_.optimizer().state(); }

 private:
  // Squared errors, of which a clipped one counts where it is larger: the value moves slowly, as the policy does. The
  // mean of the last epoch.
  Result<double> improve_value(const Rollout& rollout, const std::vector<double>& returns, int64_t update) {
    const size_t size = static_cast<size_t>(lesson_.whole("minibatch"));
    std::vector<const Seen*> by_place(rollout.decisions, nullptr);
    for (const Seen& one : rollout.seen) by_place[one.place] = &one;
    std::vector<double> values;
    for (const EpisodeFacts& facts : rollout.episodes)
      values.insert(values.end(), facts.values.begin(), facts.values.end());
    double loss = 0;
    for (int64_t epoch = 0; epoch < lesson_.whole("value-epochs"); ++epoch) {
      loss = 0;
      const auto order = shuffled(
          rollout.decisions, seed_for(lesson_.seed, {5, static_cast<uint64_t>(update), static_cast<uint64_t>(epoch)}));
      for (size_t from = 0; from < order.size(); from += size) {
        const size_t to = std::min(order.size(), from + size);
        std::vector<at::Tensor> features;
        std::vector<float> wanted, before;
        for (size_t i = from; i < to; ++i)
          if (const Seen* one = by_place[order[i]]; one != nullptr) {
            features.push_back(one->features);
            wanted.push_back(static_cast<float>(returns[order[i]]));
            before.push_back(static_cast<float>(values[order[i]]));
          }
        if (!features.empty())
          loss += learn_from(features, wanted, before, 1.0 / static_cast<double>(to - from)) *
                  static_cast<double>(to - from);
        MTMC_TRY(
            [[maybe_unused]] const double norm,
            value_.optimizer().step(lesson_.rate("value-lr", update), lesson_.setting("grad-norm"), lesson_.processes));
      }
    }
    MTMC_TRY(const auto all, lesson_.processes.gather({loss}));
    double total = 0;
    for (const auto& one : all) total += one[0];
    return total / static_cast<double>(std::max<size_t>(1, rollout.decisions));
  }

  double learn_from(const std::vector<at::Tensor>& features, const std::vector<float>& wanted,
                    const std::vector<float>& before, double weight) {
    const double clip = lesson_.setting("clip");
    const at::Device device = features[0].device();
    const at::Tensor value = value_(at::stack(features));
    const at::Tensor target = at::tensor(wanted).to(device), old = at::tensor(before).to(device);
    const at::Tensor near = old + (value - old).clamp(-clip, clip);
    const at::Tensor loss = at::maximum((value - target).square(), (near - target).square()).sum() * (0.5 * weight);
    loss.backward();
    return loss.item<double>();
  }

  Lesson& lesson_;
  Rng rng_;
  ValueHead value_;
};

Result<std::unique_ptr<Algorithm>> make(Lesson& lesson) {
  MTMC_RETURN_IF_ERROR(check_policy_settings(lesson));
  for (const char* name : {"episodes", "value-epochs"})
    if (lesson.whole(name) < 1)
      return Error{"setting up training", std::string("--") + name + " is too small", "", "1"};
  for (const char* name : {"discount", "lambda"})
    if (lesson.setting(name) < 0 || lesson.setting(name) > 1)
      return Error{"setting up training", std::string("--") + name + " is impossible",
                   std::to_string(lesson.setting(name)), "0 to 1"};
  return std::make_unique<Ppo>(lesson);
}

std::vector<Setting> settings() {
  std::vector<Setting> all = policy_settings(1e-6);
  all.insert(all.end(), {{"episodes", 32, "of an update, over all processes"},
                         {"value-lr", 5e-5, "of the value head, falling to 0 linearly"},
                         {"value-epochs", 4, "how often the value head learns from each decision"},
                         {"discount", 0.99, "of rewards, a step"},
                         {"lambda", 0.95, "of the advantages' estimate"}});
  return all;
}

}  // namespace

extern const AlgorithmDef ppo_def;
const AlgorithmDef ppo_def{"ppo", "PPO with a value head on the frozen backbone", settings(), make};

}  // namespace mtmc::train
