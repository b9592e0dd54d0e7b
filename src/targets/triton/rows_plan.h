// How a frame without a contraction is laid over a tile: which of the shared axes are rows, which axes are columns, and
// which reductions are loops within every lane.
#pragma once
#include <vector>

#include "targets/triton/launch.h"

namespace mtmc::triton {

// Axes of the launch: the frame's shared axes, then the inner axes that all its stages with inner axes have in common,
// then each sequential stage's reduce axes, and the inner ones of each whose short rows are written one by one.
struct RowsPlan {
  std::vector<int64_t> extents;
  int shared = 0, inner = 0;                 // how many
  std::vector<std::vector<int>> axes;        // stage first + i: axis of the launch for each of its axes
  std::vector<bool> sequential;              // stage first + i reduces in a loop of its own
  std::vector<bool> apart;                   // stage first + i: every lane writes its short row one by one
  std::vector<int> programs, rows, columns;  // axes by role; programs: one number a program
  bool flat_columns = false;                 // the columns are shared axes: programs divide them
  bool transposes = false;                   // rows are neighbours where it reads, columns where it writes
  int64_t row_count = 1, column_count = 1;
  int64_t apart_count = 1;       // of the programs' own axes: as often there are all rows and columns
  bool contiguous_rows = false;  // neighbours in memory are neighbouring rows
  bool windows_to_copy = false;  // lanes walk windows of what they copy (copy_launch.h)
  bool in_turn = false;          // running products of floats, and nothing that needs a whole row
};

constexpr int64_t kTransposed = 64;  // rows and columns of a tile that transposes

// `flat`: results are one run of lanes even where they could be rows and columns. Throws Unsupported where the stages'
// inner axes do not fit together.
RowsPlan plan_rows(const Group& group, const Frame& frame, bool flat = false);
// "rows", "block" and "warps" of the first version to try (rows_numbers.cpp).
Numbers default_numbers(const RowsPlan& plan, const Hardware& hardware);

}  // namespace mtmc::triton
