#include "eval/task_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"

namespace mtmc {

namespace {

constexpr double kMayLackRoom = 1e9;       // bytes of arguments and results
constexpr double kReferenceSeconds = 900;  // the user's own module, several times, in double
constexpr char kLater = '+';               // see python/mtmc/referee/kept_draws.py
constexpr double kManyDraws = 50;          // see JudgeOptions::draw_seconds

Budgets budgets_from(const Json& errors) {
  std::vector<std::vector<Measurement>> runs;
  for (const Json& run : errors) runs.push_back(measurements_from(run));
  return worst_of(runs);
}

Given given_from(const Json& told) {
  return {std::make_shared<const Json>(told.at("form")), std::make_shared<const Json>(told.at("values")),
          told.value("fill", ""), told.value("seed", uint64_t{0})};
}

// The others are held to the task's and to eager's own errors on the very draw.
bool has_own_budget(const std::string& kind) {
  static const std::set<std::string> like_task = {"timed",          "swapped",       "repeated",
                                                  "non-contiguous", "transposed",    "gapped",
                                                  "reordered",      "channels-last", "unaligned"};
  return !like_task.contains(kind) && !kind.starts_with("nudged");
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool all_finite(const Budgets& budgets) {
  return std::all_of(budgets.begin(), budgets.end(), [](const auto& output) { return output.second.finite; });
}

// For errors of other causes than eager's own; notes say where these decide.
void make_room(DrawFacts& facts, const Json& by_cause) {
  for (const auto& [by, errors] : by_cause.items()) {
    Budgets beside = budgets_from(errors);
    for (auto& [output, budget] : beside) budget.moved = by == "half-ulp", budget.eager = 0;
    for (std::string& note : dominated(facts.budgets, beside, by)) facts.notes.push_back(std::move(note));
    by == "order-of-sums" ? widen_within_reason(facts.budgets, beside) : widen(facts.budgets, beside);
  }
}

}  // namespace

std::string kind_of(const std::string& draw) { return draw.substr(0, draw.rfind('-')); }

Result<TaskFacts> TaskFacts::open(JudgeProcess& referee, const Task& task, const std::filesystem::path& folder,
                                  const std::filesystem::path& triton_seed, const JudgeOptions& options) {
  std::filesystem::create_directories(folder);
  MTMC_RETURN_IF_ERROR(write_file(folder / "task.json", task.json));
  MTMC_TRY(const Json reply, referee.ask({{"op", "open"},  // which takes its turns itself
                                          {"folder", folder.string()},
                                          {"seed", options.seed},
                                          {"threads", options.threads},
                                          {"device", options.device},
                                          {"triton_seed", triton_seed.string()},
                                          {"accuracy", to_string(options.accuracy)}},
                                         kReferenceSeconds));
  TaskFacts facts;
  facts.referee_ = &referee, facts.folder_ = folder, facts.on_gpu_ = options.device == "cuda";
  facts.mode_ = reply.at("mode"), facts.by_name_ = reply.at("by_name").get<std::vector<std::string>>();
  facts.structured_ = reply.at("structured").get<std::vector<std::string>>();
  facts.files_ = reply.at("files").get<std::vector<std::string>>();
  facts.others_ = reply.at("others").get<std::vector<std::string>>();
  facts.strict_ = options.accuracy == Accuracy::strict;
  facts.patience_ = options.draw_seconds;
  facts.weights_ = reply.at("weights");
  facts.imported_ = reply.at("imported").get<std::vector<std::string>>();
  facts.asked_ = reply.at("asked").get<std::vector<std::string>>();
  facts.eager_seconds_ = reply.at("eager_seconds"), facts.argument_bytes_ = reply.at("argument_bytes");
  facts.result_bytes_ = reply.at("result_bytes"), facts.weight_bytes_ = reply.at("weight_bytes");
  facts.written_ = reply.at("written").get<std::vector<int>>();
  facts.returned_bytes_ = reply.at("returned_bytes"), facts.nominal_bytes_ = reply.at("nominal_bytes");
  facts.moving_ = reply.at("moving").get<std::vector<std::string>>();
  for (const auto& [name, told] : reply.at("states").items()) facts.states_[name] = given_from(told);
  return facts;
}

Result<const DrawFacts*> TaskFacts::draw(const std::string& name) {
  if (const auto known = draws_.find(name); known != draws_.end()) return &known->second;
  const std::string kind = kind_of(name);
  const bool timed = !has_own_budget(kind);
  const char* budget = timed ? "" : kind == "task" ? "kind" : "draw";
  DrawFacts facts;
  facts.name = name;
  if (left_out_.contains(kind)) {
    facts.usable = false;
    return &(draws_[name] = std::move(facts));
  }
  // A truth for which a GPU has no room is computed on the host, as slowly as may be.
  const bool first = kind == "task" || argument_bytes_ + result_bytes_ > kMayLackRoom;
  const Result<Json> told = referee_->compute({{"op", "draw"}, {"name", name}, {"budget", budget}},
                                              first ? kReferenceSeconds : patience_ + kManyDraws * draw_seconds_);
  if (!told.ok() && !first && told.error().wrong == kUnanswered) endless_ = name;
  MTMC_TRY(const Json reply, told);
  draw_seconds_ = reply.value("draw_seconds", draw_seconds_), full_ = reply.value("full", full_);
  if (reply.contains("skipped")) {
    facts.usable = false, facts.raised = true, facts.no_room = reply.value("no_room", false);
    return &(draws_[name] = std::move(facts));
  }
  facts.whole = timed || reply.at("whole");
  facts.own_errors = timed ? !reply.at("allowed_errors").empty() : !facts.whole;
  facts.eager = budgets_from(reply.at("eager_errors")), facts.own = budgets_from(reply.at("allowed_errors"));
  facts.budgets = facts.own;
  if (reply.at("on_host").get<bool>())
    facts.notes.push_back("truth-on-host: the GPU's memory was too small for the module in double");
  make_room(facts, reply.at("beside"));
  for (const Json& call : reply.at("chances")) {
    for (const auto& [output, chance] : call.items()) facts.chances[output].push_back(fractions_from(chance));
  }
  if (reply.contains("form")) given_[name] = given_from(reply);
  facts.eager_seconds = reply.at("eager_seconds");
  facts.in_a_row = reply.at("in_a_row");
  facts.calls = reply.at("calls"), facts.repeats = reply.at("repeats"),
  facts.modified = reply.at("modified").get<std::vector<int>>();
  facts.loose = reply.at("loose").get<std::vector<bool>>();
  facts.aliases = reply.at("aliases").get<std::vector<bool>>();
  facts.overlapping = reply.at("overlapping").get<std::vector<bool>>();
  facts.random_state = reply.at("random_state");
  if (timed) {
    MTMC_TRY(const DrawFacts* task, draw("task-0"));
    Budgets budgets = task->budgets;
    widen(budgets, facts.budgets);  // eager's errors on this very draw
    facts.budgets = std::move(budgets), facts.eager = task->eager, facts.chances = task->chances;
  }
  MTMC_RETURN_IF_ERROR(complete(facts));
  return &(draws_[name] = std::move(facts));
}

// What follows from the errors of its kind, or of the draw itself.
Status TaskFacts::complete(DrawFacts& facts) {
  for (auto& [output, budget] : facts.budgets) budget.exact_suffices = !strict_;
  const std::string kind = kind_of(facts.name);
  if (kind == "task" || !has_own_budget(kind)) return ok_status();
  MTMC_TRY(const DrawFacts* task, draw("task-0"));
  if (contains(others_, kind))
    widen(facts.budgets, task->budgets);  // its own are of two draws
  else
    facts.usable = structured_counts(facts.eager, task->eager) && all_finite(facts.budgets);
  return ok_status();
}

double TaskFacts::eager_seconds(const std::string& draw) const {
  const auto known = draws_.find(draw);
  return known == draws_.end() ? 0 : known->second.eager_seconds;
}

Result<bool> TaskFacts::raises_no_more(const std::string& draw) {
  if (const auto known = draws_.find(draw); known == draws_.end() || !known->second.raised) return false;
  draws_.erase(draw);
  MTMC_TRY(const DrawFacts* again, this->draw(draw));
  return again->usable;
}

Result<bool> TaskFacts::allow_whole_budget(const std::string& draw) {
  const std::string kind = kind_of(draw);
  if (draws_.at(draw).whole) return false;
  MTMC_TRY(const Json reply, referee_->compute({{"op", "budget"}, {"kind", kind}}, kReferenceSeconds));
  if (reply.value("no_room", false)) return false;  // it may be the candidate that leaves none
  for (auto& [name, facts] : draws_) {
    if (kind_of(name) != kind || facts.whole) continue;  // on those that were skipped eager raises
    facts.whole = true, facts.usable = !reply.contains("skipped");
    if (facts.usable) {
      facts.eager = budgets_from(reply.at("eager_errors")), facts.own = budgets_from(reply.at("allowed_errors"));
      facts.budgets = facts.own;
      MTMC_RETURN_IF_ERROR(complete(facts));
    }
    if (!facts.usable) proving_nothing_.insert(kind);
  }
  return true;
}

Result<bool> TaskFacts::allow_own_errors(const std::string& draw) {
  DrawFacts& facts = draws_.at(draw);
  if (facts.own_errors) return false;
  facts.own_errors = true;
  MTMC_TRY(const Json reply, referee_->compute({{"op", "own"}, {"draw", draw}}, kReferenceSeconds));
  const Json& errors = reply.at("allowed_errors");
  widen(facts.budgets, budgets_from(errors));
  return !errors.empty();
}

Result<bool> TaskFacts::allow_other_orders(const std::string& draw) {
  const std::string kind = kind_of(draw);
  if (!has_own_budget(kind) || !other_orders_.insert(draw).second) return false;
  MTMC_TRY(const Json reply, referee_->compute({{"op", "beside"}, {"draw", draw}}, kReferenceSeconds));
  for (auto& [name, facts] : draws_) {
    if (kind_of(name) != kind) continue;
    for (const char* of : {"of_kind", "of_draw"}) {
      if (!reply.contains(of) || (of == std::string("of_draw") && name != draw)) continue;
      // How much room there may be goes by its own errors, not by the task's, which have made room before.
      DrawFacts alone;
      alone.budgets = facts.own;
      make_room(alone, reply.at(of));
      widen(facts.budgets, alone.budgets);
      facts.notes.insert(facts.notes.end(), alone.notes.begin(), alone.notes.end());
    }
    if (!contains(others_, kind)) facts.usable = facts.usable && all_finite(facts.budgets);
    if (!facts.usable) proving_nothing_.insert(kind);
  }
  return !reply.empty();
}

Result<std::vector<std::string>> TaskFacts::structured(size_t count, int index) {
  std::vector<std::string> found;
  for (const std::string& kind : structured_) {
    if (found.size() == count) break;
    MTMC_TRY(const DrawFacts* facts, draw(kind + "-" + std::to_string(index)));
    if (facts->usable) found.push_back(facts->name);
  }
  return found;
}

std::vector<std::string> TaskFacts::nudged() const {
  std::vector<std::string> names;
  for (const auto& [name, state] : states_)
    if (name.starts_with("nudged")) names.push_back(name);
  return names;
}

bool TaskFacts::has_structured(const std::string& kind) const { return contains(structured_, kind); }

Result<bool> TaskFacts::degenerate(const std::vector<std::string>& draws) {
  if (degenerate_) return *degenerate_;
  std::vector<std::string> nulls = {"zeros", "constant", "copy"};  // that have passed so far: most fail at once
  for (size_t i = 0; i < draws.size() && !nulls.empty(); ++i) {
    const Json request = {{"op", "nulls"}, {"nulls", nulls}, {"draw", draws[i]}, {"first", draws[0]}};
    MTMC_TRY(const Json reply, referee_->compute(request, kReferenceSeconds));
    MTMC_TRY([[maybe_unused]] const bool whole, allow_whole_budget(draws[i]));  // few get so far as to a second kind
    if (!draws_.at(draws[i]).usable) continue;
    std::erase_if(nulls, [&](const std::string& null) {
      return !passes(measurements_from(reply.at("nulls").at(null)), draws_.at(draws[i]).budgets);
    });
  }
  degenerate_ = !draws.empty() && !nulls.empty();
  return *degenerate_;
}

Result<const Given*> TaskFacts::given(const std::string& name) {
  if (const auto known = given_.find(name); known != given_.end()) return &known->second;
  if (kind_of(name) == "timed" || name.find(kLater) != name.npos) {
    MTMC_TRY(const Json told, referee_->compute({{"op", "arguments"}, {"name", name}}, kReferenceSeconds));
    return &(given_[name] = given_from(told));
  }
  MTMC_TRY([[maybe_unused]] const DrawFacts* facts, draw(name));
  const auto known = given_.find(name);
  MTMC_CHECK(known != given_.end(), "arguments are asked for on which the module itself fails");
  return &known->second;
}

std::string TaskFacts::arguments_of(const std::string& draw, int index) const {
  const auto known = draws_.find(draw);
  const bool later = index > 0 && known != draws_.end() && known->second.in_a_row;
  return later ? draw + kLater + std::to_string(index) : draw;
}

Result<std::string> TaskFacts::fill(const std::string& name, const Json& places, const std::string& who) {
  if (by_file()) return std::string();
  MTMC_TRY(const Json told,
           referee_->compute({{"op", "fill"}, {"name", name}, {"places", places}, {"guest", who}}, kReferenceSeconds));
  return told.value("refused", "");
}

Status TaskFacts::forget_timed(const std::vector<std::string>& names) {
  for (const std::string& name : names) draws_.erase(name), given_.erase(name);
  MTMC_TRY(const Json reply, referee_->compute({{"op", "forget"}, {"names", names}}, kReferenceSeconds));
  return ok_status();
}

Result<double> TaskFacts::spare_memory() {
  MTMC_TRY(const Json reply, referee_->compute({{"op", "spare"}}, kReferenceSeconds));
  return reply.at("freed").get<double>();
}

Status TaskFacts::close() {
  MTMC_TRY([[maybe_unused]] const Json closed, referee_->compute({{"op", "close"}}, kReferenceSeconds));
  return ok_status();
}

Result<Json> TaskFacts::ask(Json request) { return referee_->compute(request, kReferenceSeconds); }

Result<double> TaskFacts::needed_bytes() {
  if (!needed_bytes_) {
    MTMC_TRY(const Json reply, referee_->compute({{"op", "touched"}}, kReferenceSeconds));
    needed_bytes_ = reply.at("bytes").get<double>();
  }
  return *needed_bytes_;
}

}  // namespace mtmc
