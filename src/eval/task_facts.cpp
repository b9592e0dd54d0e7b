#include "eval/task_facts.h"

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace mtmc {

namespace {

constexpr double kReferenceSeconds = 900;  // the user's own module, several times, in double

Budgets budgets_from(const Json& errors) {
  std::vector<std::vector<Measurement>> runs;
  for (const Json& run : errors) runs.push_back(measurements_from(run));
  return worst_of(runs);
}

std::string kind_of(const std::string& draw) { return draw.substr(0, draw.rfind('-')); }

}  // namespace

Result<TaskFacts> TaskFacts::open(JudgeProcess& referee, const Task& task, const std::filesystem::path& folder,
                                  const std::filesystem::path& triton_seed, const JudgeOptions& options) {
  std::filesystem::create_directories(folder);
  MTMC_RETURN_IF_ERROR(write_file(folder / "task.json", task.json));
  MTMC_TRY(const Json reply, referee.ask({{"op", "open"},
                                          {"folder", folder.string()},
                                          {"seed", options.seed},
                                          {"threads", options.threads},
                                          {"device", options.device},
                                          {"triton_seed", triton_seed.string()},
                                          {"accuracy", to_string(options.accuracy)}},
                                         kReferenceSeconds));
  TaskFacts facts;
  facts.referee_ = &referee, facts.folder_ = folder, facts.on_gpu_ = options.device == "cuda";
  facts.mode_ = reply.at("mode");
  facts.structured_ = reply.at("structured").get<std::vector<std::string>>();
  facts.files_ = reply.at("files").get<std::vector<std::string>>();
  facts.shapes_ = reply.at("shapes"), facts.weights_ = reply.at("weights");
  facts.eager_seconds_ = reply.at("eager_seconds"), facts.argument_bytes_ = reply.at("argument_bytes");
  return facts;
}

Result<const DrawFacts*> TaskFacts::draw(const std::string& name) {
  if (const auto known = draws_.find(name); known != draws_.end()) return &known->second;
  const std::string kind = kind_of(name);
  const bool timed = kind == "timed" || kind == "swapped", shape = kind.starts_with("shape");
  MTMC_TRY(const Json reply, referee_->ask({{"op", "draw"}, {"name", name}, {"budget", !timed}}, kReferenceSeconds));
  DrawFacts facts;
  facts.name = name;
  if (reply.contains("skipped")) {
    facts.usable = false;
  } else {
    facts.eager = budgets_from(reply.at("eager_errors")), facts.budgets = budgets_from(reply.at("allowed_errors"));
    for (const Json& call : reply.at("chances")) {
      for (size_t i = 0; i < call.size(); ++i) facts.chances[std::to_string(i)].push_back(fractions_from(call[i]));
    }
    facts.seed = reply.at("seed"), facts.modified = reply.at("modified").get<std::vector<int>>();
    facts.aliases = reply.at("aliases"), facts.overlapping = reply.at("overlapping").get<std::vector<bool>>();
    facts.random_state = reply.at("random_state");
    facts.changed_state = reply.at("changed_state").get<std::vector<std::string>>();
    if (kind != "task" || timed) {
      MTMC_TRY(const DrawFacts* task, draw("task-0"));
      if (timed)
        facts.budgets = task->budgets, facts.eager = task->eager, facts.chances = task->chances;
      else if (!shape)
        facts.usable = structured_counts(facts.eager, task->eager);
    }
  }
  return &(draws_[name] = std::move(facts));
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

Result<bool> TaskFacts::degenerate(const std::vector<std::string>& draws) {
  if (degenerate_) return *degenerate_;
  MTMC_TRY(const Json reply, referee_->ask({{"op", "nulls"}, {"draws", draws}}, kReferenceSeconds));
  std::map<std::string, Budgets> budgets;
  for (const std::string& name : draws) budgets[name] = draws_.at(name).budgets;
  bool any = false;
  for (const auto& [null, by_draw] : reply.at("nulls").items()) {
    std::map<std::string, std::vector<Measurement>> measured;
    for (const auto& [name, outputs] : by_draw.items()) measured[name] = measurements_from(outputs);
    any = any || passes_everywhere(measured, budgets);
  }
  degenerate_ = any;
  return any;
}

Result<uint64_t> TaskFacts::prepare_timed(const std::string& name) {
  MTMC_TRY(const Json reply,
           referee_->ask({{"op", "arguments"}, {"name", name}, {"large", large()}}, kReferenceSeconds));
  return reply.at("seed").get<uint64_t>();
}

Status TaskFacts::forget_timed(const std::vector<std::string>& names) {
  for (const std::string& name : names) draws_.erase(name);
  MTMC_TRY(const Json reply, referee_->ask({{"op", "forget"}, {"names", names}}, kReferenceSeconds));
  return ok_status();
}

Result<Json> TaskFacts::measure(const std::string& draw, const std::filesystem::path& out, const Json& digests,
                                bool own_random) {
  return referee_->ask(
      {{"op", "measure"}, {"draw", draw}, {"out", out.string()}, {"digests", digests}, {"own_random", own_random}},
      kReferenceSeconds);
}

Result<TaskFacts::Bytes> TaskFacts::bytes() {
  if (!bytes_) {
    MTMC_TRY(const Json reply, referee_->ask({{"op", "touched"}}, kReferenceSeconds));
    bytes_ = Bytes{reply.at("needed"), reply.at("nominal")};
  }
  return *bytes_;
}

}  // namespace mtmc
