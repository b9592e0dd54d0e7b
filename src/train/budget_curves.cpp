#include "train/budget_curves.h"

#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "learn/walks.h"
#include "search/gains.h"
#include "train/choices.h"
#include "train/guided_search.h"

namespace mtmc::train {
namespace {

constexpr double kGoal = 0.95;
constexpr double kBolder = 0.1;  // by how much the temperature rises with each walk that meets nothing new
enum Method : size_t {
  kPolicy,
  kCostModel,
  kRandom,
  kSteepest,
  kTreePolicy,
  kTreeCost,
  kBeamPolicy,
  kBeamCost,
  kDescentPolicy,
  kDescentCost
};

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
        measured_(tree_, states) {}

  const Episode& episode() const { return episode_; }
  const Tree& tree() const { return tree_; }
  bool over() const { return measured_.full() || in_vain_ >= kInVain; }
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

  const Measured& measured() const { return measured_; }

  const size_t method, at;
  Rng rng;

 private:
  void measure(const Place* reached) { found_ |= measured_.add(reached); }

  Episode episode_;
  size_t task_;
  const Tree& tree_;
  Measured measured_;
  std::string way_;
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

// What the policy says of the actions of each.
Result<std::vector<at::Tensor>> scores_of(const EvaluationRequest& request,
                                          const std::vector<const Episode*>& episodes) {
  MTMC_TRY(const std::vector<lm::Prompt> read, request.reader.read_all(episodes));
  std::vector<const lm::Prompt*> prompts;
  for (const lm::Prompt& prompt : read) prompts.push_back(&prompt);
  std::vector<at::Tensor> all;
  for (const auto& part : lm::in_parts(request.model, prompts))
    for (const at::Tensor& scores : lm::score_all(request.model, part, request.scores))
      all.push_back(scores.to(at::kCPU));
  return all;
}

// A search that asks the policy or the cost model.
struct Guided {
  size_t method, at;
  std::unique_ptr<GuidedSearch> search;
  bool policy() const { return method == kTreePolicy || method == kBeamPolicy || method == kDescentPolicy; }
};

Result<Guided> begin_guided(const EvaluationRequest& request, size_t at, size_t method, uint64_t seed, size_t states) {
  constexpr decltype(&tree_search) kSearches[] = {tree_search, beam_search,
                                                  descending_search};  // by policy and by cost
  Guided guided{method, at, kSearches[(method - kTreePolicy) / 2](request.dynamics, request.tasks[at], states)};
  MTMC_RETURN_IF_ERROR(guided.search->begin(request.steps, seed));
  while (!guided.policy() && guided.search->asks() != nullptr)
    MTMC_RETURN_IF_ERROR(guided.search->answer(guided.search->asks()->gains()));
  return guided;
}

// Those that ask the policy, all a question further; whether there was one.
Result<bool> answer_all(const EvaluationRequest& request, const std::vector<Guided>& all, double sharpness) {
  std::vector<const Episode*> episodes;
  std::vector<GuidedSearch*> asking;
  for (const Guided& one : all)
    if (const Episode* episode = one.search->asks(); episode != nullptr)
      episodes.push_back(episode), asking.push_back(one.search.get());
  if (asking.empty()) return false;
  MTMC_TRY(const std::vector<at::Tensor> said, scores_of(request, episodes));
  for (size_t i = 0; i < asking.size(); ++i) {
    const at::Tensor scores = said[i].to(at::kDouble).contiguous();
    const auto* first = scores.const_data_ptr<double>();
    MTMC_RETURN_IF_ERROR(asking[i]->answer(gains_of_scores({first, first + scores.numel()}, sharpness)));
  }
  return true;
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
  MTMC_TRY(const std::vector<at::Tensor> all, scores_of(request, episodes));
  auto next = open.begin();
  for (const at::Tensor& scores : all) thoughts.emplace((next++)->first, scores);
  for (Exploration* one : going) MTMC_RETURN_IF_ERROR(one->step(choose(thoughts.at(one->way()), *one)));
  return ok_status();
}

void add(const Measured& measured, double share, BudgetCurve& curve) {
  for (size_t n = 0; n < curve.gain.size(); ++n) curve.gain[n] += share * measured.gain(n + 1);
  curve.states += share * static_cast<double>(measured.size());
}

bool wanted(const TaskCurves& task, size_t method) { return !task.curves[method].gain.empty(); }

// 1, 2, 4, ... and the last.
std::vector<size_t> budgets(const std::vector<TaskCurves>& tasks) {
  size_t last = 0;
  if (!tasks.empty())
    for (const BudgetCurve& curve : tasks.front().curves) last = std::max(last, curve.gain.size());
  std::vector<size_t> all;
  for (size_t n = 1; n < last; n *= 2) all.push_back(n);
  all.push_back(last);
  return all;
}

}  // namespace

Result<std::vector<TaskCurves>> budget_curves(const EvaluationRequest& request, size_t states, double sharpness,
                                              const std::vector<std::string>& methods) {
  const at::AutoGradMode no_grad(false);
  const int n = request.samples;
  const int times[] = {n, n, request.random, 1, n, n, n, n, n, n};
  std::vector<TaskCurves> all;
  std::vector<std::unique_ptr<Exploration>> explorations;
  std::vector<Guided> searches;
  for (size_t i = 0; i < request.tasks.size(); ++i) {
    const Tree& tree = request.dynamics.trees()[request.tasks[i]];
    all.push_back({std::log(tree.places[0].time / Walks(tree, request.steps).best_time(0, request.steps)),
                   std::vector<BudgetCurve>(std::size(kMethods))});
    for (size_t method = 0; method < std::size(kMethods); ++method) {
      if (!methods.empty() && std::find(methods.begin(), methods.end(), kMethods[method]) == methods.end()) continue;
      all.back().curves[method].gain.resize(states, 0);
      for (int time = 0; time < times[method]; ++time) {
        const uint64_t seed = seed_for(request.seed, {11, request.tasks[i], method, static_cast<uint64_t>(time)});
        if (method >= kTreePolicy) {
          MTMC_TRY(Guided guided, begin_guided(request, i, method, seed, states));
          searches.push_back(std::move(guided));
          continue;
        }
        explorations.push_back(std::make_unique<Exploration>(request, i, method, seed, states));
        MTMC_RETURN_IF_ERROR(explorations.back()->begin_walk());
        if (method != kPolicy) MTMC_RETURN_IF_ERROR(explore_alone(*explorations.back(), sharpness));
      }
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
  for (bool asked = true; asked;) {
    MTMC_TRY(asked, answer_all(request, searches, sharpness));
  }
  for (const auto& one : explorations) add(one->measured(), 1.0 / times[one->method], all[one->at].curves[one->method]);
  for (const Guided& one : searches)
    add(one.search->measured(), 1.0 / times[one.method], all[one.at].curves[one.method]);
  return all;
}

double share_of_known(const std::vector<TaskCurves>& tasks, size_t method, size_t n) {
  double missed = 0;
  for (const TaskCurves& task : tasks) missed += task.known - task.curves[method].gain[n - 1];
  return std::exp(-missed / static_cast<double>(std::max<size_t>(1, tasks.size())));
}

std::string curve_table(const std::vector<TaskCurves>& tasks) {
  const std::vector<size_t> shown = budgets(tasks);
  std::string text = fmt::format("{:<14}", "");
  for (const size_t n : shown) text += fmt::format("{:>9}", n);
  text += fmt::format("{:>10}{:>9}\n", "95 % at", "found");
  for (size_t method = 0; method < std::size(kMethods); ++method) {
    if (tasks.empty() || !wanted(tasks.front(), method)) continue;
    text += fmt::format("{:<14}", kMethods[method]);
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
    for (const size_t n : budgets({task}))
      if (wanted(task, method)) json[kMethods[method]].push_back(std::exp(task.curves[method].gain[n - 1]));
  return json;
}

}  // namespace mtmc::train
