// `mtmc replay RUN`: prints every attempt of a run again from its stored Program and compares the bytes.
#include <fmt/core.h>

#include <memory>

#include "base/file.h"
#include "cli/run_number.h"
#include "cli/verb.h"
#include "ir/program.h"
#include "report/diff.h"
#include "store/store.h"
#include "targets/shell_json.h"
#include "targets/target.h"

namespace mtmc {
namespace {

struct ReplayOptions {
  int64_t node = 0;
  std::string run, store, out;
};

// The kernel file that the attempt's Program gives now.
Result<std::string> print_again(const RunRecord& run, const NodeRecord& node) {
  const TargetDef* target = find_target(run.target);
  if (target == nullptr) return Error{"replaying", "this version has no such target", run.target, ""};
  MTMC_TRY(const Program program, parse_program(node.program));
  MTMC_TRY(const ModuleShell shell, shell_from_json_text(run.shell));
  MTMC_TRY(const Code code, target->emit(program, run.hardware, shell));
  return code.text;
}

// The faulty coder spoils its text after printing; without a Program there is nothing to print.
bool can_replay(const NodeRecord& node) {
  return !node.code.empty() && !node.program.empty() && node.coder.find("+faults") == std::string::npos;
}

// The first place where the stored code (-) and today's (+) part.
std::string first_difference(const std::string& stored, const std::string& now) {
  const std::string all = unified_diff(stored, now);
  return all.substr(0, all.find("\n@@", 1) == std::string::npos ? all.size() : all.find("\n@@", 1) + 1);
}

Result<int> replay(const ReplayOptions& options) {
  MTMC_TRY(const auto store, open_store(store_path(options.store), OpenFor::reading));
  MTMC_TRY(const RunId id, find_run(*store, options.run));
  MTMC_TRY(const RunRecord run, store->run(id));
  MTMC_TRY(const auto nodes, store->nodes(id));
  if (!options.out.empty()) {
    const NodeRecord* chosen = options.node == 0 ? result_node(run, nodes) : nullptr;
    for (const NodeRecord& node : nodes)
      if (node.id == options.node) chosen = &node;
    if (chosen == nullptr || !can_replay(*chosen))
      return Error{"replaying", "this attempt has no Program to print from", std::to_string(options.node), ""};
    MTMC_TRY(const std::string text, print_again(run, *chosen));
    MTMC_RETURN_IF_ERROR(write_file(options.out, text));
    fmt::print("wrote {} from attempt {}: {}\n", options.out, chosen->id,
               text == chosen->code ? "the same bytes" : "not the bytes that were judged");
    return text == chosen->code ? kDone : kNotBetter;
  }
  int same = 0, all = 0;
  for (const NodeRecord& node : nodes) {
    if (!can_replay(node) || (options.node != 0 && node.id != options.node)) continue;
    MTMC_TRY(const std::string text, print_again(run, node));
    ++all;
    same += text == node.code;
    if (text != node.code)
      fmt::print("attempt {} ({}) prints differently now, first at\n{}", node.id, node.action,
                 first_difference(node.code, text));
  }
  fmt::print("{} of {} attempts print the same bytes\n", same, all);
  return same == all ? kDone : kNotBetter;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<ReplayOptions>();
  options.positional(given->run, "RUN", "the number of a run, as `mtmc show` lists it, or `last`");
  options.integer(given->node, "--node", 1, "one attempt only");
  options.text(given->out, "--out", "FILE", "write the kernel file of the best attempt, or of --node");
  options.text(given->store, "--store", "FILE", "the store to read");
  return [given] { return replay(*given); };
}

}  // namespace

extern const Verb replay_def;
const Verb replay_def{"replay", "Print a run's attempts again from their stored Programs: the same bytes.", declare};

}  // namespace mtmc
