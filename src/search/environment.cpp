#include "search/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/hash.h"
#include "base/process.h"
#include "base/trace.h"
#include "ir/schedule_words.h"
#include "llm/protocol.h"
#include "search/drafts.h"
#include "search/remedy.h"
#include "search/step_request.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr double kCertifyOverScreen = 5;  // how much longer than screening certification takes, about
constexpr double kMostReserved = 0.3;     // of the time limit, the most that is kept for certification
constexpr double kLikeScreens = 2;        // how many times as long as the start's screening a first candidate takes
constexpr double kMeasuring = 0.2;        // of the time limit, what is kept for measuring numbers where that comes last
constexpr double kMayBeFaster = 0.9;      // a median from which on an unclear result may be a gain
constexpr double kLeastMeasured = 0.02;   // of the predicted time, what a kernel takes that is worth it

// May a step's result well be faster than eager, or slower?
bool is_unclear(const SearchNode& node) {
  const Speedup* eager = speedup_over(node.verdict(), "eager");
  return node.parent != nullptr && node.verdict().certified() && eager != nullptr && claim(*eager) == Claim::unclear &&
         eager->median > kMayBeFaster;
}

// The median of such a one, where that is a gain; else 0.
double hope(const SearchNode& node) {
  const double median = is_unclear(node) ? speedup_over(node.verdict(), "eager")->median : 0;
  return median > 1 ? median : 0;
}

// Whether a verdict says how fast the candidate is beside each of `baselines`, or why it cannot.
bool says_of(const Verdict& verdict, const std::vector<std::string>& baselines) {
  return std::all_of(baselines.begin(), baselines.end(), [&](const std::string& name) {
    return verdict.speedup.contains(name) ||
           std::any_of(verdict.notes.begin(), verdict.notes.end(),
                       [&](const auto& note) { return note.starts_with("no-" + name + ":"); });
  });
}

size_t rewrites_of(const CodeState& state) { return state.program ? state.program->rewrites.size() : 0; }

bool is_repair(const SearchNode& node) { return node.action.type == "repair"; }

int repairs_of(const SearchNode& node) {
  int count = 0;
  for (const SearchNode* at = &node; is_repair(*at); at = at->parent) ++count;
  return count;
}

}  // namespace

Environment::Environment(EnvironmentParts parts, Judge& judge, Store& store, Coder& coder, Policy& policy,
                         ProgressListener& listener)
    : parts_(std::move(parts)),
      judge_(judge),
      store_(store),
      coder_(coder),
      policy_(policy),
      listener_(listener),
      started_(parts_.clock()) {}

bool Environment::edits_graph(const CodeState& before, const CodeState& after, const Action& action) {
  const ActionDef* def = find_action(action.type);
  return after.program ? rewrites_of(after) > rewrites_of(before) : def != nullptr && def->rewrites;
}

std::string Environment::hash_of(const CodeState& state) {
  return state.program ? state_hash(*state.program) : "code " + sha256(state.code.text);
}

double Environment::seconds() const { return parts_.seconds_before + parts_.clock() - started_; }

double Environment::searching() const { return searching_since_ ? parts_.clock() - *searching_since_ : 0; }

RunStatus Environment::status() const {
  RunStatus status;
  status.seconds = seconds();
  status.evaluations = evaluations_;
  const SearchLimits& limits = parts_.limits;
  if (limits.seconds > 0) {
    if (searching_since_) status.seconds_left = std::max(0.0, limits.seconds - searching());
    status.fraction = searching() / limits.seconds;
  }
  if (limits.evaluations > 0)
    status.fraction = std::max(status.fraction, static_cast<double>(evaluations_) / limits.evaluations);
  status.fraction = std::min(1.0, status.fraction);
  for (const SearchNode& node : nodes_) status.best_speedup = std::max(status.best_speedup, node.score());
  return status;
}

bool Environment::stopped() const {
  const int most = parts_.limits.evaluations;
  return (most > 0 && evaluations_ >= most) || given_up();
}

double Environment::reserved(double screen_seconds) const {
  if (last_steps_) return 0;
  const double limit = parts_.limits.seconds;
  const double certification = std::min(kCertifyOverScreen * screen_seconds, kMostReserved * limit);
  return certification + (!measuring_ && measures() ? kMeasuring * limit : 0);
}

double Environment::seconds_left() const {
  const double limit = parts_.limits.seconds;
  return limit > 0 ? limit - searching() - reserved(screen_seconds_) : std::numeric_limits<double>::infinity();
}

bool Environment::spent(double seconds) const {
  return stopped() || seconds + (asks() ? kLeastSeconds : 0) >= seconds_left();
}

std::optional<Error> Environment::given_up() const {
  const std::optional<Error> coder = coder_.given_up();
  return coder ? coder : policy_error_;
}

double Environment::seconds_a_step() const {
  return implement_seconds_ + std::max(screen_seconds_, kLikeScreens * nodes_.front().screen.seconds);
}

double Environment::seconds_for_one() const {
  if (evaluations_ > 0 || parts_.limits.seconds <= 0 || given_up() || !spent()) return 0;
  return (searching() + seconds_a_step()) / (1 - kMostReserved - (measures() ? kMeasuring : 0));
}

SearchNode* Environment::best() {
  SearchNode* best = nullptr;
  for (SearchNode& node : nodes_)
    if (node.verdict().certified() && (best == nullptr || node.score() > best->score())) best = &node;
  return best;
}

SearchNode* Environment::best_certified() {
  SearchNode* best = nullptr;
  for (SearchNode& node : nodes_)
    if (node.certify && node.certify->certified() && (best == nullptr || node.score() > best->score())) best = &node;
  return best;
}

SearchNode* Environment::hopeful() {
  SearchNode* hopeful = nullptr;
  for (SearchNode& node : nodes_)
    if (!node.certify && hope(node) > (hopeful == nullptr ? 0 : hope(*hopeful))) hopeful = &node;
  return hopeful;
}

bool Environment::unclear() const { return std::any_of(nodes_.begin(), nodes_.end(), is_unclear); }

std::vector<SearchNode*> Environment::sample(uint64_t seed, double share) {
  std::vector<SearchNode*> drawn;
  for (SearchNode& node : nodes_) {
    if (node.certify || !node.screen.certified()) continue;
    const std::string digits = short_hash(std::to_string(seed) + "/" + node.state.code.text, 12);
    if (static_cast<double>(std::stoull(digits, nullptr, 16)) * 0x1p-48 < share) drawn.push_back(&node);
  }
  return drawn;
}

const NodeRecord* Environment::recorded(NodeId parent, const std::string& action) const {
  const auto at = recorded_.find({parent, action});
  return at == recorded_.end() ? nullptr : &at->second;
}

// Questions to a language model quote verdicts. The same search again gets the same ones, of a busy machine, too: else
// it would ask, and pay, anew.
VerdictKey Environment::key_of(const CodeState& state, Tier tier) const {
  const bool quoted = tier == Tier::screen && asks();
  return {parts_.task_hash, sha256(state.code.text), tier, parts_.evaluator, parts_.hardware.name, quoted};
}

Result<Environment::Judged> Environment::judged(const CodeState& state, Tier tier, const NodeRecord* record,
                                                bool profiled) {
  // A certificate without a baseline that is wanted now is no answer: the candidate is timed beside it.
  const auto answers = [&](const std::optional<Verdict>& verdict) {
    return verdict && (tier == Tier::screen || !verdict->certified() || says_of(*verdict, parts_.baselines));
  };
  if (record != nullptr && record->code == state.code.text) {
    const std::optional<Verdict>& verdict = tier == Tier::screen ? record->screen : record->certify;
    if (answers(verdict)) return Judged{*verdict, true};
  }
  MTMC_TRY(auto known, store_.find_verdict(key_of(state, tier)));
  if (answers(known)) return Judged{std::move(*known), true};
  const Span span(to_string(tier));
  judge_.tell([this](const std::string& what) { listener_.on_doing(what.empty() ? doing_ : what, status()); });
  Result<Verdict> verdict = judge_.judge(parts_.task, {state.code.text, state.program, profiled}, tier);
  judge_.tell({});
  if (!verdict.ok()) return verdict.error();
  return Judged{std::move(*verdict), false};
}

Result<SearchNode*> Environment::start() {
  MTMC_TRY(const std::vector<NodeRecord> before, store_.nodes(parts_.run));
  for (const NodeRecord& node : before) recorded_.emplace(std::pair{node.parent, node.action}, node);
  SearchNode node;
  node.state.program = parts_.program;
  MTMC_TRY(node.state.code, parts_.target.emit(*parts_.program, parts_.hardware, parts_.shell));
  say("judging the module as it is");
  MTMC_RETURN_IF_ERROR(prepare_way(node));
  MTMC_TRY(Judged first, judged(node.state, Tier::screen, recorded(kNoNode, "")));
  if (coder_.chooses() || parts_.target.handwritten) node.state.program = nullptr;
  node.state_hash = hash_of(node.state);
  searching_since_ = parts_.clock();
  node.screen = std::move(first.verdict);
  node.coder = "start";
  return keep(std::move(node), first.remembered);
}

Result<std::vector<Proposal>> Environment::ranked(const SearchNode& node, double worthwhile,
                                                  std::vector<double>* gains) {
  return order(node, visits_[node.state_hash]++, worthwhile, gains);
}

Result<std::vector<Proposal>> Environment::legal(const CodeState& state) {
  std::vector<Proposal> proposals;
  if (state.program != nullptr)
    for (Action& action : enumerate_actions(*state.program, context())) {
      if (action.type == "stop") continue;
      std::string text = render(action, *state.program, state.code);
      proposals.push_back({std::move(action), std::move(text)});
    }
  MTMC_TRY(std::vector<Proposal> more, coder_.proposals(state, proposals));
  std::move(more.begin(), more.end(), std::back_inserter(proposals));
  proposals.push_back({{"stop", {}, ""}, "stop"});
  return proposals;
}

Result<std::vector<Proposal>> Environment::order(const SearchNode& node, int visit, double worthwhile,
                                                 std::vector<double>* gains) {
  if (node.step >= parts_.limits.steps) return std::vector<Proposal>{};
  MTMC_TRY(std::vector<Proposal> proposals, legal(node.state));
  Observation observation{hardware_line(parts_.hardware),
                          parts_.description,
                          node.state.code.text,
                          node.state.program.get(),
                          {},
                          node.state_hash,
                          visit,
                          node.step,
                          parts_.limits.steps,
                          worthwhile,
                          [this] { return seconds_left(); }};
  for (const SearchNode* at = &node; at->parent != nullptr; at = at->parent)
    observation.history.push_back(
        {at->rendered, at->judged ? to_string(at->screen.outcome) : "not judged", at->score()});
  std::reverse(observation.history.begin(), observation.history.end());
  const Result<Ranking> ranking = policy_.rank(observation, proposals);
  std::vector<Proposal> wanted;
  if (!ranking.ok()) {
    policy_error_ = ranking.error();
    return wanted;
  }
  for (size_t i : ranking->order) {
    if (proposals[i].stop()) break;
    if (gains != nullptr && !ranking->gains.empty()) gains->push_back(ranking->gains[i]);
    wanted.push_back(std::move(proposals[i]));
  }
  return wanted;
}

double Environment::promise(const SearchNode& node) {
  return node.state.program == nullptr ? node.score() : node.score() * policy_.promise(*node.state.program);
}

SearchNode* Environment::known_state(const std::string& hash) const {
  const auto known = by_state_.find(hash);
  return known == by_state_.end() ? nullptr : known->second;
}

Result<Environment::Step> Environment::step(SearchNode& node, const std::vector<Proposal>& proposals, size_t which,
                                            const SearchNode* partner) {
  MTMC_TRY(const Step taken, attempt(node, proposals, which, partner));
  return taken.fresh && !spent() ? mend(*taken.node) : taken;
}

Result<Environment::Written> Environment::write(SearchNode& node, const std::vector<Proposal>& proposals, size_t which,
                                                const SearchNode* partner) {
  const Proposal& proposal = proposals[which];
  if (node.state.program != nullptr && !proposal.beyond) {
    const auto predicted = apply_action(*node.state.program, proposal.action, context());
    if (!predicted.ok()) {
      MTMC_RETURN_IF_ERROR(keep_refusal({node, proposal, partner}, predicted.error()));
      return Written{};
    }
    // A refused state may be reached again: another coder's work on it can be right.
    if (SearchNode* known = known_state(mtmc::state_hash(*predicted))) return Written{{known, false}};
  }
  if (SearchNode* made = on_the_way(node, proposal.action)) return Written{{made, !made->judged}};
  const NodeRecord* record = recorded(node.id, store_text(proposal.action));
  MTMC_RETURN_IF_ERROR(prepare_coder(node.state, proposals, which));
  StepWork work(*this, {node, proposal, partner});
  auto made = implement(work, record);
  if (work.failed()) return *work.failed();
  if (!made.ok()) {
    if (asks()) last_refusal_ = made.error();
    if (!coder_.given_up()) MTMC_RETURN_IF_ERROR(keep_refusal(work.order(), made.error()));
    return Written{};
  }
  SearchNode next = node_of(work.order(), std::move(made).value());
  if (SearchNode* draft = work.draft(next.state_hash)) return Written{{draft, true}};
  if (SearchNode* known = known_state(next.state_hash)) return Written{{known, false}};
  if (next.state.code.text == node.state.code.text && node.judged) {  // its numbers were the fastest: nothing to judge
    next.screen = node.screen;
    MTMC_TRY(SearchNode * kept, keep(std::move(next), true));
    return Written{{kept, false}};
  }
  return Written{{}, std::move(next)};
}

Result<Environment::Step> Environment::attempt(SearchNode& node, const std::vector<Proposal>& proposals, size_t which,
                                               const SearchNode* partner) {
  MTMC_TRY(Written written, write(node, proposals, which, partner));
  if (!written.next) {
    SearchNode* known = written.known.node;
    if (known != nullptr && !known->judged) MTMC_RETURN_IF_ERROR(judge_kept(*known));
    return written.known;
  }
  say("judging " + proposals[which].text);
  MTMC_RETURN_IF_ERROR(prepare_next(*written.next, proposals, which + 1));
  const NodeRecord* record = recorded(node.id, store_text(proposals[which].action));
  MTMC_TRY(SearchNode * kept, judge_node(std::move(*written.next), record, false));
  return Step{kept, true};
}

SearchNode Environment::node_of(const StepOrder& order, Implementation made) const {
  const auto& [node, proposal, partner] = order;
  SearchNode next;
  next.parent = &node, next.partner = partner;
  next.step = node.step + 1;
  next.action = proposal.action;
  next.rendered = proposal.text;
  next.coder = made.coder.empty() ? coder_.name() : std::move(made.coder);
  next.notes = std::move(made.notes);
  next.state = {std::move(made.program), std::move(made.code)};
  next.state_hash = hash_of(next.state);
  next.rewrites = edits_graph(node.state, next.state, next.action);
  return next;
}

Result<SearchNode*> Environment::judge_node(SearchNode node, const NodeRecord* record, bool profiled) {
  MTMC_TRY(Judged verdict, judged(node.state, Tier::screen, record, profiled));
  ++evaluations_;
  if (!verdict.remembered) screen_seconds_ = std::max(screen_seconds_, verdict.verdict.seconds);
  node.screen = std::move(verdict.verdict);
  return keep(std::move(node), verdict.remembered);
}

bool Environment::measures() const { return coder_.measures() && !parts_.target.measured.empty(); }

Status Environment::measure_best() {
  if (!measures()) return ok_status();
  measuring_ = true;
  const LastSteps last(*this);
  for (const ScheduleWord& word : schedule_words()) {
    SearchNode* node = preferred();
    if (node == nullptr || node->state.program == nullptr || spent()) break;
    if (!parts_.target.measures(word.key)) continue;
    const Program& program = *node->state.program;
    double whole = 0;
    std::map<std::vector<ValueId>, double> seconds;
    for (const KernelCost& cost : cost_of(program, parts_.target, parts_.hardware))
      whole += seconds[program.kernel(cost.kernel)->values] = cost.seconds;
    Action everywhere{std::string(word.set_by), {}, ""};
    for (const Action& one : enumerate_actions(program, context()))
      if (one.type == word.set_by && one.detail.empty() && one.regions.size() == 1 &&
          seconds[one.regions[0]] >= kLeastMeasured * whole)
        everywhere.regions.push_back(one.regions[0]);
    if (everywhere.regions.empty()) continue;
    const size_t places = everywhere.regions.size();
    const std::string text = places == 1 ? render(everywhere, program, node->state.code)
                                         : fmt::format("{} {} kernels that take time", everywhere.type, places);
    MTMC_TRY([[maybe_unused]] const Step taken, step(*node, {{everywhere, text}}, 0));
  }
  return ok_status();
}

bool Environment::wants_mending(const SearchNode& node) const {
  return !node.verdict().certified() && node.step < parts_.limits.steps;
}

std::optional<Proposal> Environment::repair_of(const SearchNode& node) {
  return wants_mending(node) ? coder_.repair(node.state, node.verdict(), repairs_of(node)) : std::nullopt;
}

Result<Environment::Step> Environment::mend(SearchNode& node) {
  if (!wants_mending(node)) return Step{&node, true};
  if (auto proposal = repair_of(node)) return step(node, {std::move(*proposal)}, 0);
  for (const RemedyDef* remedy : all_remedies())
    if (auto proposal = remedy->propose(node, context())) return step(node, {std::move(*proposal)}, 0);
  return Step{&node, true};
}

Result<Implementation> Environment::implement(StepWork& work, const NodeRecord* record) {
  const auto& [node, proposal, partner] = work.order();
  if (record != nullptr && !record->code.empty()) {
    MTMC_RETURN_IF_ERROR(work.judge_again());
    if (record->program.empty())
      return Implementation{nullptr, Code{.text = record->code}, record->note, record->coder};
    MTMC_TRY(Program program, parse_program(record->program));
    MTMC_TRY(Code code, parts_.target.emit(program, parts_.hardware, parts_.shell));
    code.text = record->code;  // a coder may have changed what the target prints
    return Implementation{std::make_shared<const Program>(std::move(program)), std::move(code), record->note,
                          record->coder};
  }
  say("writing " + proposal.text);
  const Span span("implement");
  const double start = parts_.clock();
  const StepRequest request(work.order(), &work, [this] { return seconds_left(); });
  auto made = coder_.implement(*request);
  implement_seconds_ = std::max(implement_seconds_, parts_.clock() - start);
  return made;
}

NodeRecord Environment::record_of(const SearchNode& node) const {
  NodeRecord record;
  record.id = node.id;
  record.run = parts_.run;
  record.parent = node.parent ? node.parent->id : kNoNode;
  record.partner = node.partner ? node.partner->id : kNoNode;
  record.step = node.step;
  record.action = node.parent ? store_text(node.action) : "";
  record.rendered = node.rendered;
  record.rewrites = node.rewrites;
  record.coder = node.coder;
  record.program = node.state.program ? print(*node.state.program) : "";
  record.state_hash = node.state_hash;
  record.code = node.state.code.text;
  record.note = node.notes;
  if (node.judged) record.screen = node.screen;
  record.certify = node.certify;
  return record;
}

Result<SearchNode*> Environment::keep(SearchNode node, bool remembered) {
  MTMC_TRY(node.id, store_.add_node(record_of(node)));
  nodes_.push_back(std::move(node));
  SearchNode* kept = &nodes_.back();
  if (kept->screen.certified()) by_state_[kept->state_hash] = kept;
  if (kept->judged) announce(*kept, remembered);
  return kept;
}

void Environment::announce(SearchNode& node, bool remembered) {
  node.announced = true;
  listener_.on_attempt(record_of(node), remembered, status());
}

Status Environment::keep_refusal(const StepOrder& order, const Error& error) {
  const auto& [node, proposal, partner] = order;
  NodeRecord record;
  record.run = parts_.run;
  record.parent = node.id;
  record.partner = partner ? partner->id : kNoNode;
  record.step = node.step + 1;
  record.action = store_text(proposal.action);
  record.rendered = proposal.text;
  record.coder = coder_.name();
  record.failure = error.message();
  MTMC_TRY(record.id, store_.add_node(record));
  listener_.on_attempt(record, false, status());
  return ok_status();
}

Status Environment::certify(SearchNode& node) {
  if (node.certify) return ok_status();
  MTMC_RETURN_IF_ERROR(coder_.stop_preparing());  // the cores are the judge's from now on
  say("certifying " + (node.parent ? node.rendered : std::string("the module as it is")));
  const NodeRecord* record =
      recorded(node.parent ? node.parent->id : kNoNode, node.parent ? store_text(node.action) : "");
  MTMC_TRY(Judged verdict, judged(node.state, Tier::certify, record));
  MTMC_RETURN_IF_ERROR(store_.add_verdict(node.id, verdict.verdict));
  if (!verdict.remembered) certify_seconds_ += verdict.verdict.seconds;
  node.certify = std::move(verdict.verdict);
  listener_.on_attempt(record_of(node), verdict.remembered, status());
  return ok_status();
}

}  // namespace mtmc
