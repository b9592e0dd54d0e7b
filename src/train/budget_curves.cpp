#include "train/budget_curves.h"

#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "learn/walks.h"
#include "train/choices.h"

namespace mtmc::train {
namespace {

constexpr double kGoal = 0.95;
constexpr double kBolder = 0.1;  // by how much the temperature rises with each walk that meets nothing new
enum Method : size_t { kPolicy, kCostModel, kRandom, kSteepest };

// A method's walks through a task, one after the other.
class Exploration {
 public:
  Exploration(const EvaluationRequest& request, size_t place, size_t of_method, uint64_t seed, size_t states)
      : method(of_method),
        at(place),
        rng(seed),
        episode_(request.dynamics, {.steps = request.steps}),
        task_(request.tasks[place]),
        tree_(request.dynamics.trees()[task_]),
        states_(states) {
    seen_.insert(&tree_.places.front());
    start_ = best_ = tree_.places.front().time;
  }

  const Episode& episode() const { return episode_; }
  const Tree& tree() const { return tree_; }
  bool over() const { return curve_.size() >= states_ || in_vain_ >= kInVain; }
  bool first() const { return walks_ == 1; }
  double temperature() const { return 1 + kBolder * in_vain_; }
  // What was done in this walk so far, and what became of it: all that a prompt depends on.
  const std::string& way() const { return way_; }

  Status begin_walk() {
    MTMC_RETURN_IF_ERROR(episode_.reset(task_, rng.next()));
    ++walks_;
    way_ = fmt::format("{}:", task_);
    found_ = false;
    if (episode_.done()) in_vain_ = kInVain;
    return ok_status();
  }

  Status step(size_t chosen) {
    MTMC_TRY(const Stepped stepped, episode_.step(chosen));
    measure(stepped.reached);
    way_ += fmt::format("{}>{} ", chosen, stepped.reached == nullptr ? -1 : stepped.reached - tree_.places.data());
    if (!stepped.done) return ok_status();
    in_vain_ = found_ ? 0 : in_vain_ + 1;
    return over() ? ok_status() : begin_walk();
  }

  // All that the offered actions led to.
  void measure_around() {
    const auto& outcomes = tree_.outcomes[static_cast<size_t>(&episode_.place() - tree_.places.data())];
    for (const size_t which : episode_.offered())
      for (const int to : outcomes[which])
        if (to != kNoCode) measure(&tree_.places[static_cast<size_t>(to)]);
  }

  void add_to(BudgetCurve& curve, double share) const {
    for (size_t n = 0; n < states_; ++n)
      curve.gain[n] += share * (curve_.empty() ? 0 : curve_[std::min(n, curve_.size() - 1)]);
    curve.states += share * static_cast<double>(curve_.size());
  }

  const size_t method, at;
  Rng rng;

 private:
  void measure(const Place* reached) {
    if (reached == nullptr || curve_.size() >= states_ || !seen_.insert(reached).second) return;
    found_ = true;
    if (reached->standing == Standing::right) best_ = std::min(best_, reached->time);
    curve_.push_back(std::log(start_ / best_));
  }

  Episode episode_;
  size_t task_;
  const Tree& tree_;
  size_t states_;
  std::set<const Place*> seen_;
  std::vector<double> curve_;
  std::string way_;
  double start_ = 1, best_ = 1;
  int walks_ = 0, in_vain_ = 0;
  bool found_ = false;
};

// The first walk takes the likeliest, the others draw.
size_t choose(const at::Tensor& scores, Exploration& exploration) {
  const lm::Categorical likely = lm::categorical(scores, exploration.temperature());
  return static_cast<size_t>(exploration.first() ? likely.greedy() : likely.sample(exploration.rng));
}

Status explore_alone(Exploration& exploration, double sharpness) {
  while (!exploration.over()) {
    const Episode& episode = exploration.episode();
    size_t chosen = 0;
    if (exploration.method == kRandom) {
      chosen = at_random(episode, exploration.rng);
    } else if (exploration.method == kSteepest) {
      exploration.measure_around();
      chosen = steepest(exploration.tree(), episode);
    } else {
      chosen = choose(at::tensor(episode.gains(), at::kDouble).mul_(sharpness), exploration);
    }
    MTMC_RETURN_IF_ERROR(exploration.step(chosen));
  }
  return ok_status();
}

// Of each way its actions' scores.
using Thoughts = std::map<std::string, at::Tensor>;
// All explorations a step further, thought about together; walks begin alike, and are thought about once.
Status step_by_policy(const EvaluationRequest& request, const std::vector<Exploration*>& going, Thoughts& thoughts) {
  std::map<std::string, const Episode*> open;
  for (const Exploration* one : going)
    if (!thoughts.contains(one->way())) open.emplace(one->way(), &one->episode());
  std::vector<const Episode*> episodes;
  for (const auto& [way, episode] : open) episodes.push_back(episode);
  MTMC_TRY(const std::vector<lm::Prompt> read, request.reader.read_all(episodes));
  std::vector<const lm::Prompt*> prompts;
  for (const lm::Prompt& prompt : read) prompts.push_back(&prompt);
  auto next = open.begin();
  for (const auto& part : lm::in_parts(request.model, prompts))
    for (const at::Tensor& scores : lm::score_all(request.model, part, request.scores))
      thoughts.emplace((next++)->first, scores.to(at::kCPU));
  for (Exploration* one : going) MTMC_RETURN_IF_ERROR(one->step(choose(thoughts.at(one->way()), *one)));
  return ok_status();
}

// 1, 2, 4, ... and the last.
std::vector<size_t> budgets(const std::vector<TaskCurves>& tasks) {
  const size_t last = tasks.empty() ? 0 : tasks.front().curves.front().gain.size();
  std::vector<size_t> all;
  for (size_t n = 1; n < last; n *= 2) all.push_back(n);
  all.push_back(last);
  return all;
}

}  // namespace

Result<std::vector<TaskCurves>> budget_curves(const EvaluationRequest& request, size_t states, double sharpness) {
  const at::AutoGradMode no_grad(false);
  const int times[] = {request.samples, request.samples, request.random, 1};
  std::vector<TaskCurves> all;
  std::vector<std::unique_ptr<Exploration>> explorations;
  for (size_t i = 0; i < request.tasks.size(); ++i) {
    const Tree& tree = request.dynamics.trees()[request.tasks[i]];
    all.push_back({std::log(tree.places[0].time / Walks(tree, request.steps).best_time(0, request.steps)),
                   std::vector<BudgetCurve>(std::size(kMethods), {std::vector<double>(states, 0), 0})});
    for (size_t method = 0; method < std::size(kMethods); ++method)
      for (int time = 0; time < times[method]; ++time) {
        const uint64_t seed = seed_for(request.seed, {11, request.tasks[i], method, static_cast<uint64_t>(time)});
        explorations.push_back(std::make_unique<Exploration>(request, i, method, seed, states));
        MTMC_RETURN_IF_ERROR(explorations.back()->begin_walk());
        if (method != kPolicy) MTMC_RETURN_IF_ERROR(explore_alone(*explorations.back(), sharpness));
      }
  }
  Thoughts thoughts;
  while (true) {
    std::vector<Exploration*> going;
    for (const auto& one : explorations)
      if (!one->over()) going.push_back(one.get());
    if (going.empty()) break;
    MTMC_RETURN_IF_ERROR(step_by_policy(request, going, thoughts));
  }
  for (const auto& one : explorations) one->add_to(all[one->at].curves[one->method], 1.0 / times[one->method]);
  return all;
}

double share_of_known(const std::vector<TaskCurves>& tasks, size_t method, size_t n) {
  double missed = 0;
  for (const TaskCurves& task : tasks) missed += task.known - task.curves[method].gain[n - 1];
  return std::exp(-missed / static_cast<double>(std::max<size_t>(1, tasks.size())));
}

std::string curve_table(const std::vector<TaskCurves>& tasks) {
  const std::vector<size_t> shown = budgets(tasks);
  std::string text = fmt::format("{:<10}", "");
  for (const size_t n : shown) text += fmt::format("{:>9}", n);
  text += fmt::format("{:>10}{:>9}\n", "95 % at", "found");
  for (size_t method = 0; method < std::size(kMethods); ++method) {
    text += fmt::format("{:<10}", kMethods[method]);
    for (const size_t n : shown) text += fmt::format("{:>7.1f} %", 100 * share_of_known(tasks, method, n));
    size_t n = 1;
    while (n <= shown.back() && share_of_known(tasks, method, n) < kGoal) ++n;
    double states = 0;
    for (const TaskCurves& task : tasks) states += task.curves[method].states / static_cast<double>(tasks.size());
    text += fmt::format("{:>10}{:>9.1f}\n", n > shown.back() ? "-" : std::to_string(n), states);
  }
  return text;
}

Json to_json(const TaskCurves& task) {
  Json json = {{"states", budgets({task})}};
  for (size_t method = 0; method < std::size(kMethods); ++method)
    for (const size_t n : budgets({task})) json[kMethods[method]].push_back(std::exp(task.curves[method].gain[n - 1]));
  return json;
}

}  // namespace mtmc::train
