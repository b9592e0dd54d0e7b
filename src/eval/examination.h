// Is one candidate correct? Runs it on draws in a guest, has the referee measure, applies the rules, fills the verdict.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "eval/guest.h"
#include "eval/near_zero.h"
#include "eval/performance.h"
#include "eval/task_facts.h"

namespace mtmc {

struct TimeLimits {
  double load_seconds = 180;  // import, which may compile
  double call_seconds = 30;   // any later request
  double first_seconds = 30;  // a candidate's first call in a process, which may compile too
};

class Examination {
 public:
  static constexpr double kSmallResults = 4 << 20;  // bytes
  static constexpr int kManyResults = 20;           // that whoever calls still holds, of small ones
  // `results`: a folder that no guest can write to, where what guests returned is put.
  Examination(TaskFacts& facts, std::filesystem::path candidate, std::filesystem::path results, int threads,
              TimeLimits limits, Verdict& verdict)
      : facts_(facts),
        candidate_(std::move(candidate)),
        results_(std::move(results)),
        threads_(threads),
        limits_(limits),
        verdict_(verdict) {}

  // Each step returns false when the verdict is settled (refused); an Error when the judge itself fails.
  Result<bool> load(Guest& guest, const std::string& state = "first");
  Json load_request(Guest& guest);
  // Runs a draw and applies the rules to all its outputs. `state`: weights to load before, empty to leave them.
  Result<bool> run(Guest& guest, const std::string& draw, const std::string& state = "", int calls = 2);
  // Runs a draw on arguments that held another draw's values for an earlier call, changed where they lie.
  Result<bool> run_after(Guest& guest, const std::string& previous, const std::string& draw);
  Result<bool> set_state(Guest& guest, const std::string& state, const std::string& how);
  // Arguments of other sizes, or other numbers: right, or a clear error.
  Result<bool> other_arguments(Guest& guest, const std::string& draw);
  // In another program: right, or a clear error.
  struct Elsewhere {
    bool gradients = false;  // they are recorded
    int threads = 0;         // so many, instead of the judge's
  };
  Result<bool> right_elsewhere(Guest& guest, const std::string& draw, const Elsewhere& where);
  // Does a call on `second` leave the arguments of the one before, on `first`, as they were?
  Result<bool> spares_old_arguments(Guest& guest, const std::string& first, const std::string& second);
  // Is a result its caller's? It writes to it, and the same call is right once more.
  Result<bool> gives_results_away(Guest& guest, const std::string& draw);
  // Another instance, a "copy" or a "new" one, stands in for the one that is judged, and has its weights; or that comes
  // "back", and has those of the state `now`. False when there is none.
  Result<bool> stands_in(Guest& guest, const std::string& how, const std::string& now);
  // A call whose results nobody reads: whatever becomes of it is no evidence.
  Status called_unread(Guest& guest, const std::string& draw, const std::string& state);
  Result<bool> stays_quiet(Guest& guest);
  Result<bool> profile(Guest& guest, const std::string& draw);
  // Compiles what a call would launch, for GPUs that are not here.
  Result<GuestReply> ahead(Guest& guest, const std::string& draw);

  // One call of the candidate: what every check and every measured time is made of. `check`: its results are measured.
  struct Call {
    std::string draw;
    bool check = true, same_addresses = false, poison = false, clean = false, late = false;
    bool keeps = false;  // the last call's arguments stay alive
    Elsewhere elsewhere = {};
    int index = 0;  // of the calls on this draw: torch's generator, and a state, go on from one to the next
    int glimpses = 0;
    double glimpsed_ms = 0;
  };
  // What it took; nothing when the candidate is refused.
  Result<std::optional<Performance>> perform(Guest& guest, const Call& call);
  // Which of many results go first.
  void drop_by(uint64_t seed) { rng_ = Rng(seed); }
  // How many of the last results whoever calls still holds: many where nobody measures what fresh memory costs.
  int held() const {
    if (facts_.huge()) return 1;
    if (facts_.large()) return 2;
    const bool timed = verdict_.stage == "timing" || verdict_.tier == Tier::screen;  // in the same process later
    return !timed && facts_.result_bytes() <= kSmallResults ? kManyResults : 3;
  }
  // State that the module itself changes is as it was before the first call.
  Result<bool> begin_anew(Guest& guest);
  // After calls that were checked: is the rest of its surroundings as it was? `all_calls`: as many as eager's were
  // made.
  Result<bool> left_alone(Guest& guest, const DrawFacts& facts, bool all_calls);

  // The rules, on what was measured of the results of call number `call` on a draw; where these refuse, with room for
  // sums in another order.
  Result<bool> judge_results(const DrawFacts& facts, const std::vector<Measurement>& outputs, const std::string& hash,
                             int call);

  // Any other request, within the limit of a call.
  Result<GuestReply> call(Guest& guest, const Json& request);
  // Does the file define kernels, as it reads?
  bool claims() const { return claims_; }
  // Has it a random generator of its own?
  bool draws_own_random() const { return own_random_; }
  // Were a draw's results right only as what is near zero by chance may be wrong?
  bool leaned_on_chance(const std::string& draw) const { return near_zero_.met(draw); }
  // What happens while it lives is no evidence: in the end the verdict, and what is known of results, are as before.
  class Aside {
   public:
    explicit Aside(Examination& examination)
        : examination_(examination),
          verdict_(examination.verdict_),
          seen_(examination.seen_),
          task_outputs_(examination.task_outputs_),
          own_random_(examination.own_random_) {}
    ~Aside() {
      examination_.verdict_ = std::move(verdict_), examination_.seen_ = std::move(seen_);
      examination_.task_outputs_ = std::move(task_outputs_), examination_.own_random_ = own_random_;
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    Examination& examination_;
    Verdict verdict_;
    std::map<std::string, std::string> seen_;
    std::vector<Measurement> task_outputs_;
    bool own_random_;
  };

  // Fills in the outcome of a candidate that `passed`, accuracy class, and the official and legacy verdicts.
  void conclude(bool passed);
  bool refuse(const std::string& reason, const std::string& message);

 private:
  double patience(const Guest& guest) const { return guest.warm ? limits_.call_seconds : limits_.first_seconds; }
  Result<bool> run_calls(Guest& guest, const std::string& draw, int calls, bool same_addresses);
  Result<bool> checked(Guest& guest, const DrawFacts& facts, const Performance& call, const std::filesystem::path& out,
                       int index);
  Status name_wrong(const DrawFacts& facts, Json request);
  Result<bool> checked_once(Guest& guest, const DrawFacts& facts, const Performance& call,
                            const std::filesystem::path& out, int index);
  Result<bool> first_results_stay(Guest& guest, const DrawFacts& facts);
  Result<bool> given_arguments(Guest& guest, const std::string& draw);
  struct Held;
  void hold(Held result);
  void drop(size_t index);
  // Before a call whose result is held, too: how far behind the last one that lies which goes; 0: the oldest will.
  int make_room();
  Result<bool> stays(Guest& guest, const Held& held);
  bool judge_call(const DrawFacts& facts, const std::vector<Measurement>& outputs, const std::string& hash, int call);
  std::string refine(const std::string& reason, const std::string& draw, const std::string& hash) const;
  std::filesystem::path next_out() { return results_ / std::to_string(outs_++); }

  struct Held {
    std::shared_ptr<const Json> reply;  // which says where its results lie
    std::filesystem::path file;         // what they were (not on a GPU)
    std::string hash;
    // Tensors of it that may change by now, and those that may once the state is set: in eager they share memory, too.
    std::vector<bool> loose, aliases;
  };
  static constexpr const char* kArguments = ".arguments";  // see python/mtmc/wire/forms.py

  TaskFacts& facts_;
  std::filesystem::path candidate_, results_;
  int threads_;
  TimeLimits limits_;
  Verdict& verdict_;
  Rng rng_{0};
  int outs_ = 0;
  bool own_random_ = false;      // it has a random generator of its own
  std::string state_ = "first";  // which weights it has
  bool claims_ = false;
  std::string hash_;                         // of the results that were measured last
  std::vector<Held> held_;                   // results that the guest was told to keep, the oldest first
  std::map<std::string, std::string> seen_;  // hash of outputs -> the draw where they were right
  std::vector<Measurement> task_outputs_;    // on the task's own draws
  Budgets eager_budgets_;                    // for them
  NearZero near_zero_;                       // on all draws so far
};

}  // namespace mtmc
