// The short measured tuning inside a step: several versions of one kernel are built in parallel and timed one after the
// other. Its times only order versions among themselves; they are never reported as results.
#pragma once
#include <signal.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "base/tempdir.h"
#include "eval/judge.h"
#include "ir/type.h"

namespace mtmc {

struct Measured {
  std::optional<double> ms;  // median of a call; absent: it did not build or run, or was too slow to go on with
  std::string note;          // why there is no time
};

// A Python expression over torch, F, and tensors x0, x1, ... of these types.
struct LibraryCall {
  std::string text;
  std::vector<TensorType> inputs;
};

// The largest products need half of it when all is cold.
inline constexpr double kBuildSeconds = 30;
inline constexpr const char* kNotInTime = "it did not compile in time";  // the note of a version then

class Tuner {
 public:
  virtual ~Tuner() = default;
  // One answer per module text (each defines ModelNew without constructor arguments). `inputs`: types of forward's
  // arguments, filled with random values. What is not built after `build_seconds` (kBuildSeconds at most) is left out.
  // An Error: this machine cannot tune, or the versions harmed the process.
  virtual Result<std::vector<Measured>> measure(const std::vector<std::string>& modules,
                                                const std::vector<TensorType>& inputs, double seconds,
                                                double build_seconds) = 0;
  // Does it prepare? The words are those of a coder (see coder.h).
  virtual bool prepares() const { return false; }
  // A hint: these may be measured soon. They are compiled meanwhile.
  virtual Status prepare(const std::vector<std::string>&, const std::vector<TensorType>&) { return ok_status(); }
  virtual Status stop_preparing() { return ok_status(); }
  // A hint: a task whose arguments, weights and results take so many bytes is worked on from now on.
  virtual Status make_room(int64_t) { return ok_status(); }
  // Of each call, which may be in TF32: does torch compute it in full f32 here? Not known is no.
  virtual Result<std::vector<bool>> in_full_f32(const std::vector<LibraryCall>& calls) {
    return std::vector<bool>(calls.size(), false);
  }
};

// python/mtmc/tune/tuner.py: a process with torch loaded, started at the first use and again after a version harmed it.
class PythonTuner final : public Tuner, public Bystander {
 public:
  // `device`: cpu or cuda, where the versions run.
  explicit PythonTuner(std::string device = "cpu") : device_(std::move(device)) {}
  Result<std::vector<Measured>> measure(const std::vector<std::string>& modules, const std::vector<TensorType>& inputs,
                                        double seconds, double build_seconds) override;
  // Not on a CPU: the cores that would compile are those that others are timed on.
  bool prepares() const override { return device_ != "cpu"; }
  Status prepare(const std::vector<std::string>& modules, const std::vector<TensorType>& inputs) override;
  Status stop_preparing() override;
  Status make_room(int64_t task_bytes) override;
  Result<std::vector<bool>> in_full_f32(const std::vector<LibraryCall>& calls) override;
  // The process and all that compile for it.
  void pause() override {
    if (process_) process_->signal(SIGSTOP);
  }
  void resume() override {
    if (process_) process_->signal(SIGCONT);
  }
  // Starts the process now, so that importing torch overlaps with other work.
  Status warm_up();

 private:
  Result<Json> request(const std::vector<std::string>& modules, const std::vector<TensorType>& inputs);

  std::string device_;
  std::optional<LineProcess> process_;
  TempDir folder_;
  int files_ = 0;
};

}  // namespace mtmc
