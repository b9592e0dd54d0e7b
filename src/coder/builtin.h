// The builtin coder: deterministic, offline. Applies the action to the Program, gives every kernel that it changed its
// numbers (the target's candidates in the cost model's order, then a short measured tuning) and prints the result.
#pragma once
#include <string>
#include <vector>

#include "coder/coder.h"
#include "coder/tuner.h"

namespace mtmc {

struct BuiltinOptions {
  double tune_seconds = 1.5;  // of measuring per step; 0: the cost model's first guess is taken
  int versions = 8;           // the most versions of one kernel to build
  bool paper_only = false;
};

class BuiltinCoder final : public Coder {
 public:
  // `tuner` null: nothing is measured. All references must outlive the coder.
  BuiltinCoder(const TargetDef& target, const Hardware& hardware, const ModuleShell& shell, Store& store, Tuner* tuner,
               BuiltinOptions options = {})
      : target_(target), hardware_(hardware), shell_(shell), store_(store), tuner_(tuner), options_(options) {}
  std::string name() const override { return "builtin"; }
  Result<Implementation> implement(const CoderRequest& request) override;
  bool declines(const CoderRequest& request) override { return !plan(request).ok(); }
  bool measures() const override { return tuner_ != nullptr && options_.tune_seconds > 0; }
  bool prepares() const override { return tuner_ != nullptr && tuner_->prepares(); }
  Status prepare(const CoderRequest& request) override;
  Status stop_preparing() override { return prepares() ? tuner_->stop_preparing() : ok_status(); }

 private:
  using Numbers = std::map<std::string, int64_t>;
  // The Program after the action, and what is to be tuned in it.
  struct Plan {
    Program after;
    std::map<std::string, Numbers> known;                // by tuning problem, from the state before
    std::map<std::string, std::vector<size_t>> kernels;  // tuning problem -> kernels of `after`
    double open() const;                                 // how many problems are not known
  };
  // Versions of one kernel that differ in their text, each a module of its own.
  struct Versions {
    std::vector<Numbers> numbers;
    std::vector<std::string> modules;
    std::vector<TensorType> inputs;
    std::string problem;  // names it by what would be compiled, and where
  };
  struct Chosen {
    Numbers numbers;
    std::string note;  // JSON text: versions and their times
  };
  Result<Plan> plan(const CoderRequest& request) const;
  bool only_measures(Program before, Program after) const;
  Status refuse_same_code(const Program& before, const Program& after, const std::string& text) const;
  Result<Versions> versions(const Program& program, const Kernel& kernel) const;
  bool tunes(const Versions& versions) const;
  Result<Chosen> choose(const Program& program, const Kernel& kernel, double seconds, double build_seconds);
  Result<Chosen> measure(const Versions& versions, double seconds, double build_seconds);

  const TargetDef& target_;
  const Hardware& hardware_;
  const ModuleShell& shell_;
  Store& store_;
  Tuner* tuner_;
  BuiltinOptions options_;
};

}  // namespace mtmc
