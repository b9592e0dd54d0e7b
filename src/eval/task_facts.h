// What the referee knows about a task and its draws: kept for all candidates of the task.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "eval/judge.h"
#include "eval/judge_process.h"
#include "eval/process_judge.h"
#include "eval/rules.h"

namespace mtmc {

// Of a draw's name: "scaled-up" of "scaled-up-0".
std::string kind_of(const std::string& draw);

// What a process is told of values that it will get: nothing that is in them (python/mtmc/referee/lending.py).
struct Given {
  std::shared_ptr<const Json> form, values;  // without scalars; the scalars, for the moment of the call
  std::string fill;                          // the file of its tensors, below the folder of all tasks; empty on a GPU
  uint64_t seed = 0;                         // of torch's generator
};

struct DrawFacts {
  std::string name;                // KIND-INDEX of python/mtmc/referee/draws.py
  int calls = 2;                   // that eager made in a row
  bool in_a_row = false;           // do they have arguments of their own?
  bool repeats = true;             // the same call again gives the same answer: no state, no random numbers
  bool whole = true;               // are these budgets of its kind? Else of this draw alone
  bool own_errors = false;         // do they allow what eager errs on this very draw?
  Budgets budgets;                 // of its kind: what candidates are allowed
  Budgets eager;                   // of its kind: eager's own errors
  Budgets own;                     // of its kind: what these alone, or those of --accuracy, allow
  std::vector<std::string> notes;  // where limits come from, if not from eager's own errors
  bool usable = true;              // false: eager raises on it, or it proves nothing
  bool raised = false;             // eager does on it, or at least did once
  bool no_room = false;            // the memory is too small for it
  double eager_seconds = 0;        // of eager's own call on it
  std::vector<int> modified;       // arguments that eager itself changes
  std::vector<bool> loose;         // tensors of eager's result that may change while more calls are made
  std::vector<bool> aliases;       // they, and those that share memory with the module
  std::vector<bool> overlapping;   // eager's outputs that are expanded tensors
  // By output, call by call: the fractions of eager's dropout masks; empty where outputs show no masks.
  std::map<std::string, std::vector<Fractions>> chances;
  std::string random_state;  // of torch's generator after the calls; empty where more than one may be right
};

class TaskFacts {
 public:
  // Loads the task in the referee. Errors are the user's mistakes. `triton_seed`: where the referee puts what Triton
  // builds once for all kernels.
  static Result<TaskFacts> open(JudgeProcess& referee, const Task& task, const std::filesystem::path& folder,
                                const std::filesystem::path& triton_seed, const JudgeOptions& options);

  // An Error, too, where the module has not ended after a long time: then `endless` is this draw, the referee is
  // gone, and whoever opens the task again may leave its kind out.
  Result<const DrawFacts*> draw(const std::string& name);
  const std::optional<std::string>& endless() const { return endless_; }
  bool knows(const std::string& draw) const { return draws_.contains(draw); }
  void leave_out(const std::set<std::string>& kinds) { left_out_ = kinds; }
  // Of a draw on which eager raised: asked once more, is it a usable one?
  Result<bool> raises_no_more(const std::string& draw);
  // Its budget is that of its kind, whose draws take several times as long as it alone: most candidates do without.
  // False when it was before, has no budget of its own, or there is no room for its kind. The draw may turn out to
  // prove nothing.
  Result<bool> allow_whole_budget(const std::string& draw);
  // What eager errs on this very draw, however large: how exact any kernel can be depends on the values, too. False
  // when that was allowed before, or no such errors count.
  Result<bool> allow_own_errors(const std::string& draw);
  // Its kind's budget has room for half an ulp in the arguments and for sums in another order, too, and this draw's for
  // what they do to itself. False when it had before, or has no budget of its own. To find out costs as much as half of
  // a kind's draws: most candidates do without.
  Result<bool> allow_other_orders(const std::string& draw);
  // Up to `count` structured draws that count, in the judge's order: the `index`th of each kind.
  Result<std::vector<std::string>> structured(size_t count, int index = 0);
  const std::vector<std::string>& structured() const { return structured_; }  // all kinds, in the judge's order
  bool has_structured(const std::string& kind) const;
  // Kinds of draws on which candidates were judged before their whole budgets showed that they prove nothing.
  const std::set<std::string>& proving_nothing() const { return proving_nothing_; }
  // Do zeros, a constant or a copy of an input pass on these draws?
  Result<bool> degenerate(const std::vector<std::string>& draws);
  // The arguments of a draw. Those of timed calls are ready without their truth, which is computed when one is
  // measured.
  Result<const Given*> given(const std::string& draw);
  // What `given` calls those of call number `index` on a draw.
  std::string arguments_of(const std::string& draw, int index) const;
  // first, second, maybe lifted and nudged0, and moved-first and so on: of these the entries that calls of the module
  // change.
  const Given& state(const std::string& name) const { return states_.at(name); }
  // Do values pass through files that the keeper puts into processes? Else the referee writes to a GPU's memory itself.
  bool by_file() const { return !states_.at("first").fill.empty(); }
  const std::vector<std::string>& moving() const { return moving_; }  // their names
  const std::vector<int>& written() const { return written_; }  // tensors of the arguments that the module writes to
  bool moves() const { return !moving_.empty(); }
  // On a GPU: puts a draw, or state-NAME, where a process `who` wants it. A sentence when that cannot be; else empty.
  Result<std::string> fill(const std::string& name, const Json& places, const std::string& who);
  // Are arguments so large that few draws are made of them?
  bool large() const { return argument_bytes_ > kLargeArguments; }
  static constexpr double kLargeArguments = 64e6;
  // Of results of gigabytes the processes of a GPU hold as few beside each other as they can.
  bool huge() const { return result_bytes_ > kHugeResults; }
  static constexpr double kHugeResults = 2e9;
  bool giant() const { return result_bytes_ > kGiantResults; }
  static constexpr double kGiantResults = 5e9;
  // These timed draws will not come again.
  Status forget_timed(const std::vector<std::string>& names);
  // Somebody else lacks memory of the GPU: the referee drops all that it can make again. In bytes.
  Result<double> spare_memory();
  // No more is asked of the task: the referee drops it.
  Status close();
  // What the referee says of a call's results, or of a state: "measure", "unchanged", "digest" (referee.py).
  Result<Json> ask(Json request);
  // What a call may return, its state included, before nobody reads it any more.
  double most_bytes() const { return 4 * (result_bytes_ + argument_bytes_) + 64e6; }

  // Of arguments, weights and results.
  double nominal_bytes() const { return nominal_bytes_; }
  // Those of them that any correct result must touch. The first time it takes a dozen calls for each large operand.
  Result<double> needed_bytes();

  const std::filesystem::path& folder() const { return folder_; }
  const std::string& mode() const { return mode_; }
  const std::vector<std::string>& by_name() const { return by_name_; }  // the last arguments
  const std::vector<std::string>& files() const { return files_; }
  // Kinds of draws with other sizes or other numbers than the task's: a clear error is fine.
  const std::vector<std::string>& others() const { return others_; }
  const std::vector<std::string>& asked() const { return asked_; }        // packages that the task's own code asks for
  const std::vector<std::string>& imported() const { return imported_; }  // modules of installed packages, by it
  bool has_weights() const { return weights_ > 0; }
  // Further states, each with a kind of draws: "lifted", where parameters are so small that what they scale could be
  // left out, has larger ones; "nudged0" and so on have a few other elements (not of weights of more than 256 MB).
  bool has_state(const std::string& name) const { return states_.contains(name); }
  std::vector<std::string> nudged() const;
  bool returns_few() const { return returned_bytes_ <= kFewResults; }
  static constexpr double kFewResults = 256;  // bytes
  double eager_seconds() const { return eager_seconds_; }
  // On a draw, if it is known by now: degenerate matrices may take a solver many times as long as the task's own.
  double eager_seconds(const std::string& draw) const;
  double draw_seconds() const { return draw_seconds_; }  // at least, to make a draw with eager's results and the truth
  bool full() const { return full_; }                    // are draws forgotten by now to make room for others?
  double result_bytes() const { return result_bytes_; }  // the state's included
  double weight_bytes() const { return weight_bytes_; }
  double argument_bytes() const { return argument_bytes_; }

 private:
  Status complete(DrawFacts& facts);

  JudgeProcess* referee_ = nullptr;
  std::filesystem::path folder_;
  std::string mode_;
  std::vector<std::string> by_name_, structured_, others_, files_, asked_, imported_, moving_;
  std::vector<int> written_;
  int weights_ = 0;
  bool strict_ = false, full_ = false;
  double patience_ = 0, eager_seconds_ = 0, draw_seconds_ = 0, argument_bytes_ = 0, result_bytes_ = 0,
         weight_bytes_ = 0, returned_bytes_ = 0, nominal_bytes_ = 0;
  std::map<std::string, Given> given_, states_;
  bool on_gpu_ = false;
  std::map<std::string, DrawFacts> draws_;
  std::set<std::string> other_orders_;  // draws for which allow_other_orders was asked
  std::set<std::string> proving_nothing_, left_out_;
  std::optional<std::string> endless_;
  std::optional<bool> degenerate_;
  std::optional<double> needed_bytes_;
};

}  // namespace mtmc
