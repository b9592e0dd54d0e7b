// Wraps a coder and spoils its work at given rates: compile errors, wrong results, crashes and hangs, as a careless
// author would make them. The judge's tests and the policy's training need failures.
#pragma once
#include <memory>
#include <string>

#include "coder/coder.h"

namespace mtmc {

// Shares of implementations, together at most 1.
struct FaultRates {
  double compile = 0, wrong = 0, crash = 0, hang = 0;
};

enum class Fault { none, compile, wrong, crash, hang };
std::string name(Fault fault);  // the judge's word for it: "compile-error", "wrong-result", "crashed", "timed-out"

// The text of a kernel file with one fault in it: in its C++ source where it has one, else in its forward. A Program
// printed by the null target gets the line `# fault: WORD`, which the cost judge reads. `choice` picks among the ways
// and places of a fault.
std::string inject(const std::string& text, Fault fault, uint64_t choice);

class FaultyCoder final : public Coder {
 public:
  FaultyCoder(std::unique_ptr<Coder> inner, FaultRates rates, uint64_t seed)
      : inner_(std::move(inner)), rates_(rates), seed_(seed) {}
  std::string name() const override { return inner_->name() + "+faults"; }
  // The fault depends on the seed, the state's code and the action only: a resumed run meets the same ones.
  Result<Implementation> implement(const CoderRequest& request) override;
  bool measures() const override { return inner_->measures(); }
  bool prepares() const override { return inner_->prepares(); }
  Status prepare(const CoderRequest& request) override { return inner_->prepare(request); }
  Status stop_preparing() override { return inner_->stop_preparing(); }

 private:
  std::unique_ptr<Coder> inner_;
  FaultRates rates_;
  uint64_t seed_;
};

}  // namespace mtmc
