// `mtmc show`: the runs in the store, one run as a tree, or one attempt with its code and the judge's evidence.
#include <fmt/core.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "cli/run_number.h"
#include "cli/summary.h"
#include "cli/verb.h"
#include "eval/evidence.h"
#include "report/diff.h"
#include "report/report_data.h"
#include "report/tables.h"
#include "store/store.h"

namespace mtmc {
namespace {

struct ShowOptions {
  std::string run, store;
  int64_t node = 0;
  bool code = false, program = false, as_json = false;
};

Json node_json(const NodeRecord& node) {
  Json json = {{"node", node.id},           {"parent", node.parent},
               {"partner", node.partner},   {"step", node.step},
               {"action", node.action},     {"text", node.rendered},
               {"rewrites", node.rewrites}, {"coder", node.coder},
               {"state", node.state_hash},  {"code_hash", node.code_hash},
               {"failure", node.failure},   {"created", node.created}};
  json["verdict"] = node.verdict() == nullptr ? Json(nullptr) : to_json(*node.verdict());
  return json;
}

Json run_json(const RunRecord& run) {
  return {{"run", run.id},          {"task", run.task.name}, {"target", run.target}, {"state", to_string(run.state)},
          {"started", run.started}, {"seconds", run.seconds}};
}

Result<int> show_runs(Store& store, bool as_json) {
  MTMC_TRY(const auto runs, store.runs());
  Json all = Json::array();
  if (!as_json)
    fmt::print("{:>4}  {:<20}  {:<24}  {:<6}  {:<11}  {:>8}  {}\n", "run", "started", "task", "target", "state",
               "attempts", "best");
  for (const RunRecord& run : runs) {
    MTMC_TRY(const auto nodes, store.nodes(run.id));
    const NodeRecord* best = result_node(run, nodes);
    const std::string speedup = speedup_text(best == nullptr ? nullptr : best->verdict());
    if (as_json) {
      all.push_back(run_json(run));
      all.back()["attempts"] = nodes.size();
      all.back()["best"] = best == nullptr ? Json(nullptr) : node_json(*best);
    } else {
      fmt::print("{:>4}  {:<20}  {:<24}  {:<6}  {:<11}  {:>8}  {}\n", run.id, run.started, run.task.name, run.target,
                 to_string(run.state), nodes.size(), speedup);
    }
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
  return kDone;
}

Result<int> show_run(Store& store, RunId id, bool as_json) {
  MTMC_TRY(const RunRecord run, store.run(id));
  MTMC_TRY(const auto nodes, store.nodes(id));
  const NodeRecord* best = result_node(run, nodes);
  if (as_json) {
    Json json = run_json(run);
    json["best"] = best == nullptr ? Json(nullptr) : Json(best->id);
    json["nodes"] = Json::array();
    for (const NodeRecord& node : nodes) json["nodes"].push_back(node_json(node));
    fmt::print("{}\n", json.dump(2));
    return kDone;
  }
  MTMC_TRY(const ReportData data, load_report(store, id));
  const size_t attempts = nodes.empty() ? 0 : nodes.size() - 1;
  fmt::print("run {}: {} on {} ({}), {}, {} attempt{} in {:.0f} s\n{}\n", run.id, run.task.name, run.target,
             run.hardware.name, to_string(run.state), attempts, attempts == 1 ? "" : "s", run.seconds,
             tree_table(data, isatty(STDOUT_FILENO) == 1));
  if (best != nullptr) fmt::print("`mtmc show --node {} --code` prints the result\n", best->id);
  return kDone;
}

Result<int> show_node(Store& store, const ShowOptions& options) {
  MTMC_TRY(const NodeRecord node, store.node(options.node));
  if (options.as_json) {
    Json json = node_json(node);
    json["code"] = node.code;
    json["program"] = node.program;
    fmt::print("{}\n", json.dump(2));
    return kDone;
  }
  if (options.code || options.program) {
    if (options.program) fmt::print("{}", node.program);
    if (options.code) fmt::print("{}", node.code);
    return kDone;
  }
  fmt::print("{}\n", step_line(node));
  if (node.partner != kNoNode)
    fmt::print("     from attempt {}, crossed with its parent {}\n", node.partner, node.parent);
  if (node.verdict() != nullptr) fmt::print("{}\n", render_evidence(*node.verdict()));
  if (node.parent == kNoNode || node.code.empty()) return kDone;
  MTMC_TRY(const NodeRecord parent, store.node(node.parent));
  fmt::print("\nagainst attempt {}:\n{}", parent.id, unified_diff(parent.code, node.code, isatty(STDOUT_FILENO) == 1));
  return kDone;
}

Result<int> show(const ShowOptions& options) {
  MTMC_TRY(const auto store, open_store(store_path(options.store), OpenFor::reading));
  if (options.node != 0) return show_node(*store, options);
  if (options.run.empty()) return show_runs(*store, options.as_json);
  MTMC_TRY(const RunId id, find_run(*store, options.run));
  return show_run(*store, id, options.as_json);
}

VerbBody declare(Options& options) {
  auto given = std::make_shared<ShowOptions>();
  options.optional_positional(given->run, "RUN", "the number of a run, or `last`; all runs without it");
  options.integer(given->node, "--node", 1, "one attempt: its evidence, and what it changed");
  options.flag(given->code, "--code", "with --node: its kernel.py");
  options.flag(given->program, "--program", "with --node: its Program");
  options.text(given->store, "--store", "FILE", "the store to read");
  options.flag(given->as_json, "--json", "print JSON");
  return [given] { return show(*given); };
}

}  // namespace

extern const Verb show_def;
const Verb show_def{"show", "The runs in the store, one run as a tree, or one attempt with its evidence.", declare};

}  // namespace mtmc
