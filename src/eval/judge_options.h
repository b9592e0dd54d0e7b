// What a judge is told, and the name of what it does with it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/judge.h"

namespace mtmc {

// Version of the rules and of the machinery: verdicts of different versions are not compared.
inline constexpr const char* kEvaluator = "judge 51";

// The same of the judge that trusts (trusting_judge.h).
inline constexpr const char* kTrusting = "trusting judge 1";

// What a kernel may err: eager, as much as the module itself; strict, as fp32 throughout; tf32, as the module with its
// matrix products in TF32.
enum class Accuracy { eager, strict, tf32 };
std::string to_string(Accuracy accuracy);
Accuracy accuracy_named(std::string_view name);

// A call may take so many times as long as eager's own, beside what `call_seconds` says.
inline constexpr double kTimesEager = 20;

struct JudgeOptions {
  std::string python;                       // empty: $MTMC_PYTHON, else python3
  std::filesystem::path source;             // the folder that holds the package mtmc; empty: this source tree's
  int threads = 0;                          // of every side; 0: all cores
  uint64_t seed = 0;                        // of all hidden draws; 0: drawn from the system
  std::string device = "cpu";               // cpu or cuda: where task, candidate and baselines run
  std::vector<std::string> baselines = {};  // timed beside eager: compile, max-autotune, graph; made once per task
  bool screens_wait = false;                // for those; certifications always do
  Accuracy accuracy = Accuracy::eager;
  bool measures_on = true;      // where an interval is wide, for as long as it pays
  bool trusts = false;          // candidates are run in one process with the truth: see trusting_judge.h
  bool freeze_weights = false;  // candidates may pack weights once; the verdict carries `frozen-weights`
  std::string sandbox;          // the strongest level to use: namespaces or rlimits; empty: what the machine has
  // What caches may hold: a call that must touch less proves nothing by its speed. Half as much is swept before a call.
  double cache_bytes = 128 << 20;
  size_t memory_bytes = 0;          // a candidate's limit; 0: three quarters of the machine's
  std::vector<std::string> hidden;  // files that are empty for candidates: keys
  double load_seconds = 180;        // limit on import and compilation
  double call_seconds = 20;         // limit on a call, beyond kTimesEager of the task's own and of the draw's
  double draw_seconds = 120;        // on a draw of the referee's, beyond 50 times the quickest one: longer is endless
  Bystander* bystander = nullptr;   // must outlive the judge's work
  std::function<void(const std::string&)> told = {};  // see Judge::tell
};

// What may be timed beside eager; graph is eager captured in one CUDA graph.
inline const std::vector<std::string> kBaselines = {"compile", "max-autotune", "graph"};
// The device to judge on where none was named: cuda when this machine has one and the candidate is written for it.
std::string device_for(std::string_view candidate);
bool has_gpu();

// A seed that the system draws for 0.
uint64_t seed_or_any(uint64_t seed);

// kEvaluator and the options that change what is certified.
std::string evaluator_of(const JudgeOptions& options);

}  // namespace mtmc
