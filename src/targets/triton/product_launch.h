// What the launch of a product may compute beside it: stages that read its results where they are.
#pragma once
#include <optional>
#include <utility>

#include "targets/frame.h"

namespace mtmc::triton {

constexpr int64_t kTileRows = 128;  // of products whose tiles give parts of reductions
constexpr int64_t kBusyTiles = 96;  // that keep a GPU busy: fewer would be smaller ones

// Extents but those of 1, which not all stages have.
Shape long_axes(Shape shape);

// Is a stage computed element by element of the product that is stage `product`, reading what its launch makes (`made`,
// tensors) nowhere else than at the element's own place?
bool follows_product(const Group& group, size_t product, const GroupStage& stage, const std::vector<int>& made);

// Is a tensor made by stage `first` or a later one?
bool is_made_from(const Group& group, size_t first, int tensor);

// The axes (o, i) of an index o * extent(i) + i: groups and what is in them.
std::optional<std::pair<int, int>> outer_and_inner(const ExprP& index, const std::vector<int64_t>& extents);

}  // namespace mtmc::triton
