// `mtmc replay RUN`: makes the code of every attempt again, from its stored Program or from its model's stored answers,
// and compares the bytes. Needs no network.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/run_number.h"
#include "cli/verb.h"
#include "coder/code_again.h"
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

const NodeRecord* find_node(const std::vector<NodeRecord>& nodes, NodeId id) {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const NodeRecord& node) { return node.id == id; });
  return found == nodes.end() ? nullptr : &*found;
}

// How an attempt's code is made again.
enum class From { program, answers, nothing };

struct Again {
  From from = From::nothing;
  std::string text = {};     // where it is made from something; empty where that holds no code any more
  const char* why_not = "";  // where it is made from nothing
};

Result<Again> make_again(Store& store, const RunRecord& run, const std::vector<NodeRecord>& nodes,
                         const NodeRecord& node) {
  if (node.coder.find("+faults") != std::string::npos) return Again{.why_not = "spoiled on purpose"};
  if (!node.program.empty()) {
    MTMC_TRY(std::string text, print_again(run, node));
    return Again{From::program, std::move(text)};
  }
  const NodeRecord* parent = find_node(nodes, node.parent);
  if (parent == nullptr) return Again{.why_not = "the start, whose Program is not kept"};
  if (!names_answers(node)) return Again{.why_not = "without the names of its model's answers"};
  auto code = code_again(store, node, parent->code);
  if (!code.ok()) fmt::print("attempt {} ({}): {}\n", node.id, node.action, code.error().message());
  if (!code.ok()) return Again{From::answers, ""};
  return *code ? Again{From::answers, **code} : Again{.why_not = "with answers that the store lacks"};
}

// The first place where the stored code (-) and today's (+) part.
std::string first_difference(const std::string& stored, const std::string& now) {
  const std::string all = unified_diff(stored, now);
  return all.substr(0, all.find("\n@@", 1) == std::string::npos ? all.size() : all.find("\n@@", 1) + 1);
}

// What its Program prints now; without one the stored code, which is what was judged.
Result<int> write_out(const std::string& path, const NodeRecord& node, const Again& again) {
  const bool same = again.from == From::nothing || again.text == node.code;
  MTMC_RETURN_IF_ERROR(write_file(path, again.from == From::program ? again.text : node.code));
  fmt::print("wrote {} from attempt {}: {}\n", path, node.id,
             again.from == From::program ? (same ? "the same bytes" : "not the bytes that were judged")
             : again.from == From::nothing
                 ? fmt::format("the code that was judged; it cannot be made again: it is {}", again.why_not)
             : same ? "the code that was judged, and that its model's answers hold"
                    : "the code that was judged, which its model's answers do not hold now");
  return same ? kDone : kNotBetter;
}

std::string listed(const std::map<std::string, int>& reasons) {
  std::vector<std::string> all;
  for (const auto& [reason, count] : reasons) all.push_back(fmt::format("{} {}", count, reason));
  return join(all, ", ");
}

Result<int> replay(const ReplayOptions& options) {
  MTMC_TRY(const auto store, open_store(store_path(options.store), OpenFor::reading));
  MTMC_TRY(const RunId id, find_run(*store, options.run));
  MTMC_TRY(const RunRecord run, store->run(id));
  MTMC_TRY(const auto nodes, store->nodes(id));
  if (!options.out.empty()) {
    const NodeRecord* chosen = options.node == 0 ? result_node(run, nodes) : find_node(nodes, options.node);
    if (chosen == nullptr || chosen->code.empty())
      return Error{"replaying", "this attempt has no code", std::to_string(options.node), ""};
    MTMC_TRY(const Again again, make_again(*store, run, nodes, *chosen));
    return write_out(options.out, *chosen, again);
  }
  struct {
    int same = 0, all = 0;
  } counts[3];  // by From
  std::map<std::string, int> why_not;
  for (const NodeRecord& node : nodes) {
    if (node.code.empty() || (options.node != 0 && node.id != options.node)) continue;
    MTMC_TRY(const Again again, make_again(*store, run, nodes, node));
    const bool same = again.from == From::nothing ? sha256(node.code) == node.code_hash : again.text == node.code;
    auto& count = counts[static_cast<int>(again.from)];
    ++count.all, count.same += same;
    if (again.from == From::nothing) ++why_not[again.why_not];
    if (!same)
      fmt::print("attempt {} ({}) comes out differently now{}", node.id, node.action,
                 again.text.empty() ? "\n" : ", first at\n" + first_difference(node.code, again.text));
  }
  const auto& [programs, answers, others] = counts;
  if (programs.all + answers.all + others.all == 0) fmt::print("there is no attempt with code\n");
  if (programs.all > 0) fmt::print("{} of {} attempts print the same bytes\n", programs.same, programs.all);
  if (answers.all > 0)
    fmt::print("{} of {} attempts without a Program are what their model's answers hold\n", answers.same, answers.all);
  if (others.all > 0)
    fmt::print("{} attempts cannot be made again ({}): {} have the code that was kept\n", others.all, listed(why_not),
               others.same);
  return programs.same + answers.same + others.same == programs.all + answers.all + others.all ? kDone : kNotBetter;
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
const Verb replay_def{"replay", "Make the code of a run's attempts again from the store, and compare the bytes.",
                      declare};

}  // namespace mtmc
