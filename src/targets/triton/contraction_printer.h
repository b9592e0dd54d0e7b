// Prints a contraction with its pointwise epilogue: tiles of M rows and N columns, a loop over blocks of K, products on
// the matrix units.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "targets/triton/launch.h"
#include "targets/triton/rectangle.h"
#include "targets/triton/stage_printer.h"

namespace mtmc::triton {

// What is multiplied. Operands in two parts are multiplied part by part: left and right are the high parts, and the low
// ones lie right behind them in memory. A right operand of f32 is split in the loop (splits_in_loop).
struct Products {
  ExprP left, right;
  bool two_part = false;
  int64_t promote =
      0;  // where operands have two parts: partial sums move to a second accumulator after so many elements of K
  std::vector<ExprP> live;  // where one of these is false there is no product: the right operand is zero
};

inline bool splits_in_loop(const Products& products) {
  return products.two_part && products.right->dtype == DType::f32 && products.right->kind == Expr::Kind::load;
}

// f32(e) of a half-precision e: products of such numbers are exact in f32, so the matrix units may take e itself.
ExprP narrow(const ExprP& expr);

class ContractionPrinter : public StagePrinter {
 public:
  // The frame's first stage is the contraction; all axes of its result are shared.
  ContractionPrinter(const Group& group, const Frame& frame, Products products, std::string name,
                     const Numbers& numbers, const Hardware& hardware);
  TritonLaunch run();
  // What is worth measuring, best guess first.
  const std::vector<Numbers>& candidates() const { return candidates_; }
  std::vector<Numbers> depths(const Numbers& now, const Hardware& hardware) const;

 private:
  void plan_axes();
  void neighbours_last();
  void header();
  // The loop over K (contraction_loop.cpp).
  void accumulate();
  void accumulate_at_once();
  void accumulate_split();
  void open_block(std::string step);
  ExprP operand_expr(bool left, ExprP part = nullptr) const;
  std::string operand(const ExprP& expr, bool left);
  std::optional<Rectangle> rectangle(const ExprP& expr, bool left) const;
  std::string rectangle_text(const Rectangle& view, bool left);
  void epilogue();
  void finish(const std::string& sums, const std::string& start);
  // Parts of reductions that a tile gives (contraction_parts.cpp).
  bool gives_part(int s) const { return !group_.stages[s].tile_rows.empty(); }
  void walk_tile(int s);
  void sum_tile(int s);
  void hold_columns(int s);
  void reduce_columns(int s);
  void fit_tile(Numbers& numbers) const;
  // Products that do not exist (contraction_live.cpp).
  void plan_live();
  int live_tap() const;
  std::string steps_of_k();
  std::optional<std::pair<int, int64_t>> phases_with_products(const ExprP& condition) const;
  std::string steps_if_any(const std::string& steps);
  bool is_dead() const;
  std::string without_dead(const std::string& left);
  void clear_dead(const std::string& sums);
  bool uses(const ExprP& e, const std::vector<int>& axes) const;
  // Results that lie between each other (contraction_phases.cpp).
  void find_phase();
  int find_tap(int64_t most);
  void plan_phases(const Numbers& numbers);
  void turn_to(int64_t phase, int64_t tap);
  void finish_phases();
  void finish_columns(const std::string& sums, const std::string& start);
  Value finished_tile(const std::string& sums);
  void put_interleaved(const std::string& values, const Lane& columns);
  int64_t extent_of(const std::vector<int>& axes) const;
  int64_t bytes_of_step() const;
  bool overlaps() const;

  const Frame& frame_;
  Products products_;
  std::vector<int> batch_, m_, n_, k_lane_, k_loop_;
  int64_t bm_ = 0, bn_ = 0, bk_ = 0, group_size_ = 8, warps_ = 4, stages_ = 3;
  bool by_columns_ = false;  // programs walk groups of columns of tiles, not of rows
  Tile left_, right_, result_;
  std::string m_start_, n_start_, k_start_;
  Rectangles rectangles_;
  int left_part_ = -1, right_part_ = -1;  // axes: which part of an operand
  int tile_axis_ = -1, row_axis_ = -1;    // axes, of parts of reductions: which tile of rows, and which row of it
  bool whole_rows_ = false;               // a tile has all columns of its rows
  int64_t columns_ = 1;                   // that a tile has at least: of groups that are reduced
  bool f32_ = false;                      // multiplied as f32
  bool splits_ = false;                   // the right operand is split in the loop
  int64_t programs_ = 1;
  // The axis along which results are neighbours in memory (-1: none, or that of the rows), and whether it is the last
  // of N. Else it numbers matrices: how many of them one program computes, in as many accumulators, and along which
  // axis of K (-1: none) a step multiplies several elements, of which they share operands.
  int phase_ = -1, tap_ = -1;
  bool within_ = false;
  int64_t phases_ = 1, taps_ = 1;
  std::vector<std::string> sums_;
  bool computes_left_ = false;                   // of what is multiplied in the loop, a left operand is not just loaded
  std::vector<std::pair<int, int64_t>> exists_;  // axes of the batch, and which of their elements have products
  std::vector<ExprP> live_;                      // conditions of products that could not become limits of loops
  std::map<int, ExprP> limits_;                  // axes of `k_loop_` that end earlier for some matrices
  std::map<int, std::string> counts_;            // the same, once they are printed
  std::vector<Numbers> candidates_;
};

TritonLaunch print_contraction(const Group& group, const Frame& frame, const Products& products,
                               const std::string& name, const Numbers& numbers, const Hardware& hardware);
std::vector<Numbers> contraction_candidates(const Group& group, const Frame& frame, const Products& products,
                                            const Hardware& hardware);
// `now` with other "stages"; none where K is one block.
std::vector<Numbers> contraction_depths(const Group& group, const Frame& frame, const Products& products,
                                        const Numbers& now, const Hardware& hardware);
// Is this stage computed of the rows that a product's tiles have (tile_sums.h, whole_rows.h)?
inline bool is_of_tile(const GroupStage& stage) { return !stage.tile_rows.empty() || !stage.in_tile.empty(); }
// Whether the frame is a contraction followed by pointwise stages that share all axes of its result.
bool is_contraction(const Group& group, const Frame& frame);

}  // namespace mtmc::triton
