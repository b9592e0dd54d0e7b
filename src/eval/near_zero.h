// Rule (f) lets an element or two of an output err by all of themselves on a draw: near zero by chance. What is so on
// draw after draw is no chance: a small entry that is left out is wrong on all of them.
#pragma once
#include <array>
#include <map>
#include <string>

#include "eval/rules.h"

namespace mtmc {

class NearZero {
 public:
  // Notes one output on one draw; of a draw that was noted before, the new numbers count. `error.broken` becomes "f"
  // where there is too much on all draws so far.
  void note(const Measurement& m, const Budget& budget, OutputError& error);

 private:
  struct Draw {
    std::array<int64_t, Tail::kSteps> found = {};    // by step: beyond what there is room for without eager's error
    std::array<double, Tail::kSteps> expected = {};  // of those, by eager's error
  };
  std::map<std::string, std::map<std::string, Draw>> known_;  // output -> draw
};

}  // namespace mtmc
