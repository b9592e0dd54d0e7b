// The world a search acts in: states, their legal actions in the policy's order, and steps that implement, judge and
// store. Budgets, duplicates and resumption are its business, so that a strategy is only a loop.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/turn.h"
#include "coder/coder.h"
#include "eval/judge.h"
#include "search/policy.h"
#include "search/progress.h"
#include "store/store.h"

namespace mtmc {

using Clock = std::function<double()>;  // seconds since some moment

struct SearchLimits {
  int steps = 8;        // depth of the tree
  double seconds = 30;  // from the moment the start was judged, certification included; 0: no limit
  int evaluations = 0;  // candidates screened; 0: no limit
};

// One attempt that is in the tree. Nodes never move in memory.
struct SearchNode {
  NodeId id = kNoNode;
  const SearchNode* parent = nullptr;
  const SearchNode* partner = nullptr;  // the other one, where two were crossed
  int step = 0;
  Action action;
  std::string rendered;
  CodeState state;
  std::string state_hash;
  bool rewrites = false;
  std::string coder, notes;
  bool judged = true;       // false: nobody knows what it is worth
  bool on_the_way = false;  // made before it was known whether it would be judged: see make
  bool announced = false;   // the listener knows of it
  Verdict screen;
  std::optional<Verdict> certify;

  // The verdict that counts.
  const Verdict& verdict() const { return certify ? *certify : screen; }
  double score() const { return mtmc::score(verdict(), parent == nullptr); }
};

// What is to be done at a node.
struct StepOrder {
  const SearchNode& node;
  const Proposal& proposal;
  const SearchNode* partner;
};
class StepWork;  // while its coder does it: see drafts.h

struct EnvironmentParts {
  Task task;
  std::string task_hash, description, evaluator;
  std::vector<std::string> baselines;      // that a certificate has to name beside eager
  std::shared_ptr<const Program> program;  // as traced: what eager does
  const TargetDef& target;
  const Hardware& hardware;
  const ModuleShell& shell;
  bool paper_only = false;
  SearchLimits limits;
  RunId run = 0;
  double seconds_before = 0;  // spent on this run before it was resumed
  Clock clock = working_seconds;
};

// Of the best state's speed: about what two screenings of one candidate may differ by.
inline constexpr double kAsFast = 0.97;

class Environment {
 public:
  // All references must outlive the environment.
  Environment(EnvironmentParts parts, Judge& judge, Store& store, Coder& coder, Policy& policy,
              ProgressListener& listener);

  // The untouched program, judged.
  Result<SearchNode*> start();

  // What the policy wants to try at a node, best first, cut at its `stop`; empty at the step limit. For a policy that
  // foresees gains `stop` stands for one of `worthwhile`, also for one that has learned when to stop. `gains`,
  // where wanted, gets what a policy that knows expects of each of them (Ranking::gains).
  Result<std::vector<Proposal>> ranked(const SearchNode& node, double worthwhile = kWorthwhile,
                                       std::vector<double>* gains = nullptr);

  // All that can be done at a node, one `stop` included, in a stable order.
  Result<std::vector<Proposal>> legal(const SearchNode& node) { return legal(node.state); }

  struct Step {
    SearchNode* node = nullptr;  // null: the coder refused, or the budget ended before it was judged
    bool fresh = false;          // false: a state that is in the tree already, or its code; nothing was run
  };
  // Implements, judges and stores one step: the `which`th of what is wanted at a node. Those behind it, and what the
  // step leads to, will probably be next: while this one is judged they get ready, which changes no result.
  // `partner`: another node that gave the idea.
  Result<Step> step(SearchNode& node, const std::vector<Proposal>& proposals, size_t which,
                    const SearchNode* partner = nullptr);

  // The same without what mends it (see mend).
  Result<Step> attempt(SearchNode& node, const std::vector<Proposal>& proposals, size_t which,
                       const SearchNode* partner = nullptr);

  // The same, but that nothing is judged yet: what is new stands in the tree as not judged, until it is judged as the
  // last of several steps, or for good. Not for coders that are asked (see asks_for). What was passed before by another
  // way is known.
  Result<Step> make(SearchNode& node, const std::vector<Proposal>& proposals, size_t which);
  // The state that a step would lead to, judged, refused or only made; null: it is not in the tree, or not foreseen.
  SearchNode* met(const SearchNode& node, const Proposal& proposal);
  // Judges what was made, with what mends it. Where it is refused the one halfway back to the last that was judged, and
  // so on, until the last one that is right is known: those that are, in the order in which they were judged. `beside`
  // from `first` on: what may be tried next.
  Result<std::vector<SearchNode*>> judge_made(SearchNode& last, const std::vector<Proposal>& beside, size_t first);

  // Whether the coder of a step would ask a language model.
  bool asks_for(const SearchNode& node, const Proposal& proposal);
  // How many steps may be under way at once, as far as their coder asks a language model (see asked_steps.h).
  int questions() const { return coder_.questions(); }
  // Asks the question that the step will begin with, unless a resumed run has its answer. False: it asks none.
  bool ask_ahead(const SearchNode& node, const Proposal& proposal);
  // No more steps: waits for what was asked ahead and is under way.
  void end_questions();

  // Where so little time is left that steps judged one by one would not lead where the policy foresees clear gains:
  // makes all of these steps behind a judged node, and has the last one judged alone; what is refused, or no faster
  // than the node, gives way to the one halfway back (see descent.cpp). Which of those that were judged are right.
  Result<std::vector<SearchNode*>> descend(SearchNode& node);
  // Judges the one halfway between a node and the last one before it that was judged. Null where there is none.
  Result<SearchNode*> judge_halfway(const SearchNode& node);

  // What the coder can do about a refused node; nothing where it cannot.
  std::optional<Proposal> repair_of(const SearchNode& node);
  // The step behind a refused node that its coder or a remedy knows (see remedy.h). The node itself where nothing was
  // refused or nobody knows better.
  Result<Step> mend(SearchNode& node);

  // Has measured what the target's kernels only guess (TargetDef::measured), at all places of the preferred node that
  // take time: one step for each kind of action, as far as there is time. From now on no time is kept for that.
  Status measure_best();

  // Before that: has all that is still a library's call generated, in one step, where the target measures. Kept where
  // it is about as fast (see preferred).
  Status lower_rest();

  // Behind both: where the preferred node is captured, though what a graph copies is predicted to cost as much as it
  // saves, has the same steps judged without it, if there is time for one more.
  Status without_graph();

  // The coder says itself what is done next (Coder::chooses).
  bool coder_chooses() const { return coder_.chooses(); }
  bool coder_crosses() const { return coder_.crosses(); }

  // What a node may become: its score times what the policy expects of further steps.
  double promise(const SearchNode& node);

  // Judges a node at the certify tier; its verdict says how it went.
  Status certify(SearchNode& node);

  // Why coder or policy could not go on.
  std::optional<Error> given_up() const;
  // No more steps: evaluations are used up, coder or policy has given up, or there will be only the time that
  // certification needs, so many seconds later.
  bool spent(double seconds = 0) const;
  // Until then; infinite without a limit of time.
  double seconds_left() const;
  // Why a language model's last step came to nothing; nothing where none did, or none is asked.
  const std::optional<Error>& last_refusal() const { return last_refusal_; }
  // Where time was up before a first candidate was judged: about what the limit would have to be for one. Else 0.
  double seconds_for_one() const;
  RunStatus status() const;
  const std::deque<SearchNode>& nodes() const { return nodes_; }
  // The node with the highest score by the verdict that counts; null when all are refused.
  SearchNode* best();
  // The same among those that passed the certify tier.
  SearchNode* best_certified();
  // Of those that are about as fast as the best the one that spends the least time in a library, by prediction.
  SearchNode* preferred(bool certified = false);
  // Of those whose screening could not say whether they are faster than eager, the one with the highest median above 1;
  // null when there is none.
  SearchNode* hopeful();
  // Something may be faster than eager, and nobody knows.
  bool unclear() const;
  // A share of the nodes that passed screening and were not certified, drawn by seed and code.
  std::vector<SearchNode*> sample(uint64_t seed, double share);
  int evaluations() const { return evaluations_; }
  const SearchLimits& limits() const { return parts_.limits; }
  double seconds() const;
  // Of these, what certifications took.
  double certify_seconds() const { return certify_seconds_; }
  // What the task and the machine are, in the words that a policy reads.
  const std::string& description() const { return parts_.description; }
  ActionContext context() const { return {parts_.hardware, parts_.target, parts_.paper_only}; }

 private:
  struct Judged {
    Verdict verdict;
    bool remembered = false;
  };
  friend class StepWork;
  // The attempt as a resumed run left it, or null.
  const NodeRecord* recorded(NodeId parent, const std::string& action) const;
  VerdictKey key_of(const CodeState& state, Tier tier) const;
  // From the record, else from the store, else from the judge.
  Result<Judged> judged(const CodeState& state, Tier tier, const NodeRecord* record, bool profiled = false);
  bool wants_mending(const SearchNode& node) const;
  Result<Implementation> implement(StepWork& work, const NodeRecord* record);
  // Screens a node and puts it into the tree.
  Result<SearchNode*> judge_node(SearchNode node, const NodeRecord* record, bool profiled);
  // Screens a node that is in the tree and was not judged.
  Status judge_kept(SearchNode& node);
  // What a step leads to, before it is judged.
  SearchNode node_of(const StepOrder& order, Implementation made) const;
  // A step's node that was made on the way to another; null where there is none.
  SearchNode* on_the_way(const SearchNode& node, const Action& action);
  // What the cost model expects of a Program when its kernels are completed (see Policy::prospect).
  double completed_seconds(const Program& program);
  // A step of which the cost model expects a clear gain, at all places at once where that pays.
  struct Paying {
    Action action;
    int merged = 1;  // how many proposals it is made of
    Program program;
    double seconds = 0;  // completed
  };
  // The first such steps at a node in the policy's order, which takes so many seconds.
  Result<std::vector<Paying>> paying(const SearchNode& at, double seconds, size_t most);
  // Such steps one after the other; nothing is kept of them.
  struct Way {
    std::deque<SearchNode> steps;
    int one_by_one = 0;  // how many steps they would be without those that are taken at several places at once
    double seconds = 0;  // completed, of the last one
  };
  // Each step but the `first` one is the first in the policy's order.
  Result<Way> way_by(const SearchNode& node, Paying first);
  // The best way behind a node by any of the first few steps, where that is looked at quickly.
  Result<Way> foreseen(const SearchNode& node);
  Result<Way> best_way(const SearchNode& node);
  // Whether a descent may be for a node: there is a time limit, and steps cost nothing but time.
  bool may_descend(const SearchNode& node) const;
  Result<SearchNode> foreseen_step(const SearchNode& node, const Action& action, Program program);
  // A step before anything is judged: what is new, or what is in the tree already.
  struct Written {
    Step known;
    std::optional<SearchNode> next = {};
  };
  Result<Written> write(SearchNode& node, const std::vector<Proposal>& proposals, size_t which,
                        const SearchNode* partner);
  // While the kernels of `last` are compiled, the first state on the way to it that has none: a bare capture. Null
  // where there is none, or it is not right.
  Result<SearchNode*> judge_meanwhile(const SearchNode& last);
  // Judges the last of several steps, and shorter ways while it is not right and faster than `enough`.
  Result<std::vector<SearchNode*>> judge_from_the_end(SearchNode& last, double enough);
  // What a step will take that is made and judged, about.
  double seconds_a_step() const;
  // What a state is known by: its Program without tuned numbers, or its text where it has none.
  static std::string hash_of(const CodeState& state);
  // Whether a step edited the graph: what its Program notes, or its type where the code has none.
  static bool edits_graph(const CodeState& before, const CodeState& after, const Action& action);
  Result<std::vector<Proposal>> legal(const CodeState& state);
  SearchNode* known_state(const std::string& hash) const;  // null: not in the tree, or refused
  Result<std::vector<Proposal>> order(const SearchNode& node, int visit, double worthwhile = kWorthwhile,
                                      std::vector<double>* gains = nullptr);
  // See prepare.cpp. The coder, for the proposals at a state from `first` on.
  Status prepare_coder(const CodeState& state, const std::vector<Proposal>& proposals, size_t first);
  // The judge, for a state that it has not judged.
  Status prepare_judge(const CodeState& state);
  // The judge, for the end of the way behind the start, which is about to be judged itself.
  Status prepare_way(const SearchNode& start);
  // Both, while `next` is judged: for `next` itself, what may be tried there, and the proposals beside it.
  Status prepare_next(const SearchNode& next, const std::vector<Proposal>& beside, size_t first);
  bool measures() const;
  NodeRecord record_of(const SearchNode& node) const;
  // Stores a node and puts it into the tree. One that is not judged is announced when a step behind it is made.
  Result<SearchNode*> keep(SearchNode node, bool remembered);
  void announce(SearchNode& node, bool remembered);
  Status keep_refusal(const StepOrder& order, const Error& error);
  // Seconds that count against the limit: a resumed run has all of it again, to replay and go on.
  double searching() const;
  // No more steps, however much time is left.
  bool stopped() const;
  // Somebody who costs is asked: a language model.
  bool asks() const { return !(coder_.account().empty() && policy_.account().empty()); }
  // What is kept for certification and for measuring, where screens take so long; nothing for the last steps.
  double reserved(double screen_seconds) const;
  // While one lives, steps are the last ones: they may take the time that certification needs, which comes on top then.
  struct LastSteps {
    explicit LastSteps(Environment& environment) : on(environment.last_steps_) { on = true; }
    ~LastSteps() { on = false; }
    LastSteps(const LastSteps&) = delete;
    bool& on;
  };
  void say(const std::string& what) { listener_.on_doing(doing_ = what, status()); }

  EnvironmentParts parts_;
  Judge& judge_;
  Store& store_;
  Coder& coder_;
  Policy& policy_;
  ProgressListener& listener_;
  double started_;
  int evaluations_ = 0;
  std::optional<double> searching_since_;  // when the start was judged
  std::optional<Way> first_way_;           // behind the start, until it is gone
  std::optional<Error> policy_error_, last_refusal_;
  std::string doing_;           // what was said last
  double certify_seconds_ = 0;  // what certifications took, those remembered left out
  bool measuring_ = false;      // the search is over: what is left is lowered, what is only guessed is measured
  bool last_steps_ = false;
  double screen_seconds_ = 0;     // the longest screening since
  double implement_seconds_ = 0;  // the longest so far
  std::deque<SearchNode> nodes_;
  std::map<std::string, SearchNode*> by_state_;                    // state_hash -> node
  std::map<std::string, int> visits_;                              // state_hash -> times ranked
  std::map<std::pair<NodeId, std::string>, NodeRecord> recorded_;  // (parent, stored action) of the resumed run
};

}  // namespace mtmc
