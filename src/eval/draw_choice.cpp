#include "eval/draw_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/stats.h"

namespace mtmc {

namespace {

constexpr double kSmallArguments = 4.0 * (1 << 20);  // bytes: of small and quick modules
constexpr double kQuickSeconds = 0.01;               // (eager) every timed call is measured, unless to know
constexpr double kSecondsOfTruth = 1;                // what is right takes longer for all of them
constexpr double kLentAnew = 16e6;  // bytes of weights that are set again and again between timed calls
constexpr int kScreenRounds = 7, kCertifyRounds = 30;
// On a GPU calls that take no less than this scatter by a hundredth: half the rounds tell as much, and more follow if
// not.
constexpr double kLongSeconds = 0.001;
constexpr int kLongRounds = 15;
constexpr int kMixedDraws = 5;  // that large arguments of timed calls are mixed from

bool lies_elsewhere(const std::string& kind) {
  return kind == "non-contiguous" || kind == "gapped" || kind == "unaligned" || kind == "one-tensor";
}

// `count` draws: so many of their own, then mixtures of those (see python/mtmc/referee/draws.py).
std::vector<std::string> timed_draws(int first, int own, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(fmt::format("timed-{}", first + i % own));
    if (i >= own) names.back() += fmt::format("~{}", i / own);
  }
  return names;
}

int index_by(Rng& rng, const TaskFacts& facts) {
  return 1 + (facts.large() ? 0 : static_cast<int>(rng.below(kDrawsOfAKind - 1)));
}

}  // namespace

int DrawChoice::other_index(const TaskFacts& facts) { return index_by(*rng_, facts); }

void DrawChoice::draw_index(const TaskFacts& facts) { next_index_ = index_by(indices_, facts); }

std::vector<std::string> DrawChoice::screened_first(const TaskFacts& facts) const {
  std::vector<std::string> names;
  for (const std::string& kind : facts.structured())
    if (names.size() < structured_count(Tier::screen)) names.push_back(fmt::format("{}-0", kind));
  for (std::string& name : screened_besides(facts)) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> DrawChoice::screened_besides(const TaskFacts& facts) {
  return facts.has_weights() ? std::vector<std::string>{"weights-0", "task-1"} : std::vector<std::string>();
}

std::vector<std::string> DrawChoice::certified_next(const TaskFacts& facts) const {
  const auto of = [&](const std::string& kind) { return fmt::format("{}-{}", kind, next_index_); };
  std::vector<std::string> names;
  for (const std::string& kind : facts.structured()) names.push_back(of(kind));
  names.insert(names.end(), {"task-2", "task-3", "task-4", "swapped-0"});
  if (facts.moves()) names.push_back(of("repeated"));
  if (!options_->freeze_weights)
    for (const std::string& kind : facts.nudged()) names.push_back(of(kind));
  return names;
}

Result<std::vector<std::string>> DrawChoice::structured(TaskFacts& facts, Tier tier, bool again) {
  const bool screens = tier == Tier::screen;
  const int index = met_index_ = !screens ? next_index_ : again ? other_index(facts) : 0;
  if (!screens) draw_index(facts);  // whoever is certified again may have written down what it saw
  if (screens) {
    MTMC_TRY(met_, facts.structured(structured_count(tier), index));
  } else {
    met_.clear(), left_out_.clear();
    for (const std::string& kind : facts.structured()) met_.push_back(fmt::format("{}-{}", kind, index));
  }
  if (const auto known = refusing_.find(facts.folder()); known != refusing_.end()) {
    const std::string draw = fmt::format("{}-{}", known->second, known->second == "task" ? other_index(facts) : index);
    MTMC_TRY(const DrawFacts* of_draw, facts.draw(draw));
    std::erase(met_, draw);
    if (of_draw->usable) met_.insert(met_.begin(), draw);
  }
  return met_;
}

Result<bool> DrawChoice::meets(TaskFacts& facts, const std::string& draw) {
  MTMC_TRY(const DrawFacts* known, facts.draw(draw));
  if (!known->usable) std::erase(met_, draw), left_out_.push_back(draw);
  return known->usable;
}

Result<std::vector<std::string>> DrawChoice::structured_instead(TaskFacts& facts, Tier tier) {
  MTMC_TRY(std::vector<std::string> more, facts.structured(structured_count(tier), met_index_));
  std::erase_if(more, [&](const std::string& draw) { return std::find(met_.begin(), met_.end(), draw) != met_.end(); });
  met_.insert(met_.end(), more.begin(), more.end());
  return more;
}

Result<RoundPlan> DrawChoice::rounds(TaskFacts& facts, Tier tier, bool anew) {
  const bool screens = tier == Tier::screen;
  RoundPlan plan;
  const bool is_long = on_gpu() && facts.eager_seconds() > kLongSeconds;
  const int certify = is_long ? kLongRounds : kCertifyRounds;
  plan.rounds = screens ? kScreenRounds : certify + static_cast<int>(rng_->below(8));
  plan.warm_ups = (screens ? 1 : 2) + static_cast<int>(rng_->below(screens ? 2 : 3));
  const bool small = facts.argument_bytes() < kSmallArguments && facts.eager_seconds() < kQuickSeconds;
  // Each costs a truth and a pass over the result: of large ones a screen, which only ranks, affords one on a GPU.
  const int seldom = screens ? (on_gpu() && facts.large() ? 1 : 3) : 8;
  const int affords = static_cast<int>(kSecondsOfTruth / std::max(facts.draw_seconds(), 1e-6));
  plan.checks = small ? std::min(screens ? plan.rounds / 2 : plan.rounds, std::max(seldom, affords)) : seldom;
  // Arguments that are drawn quickly are new in every call. Large ones on a CPU are mixed from a few draws of their
  // own.
  const bool quick = on_gpu() || !facts.large();
  const int set = screens && !anew && !(on_gpu() && facts.large()) ? 0 : ++timed_sets_;
  const int count = most_rounds(tier, plan.rounds) + plan.warm_ups;
  plan.one_thread = options_->threads == 1, plan.measures_on = options_->measures_on;
  plan.lends_anew = !screens && facts.has_weights() && !options_->freeze_weights && facts.weight_bytes() < kLentAnew;
  plan.draws = timed_draws(1000 * set, quick ? count : kMixedDraws, count);
  plan.forgets = quick && set > 0;
  MTMC_TRY(plan.probes, probes(facts, tier, plan.rounds));
  return plan;
}

// A draw of every kind that was met, each before a round drawn at random; a screen has one, and large draws are left to
// certifications, which have one. Memory of another layout would stay for later rounds.
Result<std::multimap<int, std::string>> DrawChoice::probes(TaskFacts& facts, Tier tier, int rounds) {
  std::multimap<int, std::string> probes;
  const bool screens = tier == Tier::screen;
  if (screens && facts.large()) return probes;
  std::vector<std::string> kinds;
  for (const std::string& draw : met_)
    if (!lies_elsewhere(kind_of(draw))) kinds.push_back(kind_of(draw));
  if ((screens || facts.large()) && !kinds.empty()) kinds = {kinds[rng_->below(kinds.size())]};
  if (!screens && facts.has_weights() && !options_->freeze_weights) {
    kinds.insert(kinds.end(), {"weights", "weights"});
    if (facts.has_state("lifted")) kinds.push_back("lifted");
    for (const std::string& kind : facts.nudged()) kinds.push_back(kind);
  }
  for (const std::string& kind : kinds) {
    const std::string draw = fmt::format("{}-{}", kind, other_index(facts));
    MTMC_TRY(const DrawFacts* known, facts.draw(draw));
    if (known->usable) probes.emplace(static_cast<int>(rng_->below(static_cast<uint64_t>(rounds))), draw);
  }
  return probes;
}

void DrawChoice::remember(const TaskFacts& facts, const Verdict& certification) {
  if (certification.outcome != Outcome::refused || certification.errors.empty()) return;
  const OutputError& last = certification.errors.back();
  const std::string kind = kind_of(last.draw);
  if (!last.broken.empty() && last.broken != "e" && (kind == "task" || facts.has_structured(kind)))
    refusing_[facts.folder()] = kind;
}

}  // namespace mtmc
