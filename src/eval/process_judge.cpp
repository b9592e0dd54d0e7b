#include "eval/process_judge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/hash.h"
#include "base/kernel_headers.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "eval/examination.h"
#include "eval/guests.h"
#include "eval/rounds.h"
#include "eval/sandbox_command.h"
#include "eval/stats.h"

namespace mtmc {

namespace {

constexpr double kSmallArguments = 4.0 * (1 << 20);  // bytes: of small and quick modules
constexpr double kQuickSeconds = 0.01;               // (eager) every timed call is measured
constexpr double kMostBeside = 2e9;                  // bytes: larger arguments leave no memory for guests beside
constexpr int kScreenRounds = 7, kCertifyRounds = 30;
constexpr size_t kScreenStructured = 2, kAllStructured = 100;
constexpr double kLentAnew = 16e6;  // bytes of weights that are set again and again between timed calls
constexpr int kAllCalls = 100;      // in a row: as many as eager made
constexpr int kDrawsOfAKind = 5;    // that the referee's budgets are made of
constexpr int kMixedDraws = 5;      // that large arguments of timed calls are mixed from

uint64_t system_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 31) ^ device();
}

// `count` draws: so many of their own, then mixtures of those (see python/mtmc/referee/draws.py).
std::vector<std::string> timed_draws(int first, int own, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(fmt::format("timed-{}", first + i % own));
    if (i >= own) names.back() += fmt::format("~{}", i / own);
  }
  return names;
}

// Modules that we print say on which device they make their memory. Where nothing is launched, it is the host's.
std::string device_replaced(std::string code) {
  const std::string mark = "\n_DEVICE = ";
  const size_t start = code.find(mark);
  if (start == code.npos) return code;
  const size_t from = start + mark.size();
  return code.replace(from, code.find('\n', from) - from, "\"cpu\"");
}

bool clocks_part(const Verdict& verdict) {
  return (verdict.reason == "clock-mismatch" || verdict.reason == "background-work") && verdict.time_ms;
}

// Clocks that agree within the noise of a busy moment say little against clocks that parted in a quieter one.
bool tells_as_much(const Verdict& second, const Verdict& first) {
  if (second.outcome == Outcome::refused || first.reason != "clock-mismatch") return true;
  return second.clock_noise_ms.value_or(0) <= 2 * first.clock_noise_ms.value_or(0);
}

// A descriptor of a folder that is made for it.
int open_folder(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  MTMC_CHECK(descriptor >= 0, "a folder that was just made can be opened");
  return descriptor;
}

class ProcessJudge final : public Judge {
 public:
  explicit ProcessJudge(JudgeOptions options)
      : options_(complete(std::move(options))),
        folder_(memory_folder()),
        draws_(open_folder(private_tasks())),
        guests_(options_, shared(), draws_),
        referee_("referee", referee_command(options_)),
        baselines_(options_, draws_),
        rng_(options_.seed) {
    claim_folder(folder_.path());
  }
  ~ProcessJudge() override { close(draws_); }

  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override;
  Status expect(const Task& task) override;
  Status expect(const Task& task, const Candidate& candidate) override;
  Result<Offline> offline(const Task& task, const Candidate& candidate);

 private:
  static JudgeOptions complete(JudgeOptions options) {
    if (options.seed == 0) options.seed = system_seed();
    return complete_options(std::move(options));
  }
  Status open(const Task& task);
  Result<Verdict> attempt(const Task& task, const Candidate& candidate, Tier tier);
  Result<Verdict> examined(const Candidate& candidate, Tier tier);
  bool lost() const;  // is a process of ours gone?
  Status works_without_candidate(const Task& task, Tier tier);
  Verdict blamed(const Error& error, Tier tier) const;
  Examination examination_of(const Candidate& candidate, Verdict& verdict);
  Result<bool> interpret(Examination& examination, const Room& room);
  Result<bool> screen(Examination& examination, const Room& room, Verdict& verdict);
  Result<bool> screen(Examination& examination, Guest& guest, const Room& room, Verdict& verdict);
  Result<bool> certify(Examination& examination, const Room& room, Verdict& verdict);
  Result<bool> uses_kernels(Examination& examination, Guest& guest, const Room& room, Verdict& verdict);
  Result<bool> works_without_kernels(Examination& examination, const Room& room);
  Result<bool> has_other_weights(Verdict& verdict);
  Result<bool> takes_weights(Examination& examination, const Room& room, Verdict& verdict);
  Result<bool> notices_few_weights(Examination& examination, Guest& guest, Verdict& verdict);
  Result<bool> follows_weights(Examination& examination, Guest& guest, const Room& room, Verdict& verdict);
  Result<bool> time(Examination& examination, Guest& guest, Tier tier, Verdict& verdict);
  Result<bool> time_beside_baselines(Examination& examination, Guest& guest, Tier tier, Verdict& verdict);
  int other_index();
  void remember(const Verdict& certification);
  Result<std::vector<std::string>> structured_draws(Tier tier);
  Result<bool> run_structured(Examination& examination, Guest& guest, const std::string& draw);
  Result<std::map<int, std::string>> pick_probes(Tier tier, int rounds);
  Result<RoundPlan> plan_rounds(Tier tier, bool anew);
  Result<bool> time_quietly(Examination& examination, Guest& guest, const RoundPlan& plan, Verdict& verdict);
  bool on_gpu() const { return options_.device == "cuda"; }

  // Guests see `shared` only: draws that are yet to come, and truths, lie elsewhere.
  std::filesystem::path shared() const { return folder_.path() / "shared"; }
  std::filesystem::path private_tasks() const { return folder_.path() / "tasks"; }

  JudgeOptions options_;
  TempDir folder_;
  int draws_ = -1;  // a descriptor of private_tasks(), for those who put arguments into processes
  Guests guests_;
  JudgeProcess referee_;
  Baselines baselines_;
  Rng rng_;
  std::string open_task_;  // hash of the open task's JSON
  std::optional<TaskFacts> facts_;
  int timed_sets_ = 0;
  std::map<std::string, std::string> refusing_;  // open task -> kind of the draw that refused its last certification
  std::vector<std::string> met_;                 // structured draws of this examination
  bool again_ = false;  // is the candidate examined once more? It may have written down what it saw
};

Status ProcessJudge::open(const Task& task) {
  const std::string key = short_hash(task.json);
  if (facts_ && key == open_task_ && referee_.running()) return ok_status();
  MTMC_RETURN_IF_ERROR(guests_.start());
  MTMC_RETURN_IF_ERROR(referee_.start());
  MTMC_RETURN_IF_ERROR(baselines_.start());
  if (!on_gpu()) kernel_headers();  // while they come up
  facts_.reset(), open_task_.clear();
  const std::filesystem::path folder = private_tasks() / key;
  for (const auto& old : std::filesystem::directory_iterator(private_tasks())) std::filesystem::remove_all(old.path());
  MTMC_TRY(TaskFacts facts, TaskFacts::open(referee_, task, folder, shared() / "triton", options_));
  guests_.forget(facts.files());
  facts_ = std::move(facts), open_task_ = key;
  MTMC_RETURN_IF_ERROR(guests_.prepare());
  MTMC_TRY([[maybe_unused]] const DrawFacts* first, facts_->draw("task-0"));  // baselines get ready on its arguments
  return baselines_.open(*facts_);
}

// All that a screening needs of the task. On a CPU whoever expects it has the cores in use himself.
Status ProcessJudge::expect(const Task& task) {
  if (!on_gpu()) return ok_status();
  MTMC_RETURN_IF_ERROR(open(task));
  MTMC_TRY(std::vector<std::string> draws, facts_->structured(kScreenStructured));
  if (facts_->has_weights()) draws.insert(draws.end(), {"weights-0", "task-1"});
  for (const std::string& draw : draws) {
    MTMC_TRY([[maybe_unused]] const DrawFacts* known, facts_->draw(draw));
  }
  return baselines_.ready(false);
}

// A guest beside the others compiles it, when the task is open, and loads it anew: what a first call keeps was never
// computed where launches only compile.
Status ProcessJudge::expect(const Task& task, const Candidate& candidate) {
  if (!facts_ || short_hash(task.json) != open_task_ || facts_->argument_bytes() > kMostBeside) return ok_status();
  const Status begun = guests_.begin(candidate, [&](Guest& guest) -> Result<std::vector<Json>> {
    Verdict unread;
    Examination examination = examination_of(candidate, unread);
    const Json load = examination.load_request(guest);
    MTMC_TRY(const Given* given, facts_->given("task-0"));
    const Json compile = {
        {"op", "compile"}, {"form", *given->form}, {"values", *given->values}, {"workers", options_.threads}};
    return std::vector<Json>{load, compile, load};
  });
  return begun.ok() || guests_.running() ? begun : ok_status();  // lost: judge() sets everything up again
}

Result<Verdict> ProcessJudge::judge(const Task& task, const Candidate& candidate, Tier tier) {
  const double start = now_seconds();
  again_ = false;
  Result<Verdict> verdict = attempt(task, candidate, tier);
  // Whoever else uses the machine can part the clocks of an honest candidate, too: when all its calls were made.
  std::optional<Verdict> first;
  if (verdict.ok() && clocks_part(*verdict)) {
    first = std::move(*verdict), again_ = true;
    verdict = attempt(task, candidate, tier);
  }
  // A process of ours that dies is no fault of the candidate's the first time: everything is set up again.
  if (!verdict.ok() && lost()) {
    facts_.reset(), again_ = true;
    verdict = attempt(task, candidate, tier);
  }
  if (!verdict.ok() && lost()) {
    facts_.reset();
    if (works_without_candidate(task, tier).ok()) verdict = blamed(verdict.error(), tier);
  }
  if (verdict.ok() && first) {
    if (!tells_as_much(*verdict, *first)) take_longer(*verdict, std::max(0.0, first->clock_apart_ms.value_or(0)));
    verdict->notes.push_back("clocks-compared-twice");
  }
  if (verdict.ok()) verdict->seconds = now_seconds() - start;
  return verdict;
}

bool ProcessJudge::lost() const {
  return facts_ && (!guests_.running() || !referee_.running() || !baselines_.running());
}

// All that judging asks of our processes before a candidate runs.
Status ProcessJudge::works_without_candidate(const Task& task, Tier tier) {
  MTMC_RETURN_IF_ERROR(open(task));
  MTMC_TRY([[maybe_unused]] const auto structured,
           facts_->structured(tier == Tier::screen ? kScreenStructured : kAllStructured));
  return baselines_.ready(tier == Tier::certify || !on_gpu());
}

// A candidate with which a process of ours was lost twice.
Verdict ProcessJudge::blamed(const Error& error, Tier tier) const {
  Verdict verdict;
  verdict.tier = tier, verdict.evaluator = evaluator_of(options_);
  verdict.outcome = Outcome::refused, verdict.reason = "crashed";
  verdict.message = "twice with this candidate, and not without it: " + error.message();
  return verdict;
}

Result<Verdict> ProcessJudge::attempt(const Task& task, const Candidate& candidate, Tier tier) {
  MTMC_RETURN_IF_ERROR(open(task));
  try {
    return examined(candidate, tier);
  } catch (const std::filesystem::filesystem_error& error) {  // it may have filled the place where files are passed
    guests_.stop();
    return Error{"passing files to a candidate", error.what(), "", ""};
  }
}

Result<Verdict> ProcessJudge::examined(const Candidate& candidate, Tier tier) {
  Verdict verdict;
  verdict.tier = tier, verdict.evaluator = evaluator_of(options_);
  if (options_.freeze_weights && facts_->has_weights()) verdict.notes.push_back("frozen-weights");
  MTMC_TRY(const Room room, guests_.room_for(candidate));
  if (tier == Tier::screen) {
    const Verdict before = verdict;
    MTMC_TRY(std::optional<Guest> ready, guests_.adopt(candidate, options_.load_seconds));
    if (ready) {
      Examination examination = examination_of(candidate, verdict);
      MTMC_TRY(const bool passed, screen(examination, *ready, room, verdict));
      examination.conclude(passed);
      if (passed) return verdict;
      verdict = before, again_ = true;  // whatever is refused is refused in a new process of its own
    }
  }
  MTMC_RETURN_IF_ERROR(guests_.finish(candidate, options_.load_seconds));
  Examination examination = examination_of(candidate, verdict);
  MTMC_TRY(const bool passed,
           tier == Tier::screen ? screen(examination, room, verdict) : certify(examination, room, verdict));
  examination.conclude(passed);
  if (tier == Tier::certify) remember(verdict);
  MTMC_RETURN_IF_ERROR(guests_.prepare());
  return verdict;
}

Examination ProcessJudge::examination_of(const Candidate& candidate, Verdict& verdict) {
  const double call_seconds = options_.call_seconds + 20 * facts_->eager_seconds();
  // Triton and torch.compile compile what is called first.
  const TimeLimits limits{options_.load_seconds, call_seconds, std::max(options_.load_seconds, call_seconds)};
  return Examination(*facts_, guests_.file_of(candidate), guests_.results(), options_.threads, limits, verdict);
}

#define MTMC_PASS(expression)                \
  do {                                       \
    MTMC_TRY(const bool passes, expression); \
    if (!passes) return false;               \
  } while (false)

Result<bool> ProcessJudge::screen(Examination& examination, const Room& like, Verdict& verdict) {
  MTMC_TRY(Guest guest, guests_.enter(like));
  return screen(examination, guest, like, verdict);
}

Result<bool> ProcessJudge::screen(Examination& examination, Guest& guest, const Room& like, Verdict& verdict) {
  MTMC_PASS(examination.load(guest));
  MTMC_PASS(examination.run(guest, "task-0"));
  MTMC_TRY(const std::vector<std::string> structured, structured_draws(Tier::screen));
  for (const std::string& draw : structured) MTMC_PASS(examination.run(guest, draw, "first"));
  if (!options_.freeze_weights) MTMC_PASS(follows_weights(examination, guest, like, verdict));
  if (structured.empty()) verdict.notes.push_back("no-structured-draw");
  MTMC_PASS(time(examination, guest, Tier::screen, verdict));
  MTMC_RETURN_IF_ERROR(guests_.prepare());  // while the guest's threads settle
  MTMC_PASS(examination.stays_quiet(guest));
  return examination.uses_kernels(guest, "task-0", false);
}

Result<bool> ProcessJudge::certify(Examination& examination, const Room& like, Verdict& verdict) {
  MTMC_TRY(const std::vector<std::string> structured, structured_draws(Tier::certify));
  if (structured.size() < 2) verdict.notes.push_back("few-structured-draws");
  {
    MTMC_TRY(Guest guest, guests_.enter(like));
    MTMC_PASS(examination.load(guest));
    std::vector<std::string> draws = {"task-0", "task-1", "task-2", "task-3", "task-4"};
    for (const std::string& draw : draws) MTMC_PASS(examination.run(guest, draw, "first", 5));
    for (const std::string& draw : structured) MTMC_PASS(run_structured(examination, guest, draw));
    MTMC_PASS(examination.run_after(guest, "task-0", "swapped-0"));
    if (facts_->moves())
      MTMC_PASS(examination.run(guest, fmt::format("repeated-{}", other_index()), "first", kAllCalls));
    draws.insert(draws.end(), structured.begin(), structured.end());
    MTMC_TRY(verdict.degenerate, facts_->degenerate(draws));
    MTMC_PASS(examination.stays_quiet(guest));
    MTMC_PASS(examination.profile(guest, "task-0"));
    if (!options_.freeze_weights) MTMC_PASS(follows_weights(examination, guest, like, verdict));
    if (!options_.freeze_weights) MTMC_PASS(notices_few_weights(examination, guest, verdict));
    for (const std::string& kind : facts_->others()) MTMC_PASS(examination.other_arguments(guest, kind + "-0"));
    MTMC_PASS(uses_kernels(examination, guest, like, verdict));
  }
  MTMC_PASS(works_without_kernels(examination, like));
  if (options_.freeze_weights) {
    MTMC_TRY(const bool others, has_other_weights(verdict));
    if (others) MTMC_PASS(takes_weights(examination, like, verdict));
  }
  MTMC_TRY(Guest fresh, guests_.enter(like));
  MTMC_PASS(examination.load(fresh));
  MTMC_PASS(time(examination, fresh, Tier::certify, verdict));
  return examination.stays_quiet(fresh);
}

Result<bool> ProcessJudge::interpret(Examination& examination, const Room& like) {
  MTMC_TRY(Guest guest, guests_.enter(like));
  MTMC_PASS(examination.load(guest));
  MTMC_PASS(examination.run(guest, "task-0"));
  MTMC_TRY(const std::vector<std::string> structured, facts_->structured(kScreenStructured));
  for (const std::string& draw : structured) MTMC_PASS(examination.run(guest, draw));
  return true;
}

Result<Offline> ProcessJudge::offline(const Task& task, const Candidate& candidate) {
  MTMC_RETURN_IF_ERROR(open(task));
  Offline found;
  Verdict& verdict = found.interpreted;
  verdict.evaluator = evaluator_of(options_) + ", interpreted";
  verdict.notes.push_back("not-timed");
  MTMC_TRY(Room room, guests_.room_for(candidate));
  const TimeLimits limits{options_.load_seconds, options_.call_seconds, options_.call_seconds};
  Examination examination(*facts_, guests_.file_of(candidate), guests_.results(), options_.threads, limits, verdict);
  room.interpret = true;
  MTMC_TRY(const bool right, interpret(examination, room));
  examination.conclude(right);
  MTMC_RETURN_IF_ERROR(
      facts_->draw("task-0"));  // for the compiler's sake, even where the interpreter did not get so far
  const Candidate on_host{device_replaced(candidate.code), nullptr};
  MTMC_TRY(const Room compiling_room, guests_.room_for(on_host));
  Verdict loaded;
  Examination compiling(*facts_, guests_.file_of(on_host), guests_.results(), options_.threads, limits, loaded);
  MTMC_TRY(Guest guest, guests_.enter(compiling_room));
  MTMC_TRY(const bool loads, compiling.load(guest));
  if (!loads) {
    found.failure = loaded.reason + ": " + loaded.message;
    return found;
  }
  MTMC_TRY(const GuestReply answer, compiling.ahead(guest, "task-0"));
  if (!answer.ok()) {
    found.failure = answer.reason + ": " + answer.message;
    return found;
  }
  found.kernels = answer.reply->at("kernels");
  found.compiled_for = answer.reply->at("compiled_for"), found.failure = answer.reply->at("failure");
  return found;
}

// What a process gave up after other sizes (torch.compile after eight of them) a new one has.
Result<bool> ProcessJudge::uses_kernels(Examination& examination, Guest& guest, const Room& like, Verdict& verdict) {
  const Verdict before = verdict;
  MTMC_TRY(const bool used, examination.uses_kernels(guest, "task-0", !on_gpu()));
  if (used || verdict.reason != "kernel-unused") return used;
  verdict = before;
  MTMC_TRY(Guest fresh, guests_.enter(like));
  MTMC_PASS(examination.load(fresh));
  MTMC_PASS(examination.run(fresh, "task-0"));
  return examination.uses_kernels(fresh, "task-0", !on_gpu());
}

// On a GPU kernels may have been captured or bound by the time the first guest unplugged them: a new one never has
// them.
Result<bool> ProcessJudge::works_without_kernels(Examination& examination, const Room& like) {
  if (!on_gpu()) return true;
  MTMC_TRY(Guest ghost, guests_.enter(like));
  MTMC_PASS(examination.load(ghost));
  return examination.needs_kernels(ghost, "task-0");
}

Result<bool> ProcessJudge::has_other_weights(Verdict& verdict) {
  if (!facts_->has_weights()) return false;
  MTMC_TRY(const DrawFacts* facts, facts_->draw("weights-0"));
  if (!facts->usable) verdict.notes.push_back("second-weights-unusable");
  return facts->usable;
}

// Weights are inputs: other values, copied in or put in place of the old tensors, must change the answer.
Result<bool> ProcessJudge::follows_weights(Examination& examination, Guest& guest, const Room& like, Verdict& verdict) {
  MTMC_TRY(const bool others, has_other_weights(verdict));
  if (!others) return true;
  MTMC_TRY(const bool followed, examination.run(guest, "weights-0", "second"));
  if (followed) {
    if (facts_->has_state("lifted")) {
      MTMC_TRY(const DrawFacts* lifted, facts_->draw("lifted-0"));
      if (lifted->usable) MTMC_PASS(examination.run(guest, "lifted-0", "lifted"));
    }
    MTMC_PASS(examination.set_state(guest, "first", "assign"));
    return examination.run(guest, "task-1");
  }
  if (verdict.reason != "wrong-result" && verdict.reason != "precision") return false;
  const std::string message = verdict.message;
  MTMC_PASS(takes_weights(examination, like, verdict));
  return examination.refuse("stale-weights", "after the weights had changed, " + message);
}

// Other values of a few elements, written where the old ones lie: who looks at some of the weights only misses them.
Result<bool> ProcessJudge::notices_few_weights(Examination& examination, Guest& guest, Verdict& verdict) {
  for (const std::string& state : facts_->nudged()) {
    const std::string draw = fmt::format("{}-{}", state, other_index());
    MTMC_TRY(const DrawFacts* facts, facts_->draw(draw));
    if (!facts->usable) continue;
    MTMC_PASS(examination.set_state(guest, state, "write"));
    MTMC_TRY(const bool right, examination.run(guest, draw));
    if (!right && verdict.reason != "wrong-result" && verdict.reason != "precision") return false;
    if (!right)
      return examination.refuse("stale-weights", "after a few elements of the weights had changed, " + verdict.message);
    MTMC_PASS(examination.set_state(guest, "first", "write"));
  }
  return true;
}

// A new process that is given other weights uses them. It takes the place of the guest before it.
Result<bool> ProcessJudge::takes_weights(Examination& examination, const Room& like, Verdict& verdict) {
  MTMC_TRY(Guest fresh, guests_.enter(like));
  MTMC_PASS(examination.load(fresh, "second"));
  MTMC_TRY(const bool right, examination.run(fresh, "weights-0"));
  return right || examination.refuse("insensitive-to-weights", "with other weights, " + verdict.message);
}

// Nothing of ours, or of who asks, runs beside a timed call.
Result<bool> ProcessJudge::time_quietly(Examination& examination, Guest& guest, const RoundPlan& plan,
                                        Verdict& verdict) {
  MTMC_RETURN_IF_ERROR(guests_.pause());
  baselines_.pause();
  if (options_.bystander != nullptr) options_.bystander->pause();
  const Status measured = baselines_.measure_bandwidth();
  const Result<bool> timed = measured.ok() ? time_rounds(guest, baselines_, *facts_, examination, plan, rng_, verdict)
                                           : Result<bool>(measured.error());
  if (options_.bystander != nullptr) options_.bystander->resume();
  baselines_.resume();
  if (guests_.running()) MTMC_RETURN_IF_ERROR(guests_.resume());
  return timed;
}

// A candidate may have written down what it saw before: what it meets then is another draw of the same kind. Large
// draws are few.
int ProcessJudge::other_index() { return 1 + (facts_->large() ? 0 : static_cast<int>(rng_.below(kDrawsOfAKind - 1))); }

// Of what returns few numbers, a loss, each draw tells little: it meets all draws of the kind.
Result<bool> ProcessJudge::run_structured(Examination& examination, Guest& guest, const std::string& draw) {
  MTMC_PASS(examination.run(guest, draw, "first"));
  const size_t end = draw.rfind('-') + 1;
  for (int index = 0; facts_->returns_few() && !facts_->large() && index < kDrawsOfAKind; ++index) {
    const std::string other = draw.substr(0, end) + std::to_string(index);
    if (other == draw) continue;
    MTMC_TRY(const DrawFacts* known, facts_->draw(other));
    if (known->usable) MTMC_PASS(examination.run(guest, other, "first"));
  }
  return true;
}

// What refused one candidate when it was certified, the next of its kind meets in a screen, and first.
void ProcessJudge::remember(const Verdict& certification) {
  if (certification.outcome != Outcome::refused || certification.errors.empty()) return;
  const OutputError& last = certification.errors.back();
  const std::string kind = last.draw.substr(0, last.draw.rfind('-'));
  if (!last.broken.empty() && last.broken != "e" && (kind == "task" || facts_->has_structured(kind)))
    refusing_[open_task_] = kind;
}

Result<std::vector<std::string>> ProcessJudge::structured_draws(Tier tier) {
  const int index = tier == Tier::screen && !again_ ? 0 : other_index();
  MTMC_TRY(met_, facts_->structured(tier == Tier::screen ? kScreenStructured : kAllStructured, index));
  if (const auto known = refusing_.find(open_task_); known != refusing_.end()) {
    const std::string draw = fmt::format("{}-{}", known->second, known->second == "task" ? other_index() : index);
    MTMC_TRY(const DrawFacts* facts, facts_->draw(draw));
    std::erase(met_, draw);
    if (facts->usable) met_.insert(met_.begin(), draw);
  }
  return met_;
}

// A draw of every kind that was met, each before a round drawn at random; a screen has one, and large draws are left to
// certifications, which have one. Another layout would stay for later rounds.
Result<std::map<int, std::string>> ProcessJudge::pick_probes(Tier tier, int rounds) {
  std::map<int, std::string> probes;
  const bool screens = tier == Tier::screen;
  if (screens && facts_->large()) return probes;
  std::vector<std::string> kinds;
  for (const std::string& draw : met_)
    if (!draw.starts_with("non-contiguous")) kinds.push_back(draw.substr(0, draw.rfind('-')));
  if ((screens || facts_->large()) && !kinds.empty()) kinds = {kinds[rng_.below(kinds.size())]};
  if (!screens && facts_->has_weights() && !options_.freeze_weights) {
    kinds.insert(kinds.end(), {"weights", "weights"});
    if (facts_->has_state("lifted")) kinds.push_back("lifted");
    for (const std::string& kind : facts_->nudged()) kinds.push_back(kind);
  }
  for (const std::string& kind : kinds) {
    const std::string draw = fmt::format("{}-{}", kind, other_index());
    MTMC_TRY(const DrawFacts* facts, facts_->draw(draw));
    while (facts->usable && !probes.emplace(static_cast<int>(rng_.below(static_cast<uint64_t>(rounds))), draw).second) {
    }
  }
  return probes;
}

// Screens share one set of arguments; every certification gets its own, which nothing has seen before, and so do rounds
// that begin `anew`.
Result<RoundPlan> ProcessJudge::plan_rounds(Tier tier, bool anew) {
  RoundPlan plan;
  for (const auto& [name, failure] : baselines_.made())
    if (failure.empty()) plan.baselines.push_back(name);
  plan.rounds = tier == Tier::screen ? kScreenRounds : kCertifyRounds + static_cast<int>(rng_.below(8));
  plan.warm_ups = (tier == Tier::screen ? 1 : 2) + static_cast<int>(rng_.below(tier == Tier::screen ? 2 : 3));
  const bool small = facts_->argument_bytes() < kSmallArguments && facts_->eager_seconds() < kQuickSeconds;
  plan.checks = tier == Tier::screen ? (small ? plan.rounds / 2 : 3) : small ? plan.rounds : 8;
  // Arguments that are drawn quickly are new in every call. Large ones on a CPU are mixed from a few draws of their
  // own.
  const int set = tier == Tier::screen && !anew && !on_gpu() ? 0 : ++timed_sets_;
  const bool quick = on_gpu() || !facts_->large();
  const int count = most_rounds(tier, plan.rounds) + plan.warm_ups;
  plan.one_thread = options_.threads == 1;
  plan.lends_anew =
      tier == Tier::certify && facts_->has_weights() && !options_.freeze_weights && facts_->weight_bytes() < kLentAnew;
  plan.draws = timed_draws(1000 * set, quick ? count : kMixedDraws, count);
  plan.forgets = quick && set > 0;
  MTMC_TRY(plan.probes, pick_probes(tier, plan.rounds));
  return plan;
}

// Begins anew for a candidate that is examined once more, and when the process of a baseline is lost.
Result<bool> ProcessJudge::time_beside_baselines(Examination& examination, Guest& guest, Tier tier, Verdict& verdict) {
  for (bool anew = again_;; anew = true) {
    // A screen on a GPU takes half a second: it does not wait for minutes of compiling.
    MTMC_RETURN_IF_ERROR(baselines_.ready(tier == Tier::certify || !on_gpu()));
    const int losses = baselines_.losses();
    MTMC_TRY(const RoundPlan plan, plan_rounds(tier, anew));
    const Result<bool> timed = time_quietly(examination, guest, plan, verdict);
    if (tier == Tier::certify || anew) MTMC_RETURN_IF_ERROR(facts_->forget_timed(plan.draws));
    if (baselines_.losses() == losses) return timed;
  }
}

Result<bool> ProcessJudge::time(Examination& examination, Guest& guest, Tier tier, Verdict& verdict) {
  const Result<bool> timed = time_beside_baselines(examination, guest, tier, verdict);
  for (const auto& [name, failure] : baselines_.made())
    if (!failure.empty()) verdict.notes.push_back("no-" + name + ": " + failure);
  MTMC_PASS(timed);
  if (tier == Tier::screen) return true;
  MTMC_TRY(const TaskFacts::Bytes bytes, facts_->bytes());
  if (faster_than_physics(*verdict.time_ms, bytes.needed, baselines_.bandwidth(), options_.cache_bytes)) {
    return examination.refuse("faster-than-physics",
                              fmt::format("{:.3f} ms for {:.0f} MB at {:.1f} GB/s", *verdict.time_ms,
                                          bytes.needed / 1e6, baselines_.bandwidth() / 1e9));
  }
  if (faster_than_physics(*verdict.time_ms * 0.5, bytes.nominal, baselines_.bandwidth(), options_.cache_bytes))
    verdict.notes.push_back("above-roofline");
  return true;
}

}  // namespace

Result<Offline> check_offline(JudgeOptions options, const Task& task, const Candidate& candidate) {
  options.device = "cpu";
  return ProcessJudge(std::move(options)).offline(task, candidate);
}

std::unique_ptr<Judge> make_process_judge(const JudgeOptions& options) {
  return std::make_unique<ProcessJudge>(options);
}

}  // namespace mtmc
