// What a policy is worth on the tasks of a dataset: the best speedup that its rollouts reach.
#pragma once
#include <string>
#include <vector>

#include "train/lesson.h"

namespace mtmc::train {

// One way to choose on one task, over its rollouts.
struct Outcome {
  double gain = 0;     // mean of log(start / best time)
  double steps = 0;    // mean number of actions taken, stop not counted
  double stopped = 0;  // share of rollouts that ended with stop
};

struct TaskOutcomes {
  std::string name, hardware;
  double known = 0;               // log(start / best time that is known within the steps)
  std::vector<Outcome> outcomes;  // in the order of kWays
};

// The policy's likeliest action; drawn from the policy; uniform over the valid actions, without `stop` before step 4;
// a walk that looks at what each action leads to and takes the fastest, until none is faster; and the action of which
// the cost model expects most, as the policy `greedy` of a search.
constexpr const char* kWays[] = {"greedy", "sampled", "random", "steepest", "cost model"};

struct EvaluationRequest {
  const lm::Model& model;
  const Reader& reader;
  TreeDynamics& dynamics;
  std::vector<size_t> tasks;
  int steps = 8, samples = 4, random = 5;  // rollouts of a task
  uint64_t seed = 0;
  lm::ScoreMode scores = lm::ScoreMode::sum;  // as it was trained
};
Result<std::vector<TaskOutcomes>> evaluate(const EvaluationRequest& request);

// Of a way over all tasks: geometric means.
struct Summary {
  double speedup = 1, of_known = 1;
  double steps = 0, stopped = 0;
  double over_random = 1, low = 1, high = 1;  // with its 95 % interval (normal, over tasks)
};
Summary summary_of(const std::vector<TaskOutcomes>& tasks, size_t way);

}  // namespace mtmc::train
