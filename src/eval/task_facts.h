// What the referee knows about a task and its draws: kept for all candidates of the task.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/judge.h"
#include "eval/judge_process.h"
#include "eval/process_judge.h"
#include "eval/rules.h"

namespace mtmc {

struct DrawFacts {
  std::string name;  // KIND-INDEX of python/mtmc/draws.py
  uint64_t seed = 0;
  Budgets budgets;                // of its kind: what candidates are allowed
  Budgets eager;                  // of its kind: eager's own
  bool usable = true;             // false: eager raises on it, or it proves nothing
  std::vector<int> modified;      // arguments that eager itself changes
  bool aliases = false;           // eager's output shares memory with an argument or a weight
  std::vector<bool> overlapping;  // eager's outputs that are expanded tensors
  // By output, call by call: the fractions of eager's dropout masks; empty where outputs show no masks.
  std::map<std::string, std::vector<Fractions>> chances;
  std::string random_state;                // of torch's generator after the calls
  std::vector<std::string> changed_state;  // entries of the state that eager changes
};

class TaskFacts {
 public:
  // Loads the task in the referee. Errors are the user's mistakes. `triton_seed`: where the referee puts what Triton
  // builds once for all kernels.
  static Result<TaskFacts> open(JudgeProcess& referee, const Task& task, const std::filesystem::path& folder,
                                const std::filesystem::path& triton_seed, const JudgeOptions& options);

  Result<const DrawFacts*> draw(const std::string& name);
  // Up to `count` structured draws that count, in the judge's order: the `index`th of each kind.
  Result<std::vector<std::string>> structured(size_t count, int index = 0);
  // Do zeros, a constant or a copy of an input pass on these draws?
  Result<bool> degenerate(const std::vector<std::string>& draws);
  // Writes the arguments of a timed call to its draw_folder(); returns the seed of torch's generator. Their truth is
  // computed only when the call is measured.
  Result<uint64_t> prepare_timed(const std::string& name);
  // Arguments on a GPU that take too long to be written anew for every timed call: all but the first set's are written
  // as what differs from it.
  bool large() const { return on_gpu_ && argument_bytes_ > kLargeArguments; }
  static constexpr double kLargeArguments = 64e6;
  // These timed draws will not come again.
  Status forget_timed(const std::vector<std::string>& names);
  // `digests`: what must lie in `out`, with what the guest said of it when it saved it. `own_random`: the candidate
  // draws its own random numbers.
  Result<Json> measure(const std::string& draw, const std::filesystem::path& out, const Json& digests, bool own_random);

  struct Bytes {
    double needed = 0, nominal = 0;
  };
  Result<Bytes> bytes();

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path draw_folder(const std::string& name) const { return folder_ / "draws" / name; }
  const std::string& mode() const { return mode_; }
  const std::vector<std::string>& files() const { return files_; }
  int shapes() const { return shapes_; }
  bool has_weights() const { return weights_ > 0; }
  double eager_seconds() const { return eager_seconds_; }
  double argument_bytes() const { return argument_bytes_; }

 private:
  JudgeProcess* referee_ = nullptr;
  std::filesystem::path folder_;
  std::string mode_;
  std::vector<std::string> structured_, files_;
  int shapes_ = 0, weights_ = 0;
  double eager_seconds_ = 0, argument_bytes_ = 0;
  bool on_gpu_ = false;
  std::map<std::string, DrawFacts> draws_;
  std::optional<bool> degenerate_;
  std::optional<Bytes> bytes_;
};

}  // namespace mtmc
