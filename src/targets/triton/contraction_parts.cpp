// Parts of reductions along the rows of a product: each tile gives its own, of what it has in registers (tile_sums.h).
#include <algorithm>

#include "targets/triton/contraction_printer.h"
#include "targets/triton/tile_sums.h"

namespace mtmc::triton {

// A part's tile and the row in it are what the rows of the product's launch say they are.
void ContractionPrinter::walk_tile(int s) {
  if (tile_axis_ < 0) {
    ExprP row = index_constant(0);
    int64_t rows = 1;
    for (const int a : m_) row = row * index_constant(extents_[a]) + axis(a), rows *= extents_[a];
    tile_axis_ = static_cast<int>(extents_.size()), row_axis_ = tile_axis_ + 1;
    extents_.push_back(blocks(rows, kTileRows));
    extents_.push_back(kTileRows);
    stand_in(tile_axis_, row / index_constant(kTileRows));
    stand_in(row_axis_, row % index_constant(kTileRows));
  }
  axes_[s].back() = tile_axis_;
  axes_[s].push_back(row_axis_);
}

void ContractionPrinter::keep_tile_rows(std::vector<Numbers>& candidates) {
  std::vector<Numbers> kept;
  for (Numbers one : candidates) {
    one["m"] = kTileRows;
    if (std::find(kept.begin(), kept.end(), one) == kept.end()) kept.push_back(std::move(one));
  }
  candidates = std::move(kept);
}

void ContractionPrinter::sum_tile(int s) {
  const Value each = value(body(s), result_);
  if (each.dims != (kRows | kColumns)) throw Unsupported{"a part of what is the same along rows or columns"};
  const std::string live = result_.mask(kRows);
  const std::string part_of = live.empty() ? each.text : "tl.where(" + live + ", " + each.text + ", 0.0)";
  const ExprP tile = axis(tile_axis_), row = canonical(s, axis(stage(s).rank() - 1));
  const Value part = define(s, {"tl.sum(" + part_of + ", axis=0, keep_dims=True)", kColumns}, DType::f32);
  stand_in(tile_axis_, tile);  // one number, where the part is stored
  put(s, part, result_);
  stand_in(tile_axis_, row);
}

}  // namespace mtmc::triton
