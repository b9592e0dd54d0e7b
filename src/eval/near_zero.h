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
  // where there is too much on all draws so far, or on all of this kind.
  void note(const Measurement& m, const Budget& budget, OutputError& error);
  // Has a draw needed such room? Then others of its kind tell more.
  bool met(const std::string& draw) const;

 private:
  struct Draw {
    std::array<int64_t, Tail::kSteps> found = {};    // by step: beyond what there is room for without eager's error
    std::array<double, Tail::kSteps> expected = {};  // of those, by eager's error
  };
  using Draws = std::map<std::string, Draw>;
  static void hold(const Draws& draws, const std::string& kind, OutputError& error);  // those that begin so
  std::map<std::string, Draws> known_;                                                // by output
};

}  // namespace mtmc
