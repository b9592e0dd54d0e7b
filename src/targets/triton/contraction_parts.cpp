// Parts of reductions along the rows of a product: each tile gives its own, of what it has in registers (tile_sums.h).
#include <algorithm>

#include "targets/triton/contraction_printer.h"
#include "targets/triton/product_launch.h"

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

// The axes of a stage whose rows a tile holds whole are those of the product, or say where in one of them it is.
void ContractionPrinter::hold_columns(int s) {
  const std::vector<int64_t> extents = stage(s).extents();
  std::vector<ExprP> to;
  for (const int a : axes_[first_]) to.push_back(a < 0 ? index_constant(0) : axis(a));
  axes_[s].clear();
  for (size_t a = 0; a < extents.size(); ++a) {
    const ExprP at = simplify(substitute_axes(group_.stages[s].in_tile[a], to), extents_);
    if (at->kind == Expr::Kind::axis || extents[a] == 1) {
      axes_[s].push_back(extents[a] == 1 ? -1 : at->axis);
      continue;
    }
    axes_[s].push_back(static_cast<int>(extents_.size()));
    extents_.push_back(extents[a]);
    stand_in(axes_[s].back(), at);
  }
  if (!is_reduction(stage(s).combine)) return;
  const int64_t reduced = product(stage(s).reduce);
  whole_rows_ = whole_rows_ || reduced == extent_of(n_);
  columns_ = std::max(columns_, power_of_two(reduced));
}

// A tile has the rows of a part, and all columns that are reduced together.
void ContractionPrinter::fit_tile(Numbers& numbers) const {
  constexpr int64_t kOfFourWarps = 128 * 128;
  if (tile_axis_ >= 0) numbers["m"] = kTileRows;
  if (numbers["n"] >= columns_) return;
  numbers["n"] = columns_;
  if (2 * columns_ > kTileRows) numbers["m"] = std::min(numbers["m"], kTileRows);
  if (numbers["m"] * columns_ > kOfFourWarps) numbers["warps"] = 8;
}

void ContractionPrinter::reduce_columns(int s) {
  const Stage& one = stage(s);
  Value each = value(body(s), result_);
  if (each.dims != (kRows | kColumns)) throw Unsupported{"a reduction of what is the same along rows or columns"};
  const auto reduced = [&](const std::string& values, const char* dim) {
    if (one.combine == Combine::sum) return "tl.sum(" + values + ", axis=" + dim + ", keep_dims=True)";
    const std::string helper = one.combine == Combine::max ? "_maximum" : "_minimum";
    need(helper);
    return "tl.reduce(" + values + ", " + dim + ", " + helper + ", keep_dims=True)";
  };
  if (product(one.reduce) == extent_of(n_)) {
    if (const std::string live = result_.mask(kColumns); !live.empty())
      each.text = "tl.where(" + live + ", " + each.text + ", " + number_text(*neutral(one.combine, DType::f32)) + ")";
    keep(s, {reduced(each.text, "1"), kRows}, DType::f32, result_);
    return;
  }
  const auto text = [](int64_t n) { return std::to_string(n); };
  const int64_t columns = result_.columns.block, width = product(one.reduce);
  const std::string groups = "[" + text(bm_) + ", " + text(columns / width) + ", " + text(width) + "]";
  const std::string whole = "[" + text(bm_) + ", " + text(columns) + "]";
  const std::string sums = reduced("tl.reshape(" + each.text + ", " + groups + ")", "2");
  keep(s, {"tl.reshape(tl.broadcast_to(" + sums + ", " + groups + "), " + whole + ")", kRows | kColumns}, DType::f32,
       result_);
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
