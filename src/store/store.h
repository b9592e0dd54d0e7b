// Every attempt of every run as a tree: what was tried, by whom, on which code, and what the judge said. One attempt is
// one transaction, so a kill loses at most the attempt in flight. Texts and verdicts are addressed by content, so that
// nothing is kept or measured twice. The schema is described in docs/RESULTS.md. Several threads may use one store.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/judge.h"
#include "eval/verdict.h"
#include "ir/hardware.h"

namespace mtmc {

using RunId = int64_t;
using NodeId = int64_t;
constexpr NodeId kNoNode = 0;  // the parent of a run's start

enum class RunState { running, interrupted, done };
std::string to_string(RunState state);

// How a search ended.
struct Conclusion {
  std::string answer;     // faster | at-roofline | not-faster | unclear | refused | explored
  NodeId node = kNoNode;  // the run's result; kNoNode: nothing is certified
  bool operator==(const Conclusion&) const = default;
};

struct RunRecord {
  RunId id = 0;                // given by the store
  Task task = {};              // the user's module as the judge reads it
  std::string source = {};     // the text of the user's file
  std::string task_hash = {};  // see hash_task
  std::string target = {};     // cpu | triton | cuda | null
  Hardware hardware = {};
  std::string options = {};       // JSON text of what shapes the search; time and place of output are not in it
  std::string options_hash = {};  // given by the store: sha256 of `options`
  std::string shell = {};         // JSON text of the ModuleShell that code was emitted with
  uint64_t seed = 0;
  std::string evaluator = {};  // version of the judge
  std::string started = {};    // given by the store: "2026-01-31T12:00:00Z"
  RunState state = RunState::running;
  double seconds = 0;                         // spent so far, over all resumptions
  std::optional<Conclusion> conclusion = {};  // absent until done
};

// Names a task by content: its JSON and all that the answer depends on beside it (the user's file, the traced graph).
std::string hash_task(const Task& task, std::string_view source, std::string_view graph = "");

// One attempt: a step from `parent`. Without code it says why in `failure`; without a Program its code was written by
// something that does not know Programs (an LLM).
struct NodeRecord {
  NodeId id = 0;  // given by the store
  RunId run = 0;
  NodeId parent = kNoNode;
  NodeId partner = kNoNode;  // the other attempt, where two were crossed
  int step = 0;              // depth: 0 is the untouched start
  std::string action;        // stored text, "fuse %3 %4"; empty at the start
  std::string rendered;      // "fuse linear and gelu in lines 31-47"
  bool rewrites = false;     // the action edits the graph (simplify, precision): flagged in the report
  std::string coder;         // "start", "builtin", "llm:NAME", ...
  std::string program;       // Program text with its tuned numbers; empty when there is none
  std::string state_hash;
  std::string code;       // kernel.py; empty when the coder made none
  std::string code_hash;  // given by the store: sha256 of `code`, empty without code
  std::string failure;    // why there is no code: the action's or the coder's refusal
  std::string note;       // JSON text the coder leaves for people: numbers tried, tokens used; may be empty
  std::optional<Verdict> screen, certify;
  std::string created;  // given by the store

  // The word that counts: certify's, else screen's, else null.
  const Verdict* verdict() const { return certify ? &*certify : screen ? &*screen : nullptr; }
};

// What a verdict holds for. A verdict that depends on the machine's state of the moment (timed-out, out-of-memory, too
// busy to time anything) is kept with its node, and reused where it is wanted all the same.
struct VerdictKey {
  std::string task_hash, code_hash;
  Tier tier = Tier::screen;
  std::string evaluator, hardware;  // Hardware::name
  bool of_the_moment = false;       // such a one will do
};

// The kind under which `remember` keeps what a run's coder has cost, by the run's number: to_json(Spent).
constexpr const char* kAccountKind = "account";

class Store {
 public:
  virtual ~Store() = default;

  // A new run, state running, owned by this process. Returns its id.
  virtual Result<RunId> begin_run(const RunRecord& run) = 0;
  // The newest unfinished run of this task and these options whose process is gone; it becomes ours.
  virtual Result<std::optional<RunRecord>> find_resumable(const std::string& task_hash,
                                                          const std::string& options_hash) = 0;
  // The run is not ours any more: done with a conclusion, interrupted and resumable without one.
  virtual Status finish_run(RunId run, double seconds, const std::optional<Conclusion>& conclusion) = 0;

  // Keeps one attempt with its code and verdicts, all or nothing. The same attempt again (run, parent, action, code) is
  // the same node: a resumed search may simply repeat its steps.
  virtual Result<NodeId> add_node(const NodeRecord& node) = 0;
  // A further verdict on a node: certification of what was screened, or a tier judged again (the last word counts).
  virtual Status add_verdict(NodeId node, const Verdict& verdict) = 0;
  virtual Result<std::optional<Verdict>> find_verdict(const VerdictKey& key) = 0;

  virtual Result<std::vector<RunRecord>> runs() = 0;             // oldest first
  virtual Result<RunRecord> run(RunId id) = 0;                   // an Error when there is none
  virtual Result<std::vector<NodeRecord>> nodes(RunId run) = 0;  // in the order they were made
  virtual Result<NodeRecord> node(NodeId id) = 0;

  // What builds and tunings learned, by content: (kind, key) -> JSON text. The last word counts.
  virtual Result<std::optional<std::string>> recall(std::string_view kind, std::string_view key) = 0;
  virtual Status remember(std::string_view kind, std::string_view key, std::string_view value) = 0;
};

// Opens (and makes, or migrates) a store file; ":memory:" keeps it in memory. Reading needs an existing one.
enum class OpenFor { reading, writing };
Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& path, OpenFor purpose = OpenFor::writing);
// --store, else $MTMC_STORE, else ~/.local/share/mtmc/store.db (under $XDG_DATA_HOME when set).
std::filesystem::path store_path(const std::string& option = "");

// Of a verdict's reason: would the same code get another word at another moment, when the machine does something else?
bool is_of_the_moment(const std::string& reason);

// What attempts are ranked by: the headline of the speedup over eager, both timed in the same rounds; larger is better,
// 0 when refused. The start is what eager does: more than 1 is luck, and so is less where the interval holds 1.
double score(const Verdict& verdict, bool start);

// The certified node with the highest score, the untouched start included; null when none is certified. Certify-tier
// verdicts win over screened ones; `nodes` must outlive the answer.
const NodeRecord* best_node(const std::vector<NodeRecord>& nodes);
// The run's result: what its conclusion names, and the best so far where it has none.
const NodeRecord* result_node(const RunRecord& run, const std::vector<NodeRecord>& nodes);
// From the start to `id`, both included.
std::vector<const NodeRecord*> path_to(const std::vector<NodeRecord>& nodes, NodeId id);

}  // namespace mtmc
