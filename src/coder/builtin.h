// The builtin coder: deterministic, offline. Applies the action to the Program, gives every kernel that it changed its
// numbers (the target's candidates in the cost model's order, then a short measured tuning) and prints the result.
#pragma once
#include <string>
#include <vector>

#include "coder/coder.h"
#include "coder/tuner.h"
#include "ir/hardware.h"
#include "store/store.h"

namespace mtmc {

struct BuiltinOptions {
  double tune_seconds = 1.5;  // of measuring per step; 0: the cost model's first guess is taken
  int versions = 5;           // the most versions of one kernel to build
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

 private:
  struct Chosen {
    std::map<std::string, int64_t> numbers;
    std::string note;  // JSON text: versions and their times
  };
  Status refuse_same_code(const Program& before, const Program& after, const std::string& text) const;
  Result<Chosen> choose(const Program& program, const Kernel& kernel, const std::string& key, double seconds);
  Result<Chosen> measure(const Program& program, const Kernel& kernel,
                         const std::vector<std::map<std::string, int64_t>>& versions, double seconds);

  const TargetDef& target_;
  const Hardware& hardware_;
  const ModuleShell& shell_;
  Store& store_;
  Tuner* tuner_;
  BuiltinOptions options_;
};

}  // namespace mtmc
