// Is one candidate correct? Runs it on draws in a guest, has the referee measure, applies the rules, fills the verdict.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/guest.h"
#include "eval/task_facts.h"

namespace mtmc {

struct Limits {
  double load_seconds = 180;  // import, which may compile
  double call_seconds = 30;   // any later request
  double first_seconds = 30;  // a candidate's first call in a process, which may compile too
};

class Examination {
 public:
  Examination(TaskFacts& facts, std::filesystem::path candidate, int threads, Limits limits, Verdict& verdict)
      : facts_(facts), candidate_(std::move(candidate)), threads_(threads), limits_(limits), verdict_(verdict) {}

  // Each step returns false when the verdict is settled (refused); an Error when the judge itself fails.
  Result<bool> load(Guest& guest, const std::string& state = "first");
  Json load_request(Guest& guest, const std::string& state);
  // Runs a draw and applies the rules to all its outputs. `state`: weights to load before, empty to leave them.
  Result<bool> run(Guest& guest, const std::string& draw, const std::string& state = "", int calls = 2);
  // Runs a draw on arguments that held another draw's values for an earlier call.
  Result<bool> run_after(Guest& guest, const std::string& previous, const std::string& draw);
  Result<bool> set_state(Guest& guest, const std::string& state, const std::string& how);
  // Arguments of another shape: right, or a clear error.
  Result<bool> other_shape(Guest& guest, const std::string& draw);
  Result<bool> stays_quiet(Guest& guest);
  Result<bool> profile(Guest& guest, const std::string& draw);
  // Are the kernels that the file defines loaded at all and, where `pull` is set, does the answer depend on them?
  Result<bool> uses_kernels(Guest& guest, const std::string& draw, bool pull);
  // The first call of a new guest, with the file's kernels unplugged, must not be right.
  Result<bool> needs_kernels(Guest& guest, const std::string& draw);
  // Measures what a timed call returned.
  Result<bool> check_timed(Guest& guest, const std::string& draw);

  // Fills in the outcome of a candidate that `passed`, accuracy class, and the official and legacy verdicts.
  void conclude(bool passed);
  bool refuse(const std::string& reason, const std::string& message);
  const Limits& limits() const { return limits_; }

 private:
  Result<Answer> call(Guest& guest, const Json& request);
  Result<bool> run_request(Guest& guest, const std::string& draw, Json request);
  std::string shown_state(Guest& guest, const std::string& state) {
    return guest.show(facts_.folder() / ("state-" + state));
  }
  bool behaves(const DrawFacts& facts, const Json& reply);
  Result<bool> measured(const DrawFacts& facts, const std::filesystem::path& out, const Json& reply, bool timed);
  Result<bool> measured_once(const DrawFacts& facts, const std::filesystem::path& out, const Json& reply, bool timed);
  bool judge_call(const DrawFacts& facts, const std::vector<Measurement>& outputs, const std::string& hash, int call);
  std::string refine(const std::string& reason, const std::string& draw, const std::string& hash) const;
  std::filesystem::path next_out(const Guest& guest);

  TaskFacts& facts_;
  std::filesystem::path candidate_;
  int threads_;
  Limits limits_;
  Verdict& verdict_;
  int outs_ = 0;
  std::string ill_conditioned_;              // why no draw can prove the outputs right; empty when they can
  bool own_random_ = false;                  // it has a random generator of its own
  std::map<std::string, std::string> seen_;  // hash of outputs -> the draw where they were right
  std::vector<Measurement> task_outputs_;    // on the task's own draws
  Budgets eager_budgets_;                    // for them
};

}  // namespace mtmc
