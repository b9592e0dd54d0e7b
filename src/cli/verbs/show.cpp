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

// The start, what eager does, is none.
size_t attempts_in(const std::vector<NodeRecord>& nodes) { return nodes.empty() ? 0 : nodes.size() - 1; }

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
      all.back()["attempts"] = attempts_in(nodes);
      all.back()["best"] = best == nullptr ? Json(nullptr) : node_json(*best);
    } else {
      fmt::print("{:>4}  {:<20}  {:<24}  {:<6}  {:<11}  {:>8}  {}\n", run.id, run.started, run.task.name, run.target,
                 to_string(run.state), attempts_in(nodes), speedup);
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
  const size_t attempts = attempts_in(nodes);
  fmt::print("run {}: {} on {} ({}), {}, {} attempt{} in {:.0f} s\n{}\n", run.id, run.task.name, run.target,
             run.hardware.name, to_string(run.state), attempts, attempts == 1 ? "" : "s", run.seconds,
             tree_table(data, isatty(STDOUT_FILENO) == 1));
  if (best != nullptr) fmt::print("`mtmc show {} --code` prints the result\n", run.id);
  return kDone;
}

// With --code or --program alone.
Result<int> show_text(const NodeRecord& node, const ShowOptions& options) {
  const std::string doing = fmt::format("showing attempt {}", node.id);
  if (options.program && node.program.empty())
    return Error{doing, "its code was written without a Program", "--program", "--code"};
  if (options.code && node.code.empty()) return Error{doing, "it has no code", node.failure, "one that has"};
  if (options.program) fmt::print("{}", node.program);
  if (options.code) fmt::print("{}", node.code);
  return kDone;
}

Result<int> show_result(Store& store, RunId id, const ShowOptions& options) {
  MTMC_TRY(const RunRecord run, store.run(id));
  MTMC_TRY(const auto nodes, store.nodes(id));
  const NodeRecord* best = result_node(run, nodes);
  if (best == nullptr)
    return Error{fmt::format("showing run {}", id), "it has no result", "", "--node N: one of its attempts"};
  return show_text(*best, options);
}

Result<int> show_node(const NodeRecord& node, Store& store, const ShowOptions& options) {
  if (options.as_json) {
    Json json = node_json(node);
    json["code"] = node.code;
    json["program"] = node.program;
    fmt::print("{}\n", json.dump(2));
    return kDone;
  }
  if (options.code || options.program) return show_text(node, options);
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
  const bool text = options.code || options.program;
  if (options.run.empty() && options.node == 0) {
    if (text) return Error{"reading the command line", "nothing says whose", "", "RUN, or --node N"};
    return show_runs(*store, options.as_json);
  }
  RunId id = 0;
  if (!options.run.empty()) {
    MTMC_TRY(id, find_run(*store, options.run));
  }
  if (options.node != 0) {
    MTMC_TRY(const NodeRecord node, store->node(options.node));
    if (id != 0 && id != node.run)
      return Error{fmt::format("showing attempt {}", node.id), "it is another run's", fmt::format("run {}", id),
                   fmt::format("run {}, or --node alone", node.run)};
    return show_node(node, *store, options);
  }
  return text ? show_result(*store, id, options) : show_run(*store, id, options.as_json);
}

VerbBody declare(Options& options) {
  auto given = std::make_shared<ShowOptions>();
  options.optional_positional(given->run, "RUN", "the number of a run, or `last`; all runs without it");
  options.integer(given->node, "--node", 1, "one attempt: its evidence, and what it changed");
  options.flag(given->code, "--code", "its kernel.py: of --node, else of the run's result");
  options.flag(given->program, "--program", "its Program, likewise");
  options.text(given->store, "--store", "FILE", "the store to read");
  options.flag(given->as_json, "--json", "print JSON");
  return [given] { return show(*given); };
}

}  // namespace

extern const Verb show_def;
const Verb show_def{"show", "The runs in the store, one run as a tree, or one attempt with its evidence.", declare};

}  // namespace mtmc
