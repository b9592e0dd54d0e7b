// Macro thinking: which action next. A policy sees what a person would see (hardware, code, description, history) and
// the rendered actions, and puts them in order. To add one: src/search/policies/NAME.cpp defining
// `extern const PolicyDef NAME_def`; a generated table finds it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actions/action.h"
#include "base/result.h"
#include "search/gains.h"
#include "search/prospect.h"
#include "search/weights.h"

namespace mtmc {

class Store;
struct LlmAccess;

struct HistoryStep {
  std::string action;   // as rendered when it was taken
  std::string outcome;  // "certified", or the reason of the refusal
  double speedup = 0;   // its score: headline over eager, 0 when refused
};

struct Observation {
  std::string hardware;  // see hardware_line
  std::string description;
  const std::string& code;
  const Program* program;  // null: the state has none, and its proposals come from the coder
  std::vector<HistoryStep> history;
  std::string state_hash;
  int visit = 0;                              // how often this state was ranked before in this run
  int step = 0, steps = 8;                    // steps that led here, and the most there may be
  double worthwhile = kWorthwhile;            // the gain that `stop` stands for
  std::function<double()> seconds_left = {};  // of the search; empty: no limit
};

// Positions in the proposals, best first; and of each proposal the logarithm of how many times faster the Program is
// expected to get, in the order of the proposals: empty where a policy has an order only.
struct Ranking {
  Ranking(std::vector<size_t> by_wish, std::vector<double> expected = {})  // NOLINT: most have an order only
      : order(std::move(by_wish)), gains(std::move(expected)) {}
  std::vector<size_t> order;
  std::vector<double> gains;
};

class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string name() const = 0;
  // What it was trained to; they are part of a run's identity: other weights, another run.
  virtual std::optional<Weights> weights() const { return std::nullopt; }
  // What stands behind `stop` is not worth a try. `proposals` always holds one stop. The ranking depends on the
  // arguments and the policy's seed only, so that a resumed run repeats itself. After an Error the search ends as if
  // time were up.
  virtual Result<Ranking> rank(const Observation& observation, const std::vector<Proposal>& proposals) = 0;
  // What it has cost since it was made, as JSON (to_json(Spent)); empty: nothing costs.
  virtual std::string account() const { return ""; }
  // rank() looks at the Program only and costs next to nothing: what will probably be tried at a state may be asked
  // before the state was judged.
  virtual bool foresees() const { return false; }
  // What a cost model expects of a Program as it is and when it is completed; nothing where none is asked.
  virtual std::optional<Prospect> prospect(const Program&) { return std::nullopt; }
  // By what factor a state is expected to get faster through further steps; strategies use it to compare states.
  double promise(const Program& program);
};

// All references must outlive the policy.
struct PolicyContext {
  const Hardware& hardware;
  const TargetDef& target;
  bool paper_only = false;
  uint64_t seed = 0;
  std::string argument = {};  // what --policy NAME:ARGUMENT says behind the colon, such as where its weights are
  LlmAccess* llm = nullptr;   // null: no large language model can be asked
  Store* store = nullptr;     // where answers are kept that cost money; null: nowhere
};

struct PolicyDef {
  std::string_view name, doc;
  std::string_view argument;  // what its argument is called in help texts; empty: it takes none
  Result<std::unique_ptr<Policy>> (*make)(const PolicyContext& context);
  bool asks_model = false;  // a large language model, of LlmOptions
};

const PolicyDef* find_policy(std::string_view name);
std::vector<const PolicyDef*> all_policies();

}  // namespace mtmc
