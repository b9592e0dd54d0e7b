// GRPO (Shao et al. 2024): several episodes of each task; what an episode earned beyond the mean of its group, in
// deviations, is the advantage of all its decisions. No value head.
#include <algorithm>
#include <cmath>

#include "train/policy_step.h"

namespace mtmc::train {
namespace {

class Grpo final : public Algorithm {
 public:
  explicit Grpo(Lesson& lesson) : lesson_(lesson) {}

  Result<Metrics> update(int64_t number) override {
    const int64_t groups = lesson_.whole("groups"), of_group = lesson_.whole("group");
    RolloutRequest request{.tasks = {}, .update = number, .reference = lesson_.setting("kl") > 0};
    for (int64_t g = 0; g < groups; ++g)
      request.tasks.insert(request.tasks.end(), static_cast<size_t>(of_group),
                           task_in_turn(lesson_, static_cast<uint64_t>(number * groups + g)));
    MTMC_TRY(const Rollout rollout, roll_out(lesson_, request));
    std::vector<double> advantages;
    double decided = 0;  // groups whose episodes differ
    for (size_t first = 0; first < rollout.episodes.size(); first += static_cast<size_t>(of_group)) {
      std::vector<double> earned;
      for (size_t i = first; i < first + static_cast<size_t>(of_group); ++i) {
        earned.push_back(0);
        for (const double reward : rollout.episodes[i].rewards) earned.back() += reward;
      }
      double sum = 0, squares = 0;
      for (const double one : earned) sum += one, squares += one * one;
      const double mean = sum / static_cast<double>(of_group);
      const double deviation = std::sqrt(std::max(0.0, squares / static_cast<double>(of_group) - mean * mean));
      decided += deviation > 1e-6;
      for (size_t i = 0; i < earned.size(); ++i)
        advantages.insert(advantages.end(), rollout.episodes[first + i].rewards.size(),
                          deviation > 1e-6 ? (earned[i] - mean) / deviation : 0);
    }
    MTMC_TRY(const Metrics improved, improve_policy(lesson_, rollout, advantages, number));
    Metrics metrics = told_of(rollout);
    metrics.emplace_back("groups decided", decided / static_cast<double>(groups));
    metrics.insert(metrics.end(), improved.begin(), improved.end());
    return metrics;
  }

 private:
  Lesson& lesson_;
};

Result<std::unique_ptr<Algorithm>> make(Lesson& lesson) {
  MTMC_RETURN_IF_ERROR(check_policy_settings(lesson));
  if (lesson.whole("groups") < 1 || lesson.whole("group") < 2)
    return Error{"setting up training", "--groups or --group is too small", "", "1 group of 2 episodes at least"};
  return std::make_unique<Grpo>(lesson);
}

std::vector<Setting> settings() {
  std::vector<Setting> all = policy_settings(1e-6);
  all.insert(all.end(), {{"groups", 8, "tasks of an update"}, {"group", 8, "episodes of each task"}});
  return all;
}

}  // namespace

extern const AlgorithmDef grpo_def;
const AlgorithmDef grpo_def{"grpo", "GRPO: episodes of a task against each other", settings(), make};

}  // namespace mtmc::train
