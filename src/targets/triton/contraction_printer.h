// Prints a contraction with its pointwise epilogue: tiles of M rows and N columns, a loop over blocks of K, products on
// the matrix units.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "targets/triton/launch.h"
#include "targets/triton/rectangle.h"
#include "targets/triton/stage_printer.h"

namespace mtmc::triton {

// What is multiplied. Numbers that are split in a high and a low part are multiplied part by part: left and right are
// the high ones, and the low ones lie right behind them in memory.
struct Products {
  ExprP left, right;
  bool halves = false;
  int64_t promote = 0;  // of halves: partial sums move to a second accumulator after so many elements of K
};

// f32(e) of a half-precision e: products of such numbers are exact in f32, so the matrix units may take e itself.
ExprP narrow(const ExprP& expr);

class ContractionPrinter : public StagePrinter {
 public:
  // The frame's first stage is the contraction; all axes of its result are shared.
  ContractionPrinter(const Group& group, const Frame& frame, Products products, std::string name,
                     const Numbers& numbers);
  TritonLaunch run();
  // Whether the results of two phases lie between each other in memory, so that one program may compute both.
  bool has_phases() const { return phase_ >= 0; }

 private:
  void plan_axes();
  // Phases (contraction_phases.cpp).
  int find_phase() const;
  int find_tap();
  void plan_phases(int64_t phases, int64_t taps);
  void turn_to(int64_t phase, int64_t tap);
  void interleave();
  void header();
  // The loop over K (contraction_loop.cpp).
  void accumulate();
  void open_block(std::string step);
  ExprP operand_expr(bool left) const;
  std::string operand(const ExprP& expr, bool left);
  std::optional<Rectangle> rectangle(const ExprP& expr, bool left) const;
  std::string rectangle_text(const Rectangle& view, bool left);
  void epilogue();
  int64_t extent_of(const std::vector<int>& axes) const;

  const Frame& frame_;
  Products products_;
  std::vector<int> batch_, m_, n_, k_lane_, k_loop_;
  int64_t bm_ = 0, bn_ = 0, bk_ = 0, group_size_ = 8, warps_ = 4, stages_ = 3;
  Tile left_, right_, result_;
  std::string m_start_, n_start_, k_start_;
  Rectangles rectangles_;
  int left_part_ = -1, right_part_ = -1;  // axes: which half of an operand
  bool f32_ = false;
  int64_t programs_ = 1;
  // Of two phases: the axis that numbers them, and the axis of K along which both read the same elements (-1: none);
  // how many of either one program and one of its steps multiply; accumulators.
  int phase_ = -1, tap_ = -1;
  int64_t phases_ = 1, taps_ = 1;
  std::vector<std::string> sums_;
};

TritonLaunch print_contraction(const Group& group, const Frame& frame, const Products& products,
                               const std::string& name, const Numbers& numbers);
std::vector<Numbers> contraction_candidates(const Group& group, const Frame& frame, const Products& products);
// Whether the frame is a contraction followed by pointwise stages that share all axes of its result.
bool is_contraction(const Group& group, const Frame& frame);

}  // namespace mtmc::triton
