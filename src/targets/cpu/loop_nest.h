// The loops of a stage: how they are nested, and how often each part of its body is computed in them.
#pragma once
#include <cstdint>
#include <vector>

#include "targets/cpu/stage_printer.h"

namespace mtmc {

// The axis along which vector code loads and stores best; -1 for scalar code.
int choose_vector_axis(const StagePlan& plan);

// The largest parts of `body` that compute something and move with none of the axes `inner` (a bit each), each once:
// what is computed before the loops over those begin. Compilers leave such parts where they are when they are calls, as
// exp is, or read what a store in the loop might change.
std::vector<ExprP> unchanging_parts(const ExprP& body, uint64_t inner);

class LoopNest {
 public:
  // Of a stage that runs once in each of `tiles` tiles.
  LoopNest(const StagePlan& plan, double tiles);
  // For how many elements a part that moves with these axes is computed: once for each step of the innermost loop over
  // one of them and of all loops around it. One number for a whole vector takes as long as the vector.
  double elements(uint64_t axes) const;

 private:
  struct Loop {
    uint64_t axis;
    double length;
  };
  double tiles_;
  std::vector<Loop> loops_;  // outermost first
  uint64_t vector_ = 0;      // 0: scalar code
};

}  // namespace mtmc
