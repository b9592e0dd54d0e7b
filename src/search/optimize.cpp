#include "search/optimize.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "llm/ledger.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr double kAtRoofline = 1.05;  // time over the roofline
constexpr double kBelow = 0.9;        // below this the roofline itself is wrong: nothing follows from it
// The peaks of a CPU may have been measured beside other work: what is faster than they allow says that they are low.
constexpr double kBelowOnCpu = 0.99;
constexpr double kCertifiedShare = 0.05;  // of screened nodes, certified at random
constexpr double kClearly = 1.05;         // times as fast: more than luck
constexpr double kTells = 1.25;           // high over low: the middle of such an interval can be believed
constexpr int kWinners = 3;               // certified winners after which nobody else is asked

// Everything that shapes the search; what only limits its time or says where its results go is not part of it.
std::string options_text(const OptimizeRequest& request, const Coder& coder, const Policy& policy,
                         const StrategyDef& strategy) {
  Json options({{"actions", request.paper_only ? "paper" : "all"},
                {"coder", coder.name()},
                {"policy", policy.name()},
                {"strategy", strategy.name},
                {"target", request.target.name},
                {"steps", request.limits.steps},
                {"evaluations", request.limits.evaluations},
                {"width", request.strategy_options.width},
                {"patience", request.strategy_options.patience},
                {"breadth", request.strategy_options.breadth},
                {"evaluator", request.evaluator},  // its verdicts are no other judge's, nor another machine's
                {"hardware", request.hardware.name},
                {"seed", request.seed}});
  if (request.explores) options["explores"] = true;
  if (coder.questions() > 1) options["questions"] = coder.questions();  // what is asked ahead knows less
  if (const std::string digest = coder.digest(); !digest.empty()) options["coder_digest"] = digest;
  if (const std::optional<Weights> weights = policy.weights())
    options["weights"] = {{"path", weights->path.string()}, {"digest", weights->digest}};
  return options.dump();
}

struct Opened {
  RunId run = 0;
  double seconds_before = 0;
  bool resumed = false;
};

Result<Opened> open_run(const OptimizeRequest& request, const std::string& task_hash, const std::string& options,
                        Store& store) {
  MTMC_TRY(const auto unfinished, store.find_resumable(task_hash, sha256(options)));
  if (unfinished) return Opened{unfinished->id, unfinished->seconds, true};
  RunRecord run;
  run.task = request.task;
  run.source = request.source;
  run.task_hash = task_hash;
  run.target = std::string(request.target.name);
  run.hardware = request.hardware;
  run.options = options;
  run.shell = request.shell_json;
  run.seed = request.seed;
  run.evaluator = request.evaluator;
  MTMC_TRY(const RunId id, store.begin_run(run));
  return Opened{id, 0, false};
}

// How fast a certified node turned out to be. Its score is the low end of what is a little wide, which makes nothing
// else faster that was only screened.
double turned_out(const SearchNode& node) {
  const auto eager = node.verdict().speedup.find("eager");
  const bool tells = eager != node.verdict().speedup.end() && eager->second.high <= kTells * eager->second.low;
  return tells ? std::max(node.score(), eager->second.median) : node.score();
}

// Certifies the preferred node; when it fails, or turns out slower than another looked, the next one: when time is up
// only if that one looked clearly faster, or nothing is faster than eager yet. Where nothing is, those get a chance
// that may be: certification measures longer. Returns the preferred of the certified nodes, null when there is none.
Result<SearchNode*> certify_winner(Environment& environment) {
  for (int certified = 0; certified < kWinners;) {
    SearchNode* best = environment.preferred();
    if (best == nullptr || best->certify) break;
    const SearchNode* winner = environment.best_certified();
    if (winner != nullptr && winner->score() > 1 && environment.spent() &&
        best->score() < kClearly * turned_out(*winner))
      break;
    MTMC_RETURN_IF_ERROR(environment.certify(*best));
    certified += best->certify->certified();
    // A remedy's step is screened on what refused its parent here.
    MTMC_TRY(const Environment::Step next, environment.mend(*best));
    if (next.node == nullptr || !next.node->verdict().certified()) {
      MTMC_TRY([[maybe_unused]] const SearchNode* shorter, environment.judge_halfway(*best));
    }
  }
  for (int tried = 0; tried == 0 || (tried < kWinners && !environment.spent()); ++tried) {
    const SearchNode* winner = environment.best_certified();
    SearchNode* hopeful = environment.hopeful();
    if (hopeful == nullptr || (winner != nullptr && winner->score() > 1)) break;
    MTMC_RETURN_IF_ERROR(environment.certify(*hopeful));
  }
  // Kernels about as fast as eager's came first; where they are slower than they looked, eager's own may be the answer.
  const SearchNode* winner = environment.best_certified();
  SearchNode* best = environment.best();
  const bool slow = winner != nullptr && best != nullptr && winner->score() < kAsFast * std::min(1.0, best->score());
  if (slow && !best->certify) MTMC_RETURN_IF_ERROR(environment.certify(*best));
  return environment.preferred(true);
}

// The sample depends on the seed and the code only: a resumed run draws the same one.
Status certify_sample(Environment& environment, uint64_t seed) {
  for (SearchNode* node : environment.sample(seed, kCertifiedShare)) {
    if (environment.spent()) break;
    MTMC_RETURN_IF_ERROR(environment.certify(*node));
  }
  return ok_status();
}

double time_of(const Verdict& verdict) { return verdict.time_ms.value_or(0) / 1e3; }

bool at_roofline(const OptimizeRequest& request, const SearchNode& start) {
  const double roofline = roofline_seconds(*request.program, request.hardware), seconds = time_of(start.screen);
  const double below = request.target.device == Device::cpu ? kBelowOnCpu : kBelow;
  return seconds >= below * roofline && seconds <= kAtRoofline * roofline;
}

std::vector<OptimizedStep> steps_to(const SearchNode& node) {
  std::vector<OptimizedStep> steps;
  for (const SearchNode* at = &node; at != nullptr; at = at->parent)
    steps.push_back({at->id, at->parent ? store_text(at->action) : "", at->rendered, at->verdict()});
  std::reverse(steps.begin(), steps.end());
  return steps;
}

Optimized conclude(const OptimizeRequest& request, const Environment& environment, const Opened& run,
                   const SearchNode& best, Answer answer) {
  Optimized done;
  done.run = run.run;
  done.best = answer == Answer::refused ? kNoNode : best.id;
  done.answer = answer;
  done.program = best.state.program;
  done.code = best.state.code;
  done.verdict = best.verdict();
  done.steps = steps_to(best);
  const double seconds = time_of(best.verdict());
  if (seconds > 0) done.roofline_share = roofline_seconds(*request.program, request.hardware) / seconds;
  done.evaluations = environment.evaluations();
  done.seconds = environment.seconds();
  done.certify_seconds = environment.certify_seconds();
  done.resumed = run.resumed;
  return done;
}

Result<Optimized> search(const OptimizeRequest& request, const Opened& run, Environment& environment,
                         const StrategyDef& strategy) {
  StrategyOptions options = request.strategy_options;
  options.seed = request.seed;
  options.descends = options.descends && !request.explores;  // what is learned from is what single steps bring
  MTMC_TRY(SearchNode * start, environment.start());
  if (!start->screen.certified()) return conclude(request, environment, run, *start, Answer::refused);
  if (request.explores) {
    MTMC_RETURN_IF_ERROR(strategy.run(environment, *start, options));
    return conclude(request, environment, run, *environment.best(), Answer::explored);
  }
  const bool nothing_to_gain = at_roofline(request, *start);
  if (!nothing_to_gain) MTMC_RETURN_IF_ERROR(strategy.run(environment, *start, options));
  const double seconds_for_one = nothing_to_gain ? 0 : environment.seconds_for_one();
  MTMC_RETURN_IF_ERROR(environment.lower_rest());
  if (!nothing_to_gain) {
    MTMC_RETURN_IF_ERROR(environment.measure_best());
    MTMC_RETURN_IF_ERROR(environment.without_graph());
  }
  MTMC_TRY(SearchNode * winner, certify_winner(environment));
  MTMC_RETURN_IF_ERROR(certify_sample(environment, request.seed));
  if (winner == nullptr) return conclude(request, environment, run, *start, Answer::refused);
  const bool faster = winner != start && winner->score() > 1;
  const Answer answer = nothing_to_gain         ? Answer::at_roofline
                        : faster                ? Answer::faster
                        : environment.unclear() ? Answer::unclear
                                                : Answer::not_faster;
  Optimized done = conclude(request, environment, run, *winner, answer);
  if (done.evaluations == 0) done.seconds_for_one = seconds_for_one, done.refusal = environment.last_refusal();
  return done;
}

Spent spent_by(const Policy& policy) {
  const std::string account = policy.account();
  return account.empty() ? Spent{} : spent_from_json(Json::parse(account));
}

// What coder and policy have cost on a run, earlier parts of it included, kept with the run: before each request and
// after it, so that money is never forgotten, however the process ends. Whatever is asked in a process is in the one
// ledger of the process. Coder and policy must outlive it.
class Account {
 public:
  static Result<std::unique_ptr<Account>> open(const OptimizeRequest& request, const Opened& run, Store& store,
                                               const Coder& coder, const Policy& policy) {
    std::unique_ptr<Account> account(new Account(request.ledger, run.run, store, coder, policy));
    MTMC_TRY(const auto before, store.recall(kAccountKind, std::to_string(run.run)));
    if (before) account->before_ = spent_from_json(Json::parse(*before));
    if (request.ledger != nullptr) {
      request.ledger->spent_before(account->before_.usd);
      request.ledger->book_by([at = account.get()] { return at->book(); });
    }
    return account;
  }
  Account(const Account&) = delete;
  ~Account() {
    if (ledger_ != nullptr) ledger_->book_by({});
  }

  // As JSON; empty: nothing costs.
  std::string text() const {
    const std::string coder = coder_.account();
    if (coder.empty() && policy_.account().empty()) return "";
    const Spent spent = coder.empty() ? spent_by(policy_) - policy_before_ : spent_from_json(Json::parse(coder));
    return to_json(spent + before_).dump();
  }
  Status book() const {
    const std::lock_guard lock(mutex_);  // each thread that asks
    const std::string account = text();
    return account.empty() ? ok_status() : store_.remember(kAccountKind, std::to_string(run_), account);
  }

 private:
  Account(Ledger* ledger, RunId run, Store& store, const Coder& coder, const Policy& policy)
      : ledger_(ledger), run_(run), store_(store), coder_(coder), policy_(policy), policy_before_(spent_by(policy)) {}

  Ledger* ledger_;
  RunId run_;
  Store& store_;
  const Coder& coder_;
  const Policy& policy_;
  Spent policy_before_;  // a policy outlives a run
  Spent before_;
  mutable std::mutex mutex_;
};

}  // namespace

std::string to_string(Answer answer) {
  switch (answer) {
    case Answer::faster: return "faster";
    case Answer::at_roofline: return "at-roofline";
    case Answer::not_faster: return "not-faster";
    case Answer::unclear: return "unclear";
    case Answer::refused: return "refused";
    case Answer::explored: return "explored";
  }
  MTMC_CHECK(false, "an answer without a name");
}

Result<Optimized> optimize(const OptimizeRequest& request, Judge& judge, Store& store, Coder& coder, Policy& policy,
                           const StrategyDef& strategy, ProgressListener& listener) {
  const std::string task_hash = hash_task(request.task, request.source, print(*request.program));
  const std::string options = options_text(request, coder, policy, strategy);
  MTMC_TRY(const Opened run, open_run(request, task_hash, options, store));
  Environment environment({.task = request.task,
                           .task_hash = task_hash,
                           .description = request.description,
                           .evaluator = request.evaluator,
                           .baselines = request.baselines,
                           .program = request.program,
                           .target = request.target,
                           .hardware = request.hardware,
                           .shell = request.shell,
                           .paper_only = request.paper_only,
                           .limits = request.limits,
                           .run = run.run,
                           .seconds_before = run.seconds_before,
                           .clock = request.clock},
                          judge, store, coder, policy, listener);
  MTMC_TRY(const auto account, Account::open(request, run, store, coder, policy));
  auto optimized = search(request, run, environment, strategy);
  environment.end_questions();
  MTMC_RETURN_IF_ERROR(account->book());
  if (const auto given_up = environment.given_up(); given_up && optimized.ok()) {
    if (environment.evaluations() == 0)
      optimized = *given_up;
    else
      optimized->given_up = given_up;
  }
  if (optimized.ok()) optimized->account = account->text();
  std::optional<Conclusion> conclusion;
  if (optimized.ok()) conclusion = {to_string(optimized->answer), optimized->best};
  MTMC_RETURN_IF_ERROR(store.finish_run(run.run, environment.seconds(), conclusion));
  return optimized;
}

}  // namespace mtmc
