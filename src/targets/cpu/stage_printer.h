// Prints the loops of one stage inside a tile.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "targets/cpu/expr_printer.h"
#include "targets/cpu/passes.h"

namespace mtmc {

// How an axis of a stage runs inside a tile: a fixed variable, or a loop from begin to end.
struct AxisLoop {
  std::string name, begin, end;
  int64_t extent = 1;  // of the whole axis
  int64_t length = 1;  // the most iterations of this loop
  bool fixed = false;
};

struct StagePlan {
  const Group* group = nullptr;
  const GroupStage* stage = nullptr;
  std::vector<AxisLoop> loops;         // one per axis, spatial then reduce
  std::map<int, std::string> offsets;  // see ExprPrinter::Context
  std::map<int, std::vector<int64_t>> strides;
  bool parallel = false;    // put `omp parallel for` on the outermost loop (a frame without shared axes)
  bool split = false;       // parallel partial results along the first reduce axis
  int unroll = 4;           // independent accumulators
  int preferred_axis = -1;  // vectorise this one
  std::optional<Tee> tee;
  std::vector<Ahead> ahead;
};

// What expressions of the stage are printed in: vector code along an axis, or with -1 scalar code.
ExprPrinter::Context context_of(const StagePlan& plan, int vector_axis);
std::string print_stage(const StagePlan& plan);

}  // namespace mtmc
