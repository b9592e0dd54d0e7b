#include "eval/process_judge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/hash.h"
#include "base/kernel_headers.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "base/turn.h"
#include "eval/examination.h"
#include "eval/guests.h"
#include "eval/rounds.h"
#include "eval/sandbox_command.h"
#include "eval/stats.h"
#include "eval/trial.h"

namespace mtmc {

namespace {

// Bytes: larger arguments, or weights, leave no memory for guests beside.
constexpr double kMostBeside = 2e9, kMostWeightsBeside = 4e9;
constexpr double kQuickDraw = 0.5;   // seconds
constexpr double kMuchMemory = 1e9;  // bytes: who lacked memory is judged again where so much was given back
constexpr int kMostEndless = 3;      // kinds of draws on which a module may not end

// Modules that we print say on which device they make their memory. Where nothing is launched, it is the host's.
std::string device_replaced(std::string code) {
  const std::string mark = "\n_DEVICE = ";
  const size_t start = code.find(mark);
  if (start == code.npos) return code;
  const size_t from = start + mark.size();
  return code.replace(from, code.find('\n', from) - from, "\"cpu\"");
}

bool timed_from_outside(const Verdict& verdict) {
  return verdict.reason == "clock-mismatch" ||
         std::any_of(verdict.notes.begin(), verdict.notes.end(),
                     [](const std::string& note) { return note.starts_with(kTimedFromOutside); });
}

bool clocks_part(const Verdict& verdict) {
  return verdict.time_ms && (timed_from_outside(verdict) || verdict.reason == "background-work");
}

// The noise is measured itself: on a busy machine clocks of an honest candidate were 0.078 ms apart where it was 0.069.
bool is_noise(const Verdict& verdict) {
  return verdict.clock_apart_ms.value_or(0) <= 2 * verdict.clock_noise_ms.value_or(0);
}

// Clocks that agree within the noise of a busy moment say little against clocks that parted in a quieter one.
bool tells_as_much(const Verdict& second, const Verdict& first) {
  if (second.outcome == Outcome::refused || !timed_from_outside(first)) return true;
  return second.clock_noise_ms.value_or(0) <= 2 * first.clock_noise_ms.value_or(0);
}

// Other tasks on its GPU may take what a candidate lacked: it is no fault of the candidate's.
bool lacks_shared_memory(const Verdict& verdict) {
  return verdict.reason == "out-of-memory" && is_with_others(memory_file());
}

// A descriptor of a folder that is made for it.
int open_folder(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  MTMC_CHECK(descriptor >= 0, "a folder that was just made can be opened");
  return descriptor;
}

// The file that the task is written in, where it has one.
std::vector<std::string> file_of(const Task& task) {
  const Json told = Json::parse(task.json, nullptr, false);
  const Json file = told.is_object() ? told.value("file", Json()) : Json();
  return file.is_string() ? std::vector{file.get<std::string>()} : std::vector<std::string>();
}

// From here to the end of the block something takes long.
class Telling {
 public:
  Telling(const JudgeOptions& options, const char* what) : told_(options.told) {
    if (told_) told_(what);
  }
  ~Telling() {
    if (told_) told_("");
  }
  Telling(const Telling&) = delete;

 private:
  const std::function<void(const std::string&)>& told_;
};

class ProcessJudge final : public Judge {
 public:
  explicit ProcessJudge(JudgeOptions options)
      : options_(complete_options(std::move(options))),
        folder_(memory_folder()),
        draws_(open_folder(private_tasks())),
        guests_(options_, shared(), draws_),
        referee_("referee", referee_command(options_)),
        baselines_(options_, draws_),
        rng_(options_.seed),
        draw_choice_(options_, rng_) {
    claim_folder(folder_.path());
  }
  ~ProcessJudge() override { close(draws_); }

  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override;
  Result<std::optional<std::string>> compile(const Task& task, const Candidate& candidate) override;
  Status start() override;
  Status prepare(const Task& task) override;
  Status prepare(const Task& task, const Candidate& candidate) override;
  bool get_ahead() override;
  void expect(const Task* next) override {
    guests_.expect(next != nullptr ? file_of(*next) : std::vector<std::string>());
  }
  void rest() override;
  void reseed(uint64_t seed) override;
  void tell(std::function<void(const std::string&)> told) override { options_.told = std::move(told); }
  Result<Offline> offline(const Task& task, const Candidate& candidate);

 private:
  Status open(const Task& task);
  Result<Verdict> attempt(const Task& task, const Candidate& candidate, Tier tier);
  Result<Verdict> examined(const Candidate& candidate, Tier tier);
  Result<std::optional<Guest>> compiled(const Candidate& candidate, Tier tier);
  Result<Json> compile_request();
  Result<std::string> tried_to_compile(const Candidate& candidate);
  bool draws_quickly() const;
  bool lost() const;  // is a process of ours gone?
  Status works_without_candidate(const Task& task, Tier tier, const std::shared_ptr<const Json>& lost_at);
  Result<bool> spare_memory();
  Result<bool> ends_without_candidate(const Task& task, const std::string& draw);
  Verdict blamed(const Error& error, Tier tier) const;
  Examination examination_of(const Candidate& candidate, Verdict& verdict);
  Trial trial(Examination& examination, const Room& like, Verdict& verdict) {
    return {{options_, guests_, baselines_, *facts_, draw_choice_, rng_}, examination, like, again_, verdict};
  }
  bool on_gpu() const { return options_.device == "cuda"; }
  static bool shares() { return !turn_file().empty(); }  // is there a GPU that others use, too?

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
  DrawChoice draw_choice_;
  std::string open_task_;  // hash of the open task's JSON
  std::optional<TaskFacts> facts_;
  std::set<std::string> endless_;  // kinds of draws on which the open task's module itself has not ended
  bool again_ = false;             // is the candidate examined once more? It may have written down what it saw
  bool gets_ahead_ = true;         // until a draw that was made ahead went wrong
};

Status ProcessJudge::start() {
  MTMC_RETURN_IF_ERROR(guests_.start());
  MTMC_RETURN_IF_ERROR(referee_.start());
  return baselines_.start();
}

Status ProcessJudge::open(const Task& task) {
  const std::string key = short_hash(task.json);
  if (facts_ && key == open_task_ && referee_.running()) return ok_status();
  const Telling telling(options_, "opening the task");
  if (key != open_task_) endless_.clear();
  MTMC_RETURN_IF_ERROR(start());
  if (!on_gpu()) kernel_headers();  // while they come up
  baselines_.forget();
  facts_.reset(), open_task_.clear();
  const std::filesystem::path folder = private_tasks() / key;
  for (const auto& old : std::filesystem::directory_iterator(private_tasks())) std::filesystem::remove_all(old.path());
  // A guest warms up meanwhile. The referee says which files it must not see: mostly the one that is known before.
  MTMC_RETURN_IF_ERROR(guests_.forget(file_of(task)));
  const std::filesystem::path triton_seed = shared() / "triton";
  if (std::filesystem::exists(triton_seed) && !shares()) MTMC_RETURN_IF_ERROR(guests_.add_spares(1));
  MTMC_TRY(TaskFacts facts, TaskFacts::open(referee_, task, folder, triton_seed, options_));
  MTMC_RETURN_IF_ERROR(guests_.forget(facts.files()));
  facts_ = std::move(facts), open_task_ = key, gets_ahead_ = true;
  draw_choice_.opened(*facts_);
  facts_->leave_out(endless_);
  baselines_.open(*facts_);
  MTMC_RETURN_IF_ERROR(guests_.begin_import(facts_->imported()));
  const Result<const DrawFacts*> first = facts_->draw("task-0");               // baselines get ready on its arguments
  const bool beside = first.ok() && !on_gpu() && !facts_->imported().empty();  // eager's process imports the same
  const Status ready = beside ? baselines_.ready(false) : ok_status();
  MTMC_RETURN_IF_ERROR(guests_.finish_import());
  if (!first.ok()) return first.error();
  MTMC_RETURN_IF_ERROR(ready);
  MTMC_RETURN_IF_ERROR(guests_.add_spares());
  baselines_.begin();
  return ok_status();
}

// All that a screening needs of the task, but of one that draws quickly: its draws are made, and eager's process gets
// ready, while the first kernels compile. On a CPU nothing: the cores are busy with what the caller does meanwhile.
Status ProcessJudge::prepare(const Task& task) {
  if (!on_gpu()) return ok_status();
  MTMC_RETURN_IF_ERROR(open(task));
  if (draws_quickly()) return ok_status();
  MTMC_TRY(std::vector<std::string> draws, facts_->structured(structured_count(Tier::screen)));
  for (std::string& draw : DrawChoice::screened_besides(*facts_)) draws.push_back(std::move(draw));
  for (const std::string& draw : draws) {
    const auto known = facts_->draw(draw);
    if (facts_->endless()) return ok_status();  // judge() goes on without it
    if (!known.ok()) return known.error().wrong == kNoMemory ? ok_status() : Status(known.error());  // it makes room
  }
  return baselines_.ready(false);
}

// What our processes keep may be what a candidate, or the truth, or eager beside it lacked; and what makes engines
// takes as much as they do. Was it worth while?
Result<bool> ProcessJudge::spare_memory() {
  MTMC_RETURN_IF_ERROR(baselines_.ready(true));
  MTMC_TRY(const double theirs, baselines_.spare_memory());
  MTMC_TRY(const double referees, facts_->spare_memory());
  return theirs + referees > kMuchMemory;
}

// A guest beside the others compiles it, when the task is open, and loads it anew: what a first call keeps was never
// computed where launches only compile.
Status ProcessJudge::prepare(const Task& task, const Candidate& candidate) {
  if (!facts_ || short_hash(task.json) != open_task_) return ok_status();
  if (facts_->argument_bytes() > kMostBeside || facts_->weight_bytes() > kMostWeightsBeside) return ok_status();
  const Status begun = guests_.prepare(candidate, [&](Guest& guest) -> Result<std::vector<Json>> {
    Verdict unread;
    Examination examination = examination_of(candidate, unread);
    const Json load = examination.load_request(guest);
    MTMC_TRY(const Json compile, compile_request());
    return std::vector<Json>{load, compile, load};
  });
  return begun.ok() || guests_.running() ? begun : ok_status();  // lost: judge() sets everything up again
}

// Can draws be made before they are asked for, and kept, without anybody who waits for one that is being made?
bool ProcessJudge::draws_quickly() const {
  if (!on_gpu() || shares() || !facts_ || !referee_.running() || !gets_ahead_) return false;
  const double bytes = facts_->argument_bytes() + facts_->result_bytes();
  return !facts_->full() && bytes <= kMostBeside && facts_->draw_seconds() <= kQuickDraw;
}

// What a first screen asks for, then what a certification does. What goes wrong with a draw goes wrong once more, and
// is told, when somebody asks for it.
bool ProcessJudge::get_ahead() {
  if (!draws_quickly()) return false;
  std::vector<std::string> names = draw_choice_.screened_first(*facts_);
  for (std::string& name : draw_choice_.certified_next(*facts_)) names.push_back(std::move(name));
  const auto next =
      std::find_if(names.begin(), names.end(), [&](const std::string& name) { return !facts_->knows(name); });
  if (next == names.end()) return false;
  return gets_ahead_ = facts_->draw(*next).ok();
}

// Whoever cannot give it back ends, and comes up again when it is needed.
void ProcessJudge::rest() {
  if (!facts_) return;
  baselines_.forget();  // which looks at the facts
  TaskFacts closing = *std::move(facts_);
  facts_.reset(), open_task_.clear();
  if (!guests_.rest().ok()) guests_.stop();
  if (referee_.running() && !closing.close().ok()) referee_.stop();
}

Result<Json> ProcessJudge::compile_request() {
  MTMC_TRY(const Given* given, facts_->given("task-0"));
  return Json{{"op", "compile"}, {"form", *given->form}, {"values", *given->values}, {"workers", options_.threads}};
}

Result<std::optional<std::string>> ProcessJudge::compile(const Task& task, const Candidate& candidate) {
  MTMC_RETURN_IF_ERROR(open(task));
  const auto tried = [&]() -> Result<std::string> {
    try {
      return tried_to_compile(candidate);
    } catch (const std::filesystem::filesystem_error& error) {  // it may have filled the place where files are passed
      guests_.stop();
      return Error{"passing files to a candidate", error.what(), "", ""};
    }
  }();
  if (tried.ok()) return std::optional(*tried);
  if (!lost()) return tried.error();
  facts_.reset();  // a process of ours died: everything is set up again for the next candidate
  return std::optional("crashed: " + tried.error().message());
}

// In a guest of its own, which loads it: that builds what its file builds. Triton's kernels, which a call would
// compile, are compiled by one that launches nothing, where the GPU is that they are for.
Result<std::string> ProcessJudge::tried_to_compile(const Candidate& candidate) {
  MTMC_TRY(const Room room, guests_.room_for(candidate));
  Verdict loaded;
  Examination examination = examination_of(candidate, loaded);
  MTMC_TRY(Guest guest, guests_.enter(room));
  MTMC_TRY(const bool loads, examination.load(guest));
  if (!loads) return loaded.reason + ": " + loaded.message;
  if (!on_gpu()) return std::string();
  MTMC_TRY(const Json request, compile_request());
  MTMC_TRY(const GuestReply answer, guest.call(request, options_.load_seconds));
  return answer.ok() ? std::string() : answer.reason + ": " + answer.message;
}

// Processes stay; all that is known of the open task was drawn from the seed of before.
void ProcessJudge::reseed(uint64_t seed) {
  options_.seed = seed_or_any(seed), rng_ = Rng(options_.seed), draw_choice_ = DrawChoice(options_, rng_);
  facts_.reset(), open_task_.clear();
}

Result<Verdict> ProcessJudge::judge(const Task& task, const Candidate& candidate, Tier tier) {
  const double start = working_seconds(), compiling = baselines_.compiling_seconds();
  again_ = false;
  const auto attempted = [&]() -> Result<Verdict> {
    Result<Verdict> verdict = attempt(task, candidate, tier);
    for (int kinds = 0; kinds < kMostEndless && !verdict.ok() && facts_ && facts_->endless(); ++kinds) {
      MTMC_TRY(const bool ends, ends_without_candidate(task, *facts_->endless()));
      again_ = true, verdict = attempt(task, candidate, tier);
      if (ends && !verdict.ok() && facts_ && facts_->endless()) return Result<Verdict>(blamed(verdict.error(), tier));
    }
    return verdict;
  };
  Result<Verdict> verdict = attempted();
  const bool lacks = verdict.ok() ? verdict->reason == "out-of-memory" : verdict.error().wrong == kNoMemory;
  if (lacks && on_gpu() && facts_) {
    MTMC_TRY(const bool spared, spare_memory());
    if (spared) again_ = true, verdict = attempted();
  }
  // Whoever else uses the machine can part the clocks of an honest candidate, too: when all its calls were made. Once
  // more where the second comparison was about as noisy as its clocks were apart.
  std::optional<Verdict> first;
  int comparisons = 1;
  while (verdict.ok() && clocks_part(*verdict) && comparisons < (first && is_noise(*verdict) ? 3 : 2)) {
    if (!first) first = std::move(*verdict);
    again_ = true, ++comparisons;
    verdict = attempted();
  }
  // A process of ours that dies is no fault of the candidate's the first time: everything is set up again.
  if (!verdict.ok() && lost() && !facts_->endless()) {
    facts_.reset(), again_ = true;
    verdict = attempted();
  }
  if (!verdict.ok() && lost() && !facts_->endless()) {
    const std::shared_ptr<const Json> lost_at = referee_.running() ? nullptr : referee_.lost_at();
    facts_.reset();
    if (works_without_candidate(task, tier, lost_at).ok()) verdict = blamed(verdict.error(), tier);
  }
  if (verdict.ok() && lacks_shared_memory(*verdict))
    return Error{"judging a candidate beside other tasks", kNoMemory, verdict->message, ""};
  if (verdict.ok() && first) {
    if (!tells_as_much(*verdict, *first)) take_longer(*verdict, std::max(0.0, first->clock_apart_ms.value_or(0)));
    verdict->notes.push_back(comparisons == 2 ? "clocks-compared-twice" : "clocks-compared-three-times");
  }
  if (verdict.ok())
    for (const std::string& kind : endless_)
      verdict->notes.push_back("endless: the module itself, on draws of " + kind);
  if (verdict.ok()) verdict->seconds = working_seconds() - start;
  if (verdict.ok()) verdict->compiling_seconds = baselines_.compiling_seconds() - compiling;
  return verdict;
}

bool ProcessJudge::lost() const {
  return facts_ && (!guests_.running() || !referee_.running() || !baselines_.running());
}

// A candidate may keep the GPU busy for longer than the referee has patience. Only a draw that does not end without
// one, either, is left out with its kind.
Result<bool> ProcessJudge::ends_without_candidate(const Task& task, const std::string& draw) {
  guests_.stop();
  facts_.reset();
  MTMC_RETURN_IF_ERROR(open(task));
  const auto alone = facts_->draw(draw);
  if (!facts_->endless()) return alone.ok() ? Result<bool>(true) : Result<bool>(alone.error());
  endless_.insert(kind_of(draw));
  return false;
}

// All that judging asks of our processes before a candidate runs, and what the referee was `lost_at`, where that names
// nothing of a candidate's: a fault of ours in computing with the task's own draws is nobody else's.
Status ProcessJudge::works_without_candidate(const Task& task, Tier tier, const std::shared_ptr<const Json>& lost_at) {
  static const std::set<std::string> of_the_task = {"draw", "budget", "beside", "arguments", "nulls", "touched"};
  MTMC_RETURN_IF_ERROR(open(task));
  MTMC_TRY([[maybe_unused]] const auto structured, facts_->structured(structured_count(tier)));
  if (lost_at != nullptr && of_the_task.contains(lost_at->at("op"))) {
    MTMC_TRY([[maybe_unused]] const Json reply, facts_->ask(*lost_at));
  }
  return baselines_.ready(tier == Tier::certify || options_.screens_wait);
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
  if (shares()) MTMC_RETURN_IF_ERROR(baselines_.ready(false));  // nothing of theirs is made while others time
  try {
    if (shares() && !again_) MTMC_RETURN_IF_ERROR(prepare(task, candidate));  // its kernels are compiled meanwhile
    return examined(candidate, tier);
  } catch (const std::filesystem::filesystem_error& error) {  // it may have filled the place where files are passed
    guests_.stop();
    return Error{"passing files to a candidate", error.what(), "", ""};
  }
}

// Waits until the candidate's kernels are compiled, if anybody does so. The guest that did is the one to screen.
Result<std::optional<Guest>> ProcessJudge::compiled(const Candidate& candidate, Tier tier) {
  if (tier == Tier::screen) return guests_.adopt(candidate, options_.load_seconds, [this] { return get_ahead(); });
  MTMC_RETURN_IF_ERROR(guests_.finish(candidate, options_.load_seconds));
  return std::optional<Guest>();
}

Result<Verdict> ProcessJudge::examined(const Candidate& candidate, Tier tier) {
  Verdict verdict;
  verdict.tier = tier, verdict.evaluator = evaluator_of(options_);
  if (options_.freeze_weights && facts_->has_weights()) verdict.notes.push_back("frozen-weights");
  MTMC_TRY(const Room room, guests_.room_for(candidate));
  MTMC_TRY(std::optional<Guest> ready, compiled(candidate, tier));
  if (ready) {
    const Verdict before = verdict;
    Examination examination = examination_of(candidate, verdict);
    MTMC_TRY(const bool passed, trial(examination, room, verdict).screen(*ready, candidate.profiled));
    examination.conclude(passed);
    if (passed) return verdict;
    ready.reset();
    verdict = before, again_ = true;  // whatever is refused is refused in a new process of its own
  }
  Examination examination = examination_of(candidate, verdict);
  Trial made = trial(examination, room, verdict);
  MTMC_TRY(const bool passed, tier == Tier::screen ? made.screen(candidate.profiled) : made.certify());
  examination.conclude(passed);
  if (tier == Tier::certify) draw_choice_.remember(*facts_, verdict);
  MTMC_RETURN_IF_ERROR(guests_.add_spares());
  return verdict;
}

Examination ProcessJudge::examination_of(const Candidate& candidate, Verdict& verdict) {
  const double call_seconds = options_.call_seconds + kTimesEager * facts_->eager_seconds();
  // Triton and torch.compile compile what is called first.
  const TimeLimits limits{options_.load_seconds, call_seconds, std::max(options_.load_seconds, call_seconds)};
  return Examination(*facts_, guests_.file_of(candidate), guests_.results(), options_.threads, limits, verdict);
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
  MTMC_TRY(const bool right, trial(examination, room, verdict).interpret());
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

}  // namespace

Result<Offline> check_offline(JudgeOptions options, const Task& task, const Candidate& candidate) {
  options.device = "cpu";
  return ProcessJudge(std::move(options)).offline(task, candidate);
}

std::unique_ptr<Judge> make_process_judge(const JudgeOptions& options) {
  return std::make_unique<ProcessJudge>(options);
}

}  // namespace mtmc
