#include "targets/triton/tile_sums.h"

#include <algorithm>
#include <optional>

#include "targets/triton/packer.h"
#include "targets/triton/product_launch.h"
#include "targets/triton/split.h"
#include "targets/triton/tile.h"

namespace mtmc::triton {
namespace {

bool in(const std::vector<int>& list, int a) { return std::find(list.begin(), list.end(), a) != list.end(); }

// How a reduction walks the tensor that a product's launch makes.
struct Walk {
  Shape shape;                  // of the tensor
  std::vector<ExprP> read;      // the index of each dimension, over the reduction's axes
  std::vector<int> rows;        // dimensions that it reduces whole, of the product's M
  std::vector<int> reduced;     // its axes along them
  std::vector<int> of_product;  // and the product's
  std::vector<ExprP> axis_at;   // each other axis of it over the dimensions; null: it has nothing to do with them

  int64_t row_count() const { return product(shape, rows); }
};

class TileSums {
 public:
  explicit TileSums(const Group& group) : group_(group) {
    result_.name = group.name;
    result_.tensors = group.tensors;
  }

  Group run() {
    const std::vector<GroupStage>& stages = group_.stages;
    for (size_t s = 0; s < stages.size(); ++s) {
      if (stages[s].contraction && stages[s].place.empty()) {
        product_ = s, last_ = end_of_launch(s), rows_.clear();
      } else if (product_ && s == last_ + 1) {
        if (const size_t cut = reduction(s); cut > 0) {
          s += cut - 1, last_ += cut;  // another one may follow
          continue;
        }
      }
      combine();
      result_.stages.push_back(stages[s]);
    }
    combine();
    return std::move(result_);
  }

 private:
  // Parts stand before what combines any of them: they are one launch with their product.
  void combine() {
    for (GroupStage& one : combinations_) result_.stages.push_back(std::move(one));
    combinations_.clear();
  }

  // The last stage that is computed element by element in the launch of a product.
  size_t end_of_launch(size_t product) {
    size_t last = product;
    made_ = {group_.stages[product].dest};
    while (last + 1 < group_.stages.size() && follows_product(group_, product, group_.stages[last + 1], made_))
      made_.push_back(group_.stages[++last].dest);
    return last;
  }

  // How many stages from `s` on became parts and their combination.
  size_t reduction(size_t s) {
    const std::vector<GroupStage>& stages = group_.stages;
    const GroupStage& one = stages[s];
    if (s + 1 < stages.size() && are_moments(one, stages[s + 1])) {
      const bool rest = s + 2 < stages.size() && is_rest(one, stages[s + 1], stages[s + 2]);
      const auto walk = walk_of(one, one.stage.body->args[0]);
      if (!walk || !same_for_a_row(one, one.stage.body->args[1])) return 0;
      moments(*walk, one, stages[s + 1], rest ? &stages[s + 2] : nullptr);
      return rest ? 3 : 2;
    }
    if (one.stage.combine != Combine::sum || one.contraction) return 0;
    const auto walk = walk_of(one, one.stage.body);
    if (!walk) return 0;
    const int parts = part(*walk, one, over_tile(*walk, one, one.stage.body));
    combined(*walk, one, read_part(*walk, one, parts));
    return 1;
  }

  static bool same_for_a_row(const GroupStage& one, const ExprP& e) {
    for (int a = one.stage.rank(); a < static_cast<int>(one.stage.extents().size()); ++a)
      if (uses_axis(e, a)) return false;
    return true;
  }

  std::optional<Walk> walk_of(const GroupStage& one, const ExprP& body) const {
    const Expr* read = read_of(body);
    if (!read || one.stage.body->dtype != DType::f32) return std::nullopt;
    Walk walk;
    walk.shape = result_.tensors[read->tensor].type.shape;
    walk.read = read->args;
    if (!place_axes(one.stage, walk) || !fills_tiles(walk)) return std::nullopt;
    if (!rows_.empty() && rows_ != walk.of_product) return std::nullopt;  // of another part of the same product
    return walk;
  }

  // The one element of what the launch makes that a body reads; null: several, some only where a guard holds, or none.
  const Expr* read_of(const ExprP& body) const {
    const Expr* read = nullptr;
    for (const Expr* e : loads_of(body)) {
      if (!in(made_, e->tensor)) {
        if (is_made_from(group_, *product_, e->tensor)) return nullptr;  // later than the product
        continue;
      }
      if (e->guard || (read && (read->tensor != e->tensor || !same(read->args, e->args)))) return nullptr;
      read = e;
    }
    return read;
  }

  // Says which dimensions are rows, and where each axis of a reduction is; whether it is known of all.
  bool place_axes(const Stage& s, Walk& walk) const {
    const std::vector<int> axes = axes_of_product();
    const std::vector<int64_t> extents = s.extents();
    walk.axis_at.resize(extents.size());
    std::vector<bool> known(extents.size(), false);
    const auto know = [&](int a, int64_t extent, const ExprP& at) {
      if (known[a] || extents[a] != extent) return false;
      known[a] = true, walk.axis_at[a] = at;
      return true;
    };
    auto of_product = axes.begin();
    for (int d = 0; d < static_cast<int>(walk.shape.size()); ++d) {
      const ExprP& e = walk.read[d];
      const int64_t extent = walk.shape[d];
      if (extent == 1) continue;
      const int axis_of_product = *of_product++;
      if (e->kind == Expr::Kind::axis) {
        if (!know(e->axis, extent, axis(d))) return false;
        if (e->axis >= s.rank() && in(contraction().m, axis_of_product))
          walk.rows.push_back(d), walk.reduced.push_back(e->axis), walk.of_product.push_back(axis_of_product);
        continue;
      }
      const auto along = outer_and_inner(e, extents);  // channels in groups, say
      if (!along) return false;
      const auto [outer, inner] = *along;
      const int64_t each = extents[inner];
      if (extent % each != 0 || !know(outer, extent / each, axis(d) / index_constant(each)) ||
          !know(inner, each, axis(d) % index_constant(each)))
        return false;
    }
    for (size_t a = 0; a < extents.size(); ++a)
      if (!known[a] && extents[a] > 1) return false;
    return true;
  }

  // Whether the last tiles are not idle for an eighth of the time, and there are enough of them to keep a GPU busy.
  bool fills_tiles(const Walk& walk) const {
    const int64_t rows = walk.row_count(), tiles = blocks(rows, kTileRows);
    int64_t matrices = 1, columns = 1;
    for (const int a : axes_of_product())
      if (!in(walk.of_product, a)) (in(contraction().n, a) ? columns : matrices) *= product_stage().stage.type.shape[a];
    return !walk.rows.empty() && 8 * tiles * kTileRows <= 9 * rows &&
           matrices * tiles * blocks(columns, kTileRows) >= kBusyTiles;
  }

  const GroupStage& product_stage() const { return group_.stages[*product_]; }
  const Contraction& contraction() const { return *product_stage().contraction; }
  // Those that are longer than 1.
  std::vector<int> axes_of_product() const {
    std::vector<int> axes;
    for (int a = 0; a < product_stage().stage.rank(); ++a)
      if (product_stage().stage.type.shape[a] > 1) axes.push_back(a);
    return axes;
  }

  static bool same(const std::vector<ExprP>& a, const std::vector<ExprP>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const ExprP& x, const ExprP& y) { return to_string(x) == to_string(y); });
  }

  // A part's axes: the dimensions that are not rows, if they are longer than 1, then the tile; along a row of it.
  std::vector<int> others(const Walk& walk) const {
    std::vector<int> all;
    for (int d = 0; d < static_cast<int>(walk.shape.size()); ++d)
      if (walk.shape[d] > 1 && !in(walk.rows, d)) all.push_back(d);
    return all;
  }
  // The dimensions over a part's axes.
  std::vector<ExprP> dimensions(const Walk& walk) const {
    std::vector<ExprP> at(walk.shape.size(), index_constant(0));
    const std::vector<int> whole = others(walk);
    for (size_t i = 0; i < whole.size(); ++i) at[whole[i]] = axis(static_cast<int>(i));
    ExprP rest = row(walk);
    for (size_t i = walk.rows.size(); i-- > 0;) {
      const ExprP extent = index_constant(walk.shape[walk.rows[i]]);
      at[walk.rows[i]] = i == 0 ? rest : rest % extent;
      rest = rest / extent;
    }
    return at;
  }
  ExprP row(const Walk& walk) const {
    const int tile = static_cast<int>(others(walk).size());
    return axis(tile) * index_constant(kTileRows) + axis(tile + 1);
  }
  // Null: all rows of all tiles are there.
  ExprP inside(const Walk& walk) const {
    const int64_t rows = walk.row_count();
    return rows % kTileRows == 0 ? nullptr : call(Fn::lt, {row(walk), index_constant(rows)});
  }
  // What the reduction combines, over a part's axes.
  ExprP over_tile(const Walk& walk, const GroupStage& one, const ExprP& body) const {
    const std::vector<ExprP> at = dimensions(walk);
    std::vector<ExprP> to;
    for (size_t a = 0; a < one.stage.extents().size(); ++a)
      to.push_back(walk.axis_at[a] ? substitute_axes(walk.axis_at[a], at) : index_constant(0));
    const ExprP live = inside(walk);
    const int along = static_cast<int>(others(walk).size()) + 1;
    return transform_loads(substitute_axes(body, to), [&](const ExprP& e) -> ExprP {
      const auto walks = [&](const ExprP& index) { return uses_axis(index, along); };
      if (!live || std::none_of(e->args.begin(), e->args.end(), walks)) return e;
      return load(e->tensor, e->dtype, e->args, e->guard ? call(Fn::logical_and, {live, e->guard}) : live,
                  e->other ? e->other : constant(e->dtype, 0));
    });
  }
  // How many rows a tile has.
  ExprP count(const Walk& walk, int tile) const {
    const int64_t rest = walk.row_count() % kTileRows;
    const auto number_of = [](int64_t n) { return number(static_cast<double>(n)); };
    if (rest == 0) return number_of(kTileRows);
    return select(call(Fn::lt, {axis(tile), index_constant(walk.row_count() / kTileRows)}), number_of(kTileRows),
                  number_of(rest));
  }

  // A stage of parts, whose `body` is over a part's axes; its tensor.
  int part(const Walk& walk, const GroupStage& whole, const ExprP& body) {
    GroupStage made = whole;
    made.contraction.reset();
    made.tile_rows = walk.of_product;
    Stage& s = made.stage;
    s.name += "_of_tile";
    s.type = {DType::f32, {}};
    for (const int d : others(walk)) s.type.shape.push_back(walk.shape[d]);
    s.type.shape.push_back(blocks(walk.row_count(), kTileRows));
    s.reduce = {kTileRows};
    const ExprP live = inside(walk);
    s.body = simplify(live ? select(live, body, neutral(s.combine, DType::f32)) : body, s.extents());
    result_.tensors.push_back({GroupTensor::Role::scratch, kNoValue, group_.tensors[whole.dest].name + "_of_tile",
                               s.type, contiguous_strides(s.type.shape), false});
    made.dest = static_cast<int>(result_.tensors.size()) - 1;
    rows_ = walk.of_product;
    result_.stages.push_back(std::move(made));
    return result_.stages.back().dest;
  }

  // The combination's axes: those of the reduction that are not along rows, then the tile.
  int tile_of(const Walk& walk, const GroupStage& one) const {
    return static_cast<int>(one.stage.extents().size() - walk.reduced.size());
  }
  ExprP read_part(const Walk& walk, const GroupStage& one, int parts) const {
    std::vector<ExprP> to, at;
    int next = 0;
    for (int a = 0; a < static_cast<int>(one.stage.extents().size()); ++a)
      to.push_back(in(walk.reduced, a) ? nullptr : axis(next++));
    for (const int d : others(walk)) at.push_back(substitute_axes(walk.read[d], to));
    at.push_back(axis(tile_of(walk, one)));
    return load(parts, DType::f32, at);
  }
  void combined(const Walk& walk, const GroupStage& whole, const ExprP& body) {
    GroupStage made = whole;
    made.contraction.reset();
    Stage& s = made.stage;
    std::vector<int64_t> reduce;
    for (size_t i = 0; i < s.reduce.size(); ++i)
      if (!in(walk.reduced, s.rank() + static_cast<int>(i))) reduce.push_back(s.reduce[i]);
    reduce.push_back(blocks(walk.row_count(), kTileRows));
    s.reduce = std::move(reduce);
    s.body = simplify(body, s.extents());
    combinations_.push_back(std::move(made));
  }

  void moments(const Walk& walk, const GroupStage& sum, const GroupStage& squares, const GroupStage* rest) {
    const Stage& s = sum.stage;
    const ExprP x = over_tile(walk, sum, s.body->args[0]), start = s.body->args[1];
    const int tile = static_cast<int>(others(walk).size());
    std::vector<ExprP> own;
    for (int a = 0; a <= tile; ++a) own.push_back(axis(a));
    const int sums = part(walk, sum, x);
    const ExprP difference = x - load(sums, DType::f32, own) / count(walk, tile);
    const int around = part(walk, squares, difference * difference);
    const int rests = rest ? part(walk, *rest, difference) : -1;
    // Sums are about zero in a tile, and about `start` in all.
    const ExprP many = count(walk, tile_of(walk, sum)), part_sum = read_part(walk, sum, sums);
    combined(walk, sum, part_sum - start * many);
    const ExprP mean =
        start + load(sum.dest, s.type.dtype, axes_to(s.rank())) / number(static_cast<double>(product(s.reduce)));
    const ExprP off = part_sum / many - mean;
    combined(walk, squares, read_part(walk, squares, around) + off * off * many);
    if (rest) combined(walk, *rest, read_part(walk, *rest, rests) + off * many);
  }

  const Group& group_;
  Group result_;
  std::optional<size_t> product_;  // the last one, and the last stage that may be in its launch
  size_t last_ = 0;
  std::vector<int> made_;  // what the launch makes
  std::vector<int> rows_;  // that the tiles of the product walk
  std::vector<GroupStage> combinations_;
};

}  // namespace

Group sum_in_tiles(const Group& group) { return TileSums(group).run(); }

bool combines_few_parts(const Group& group, size_t stage) {
  const Stage& s = group.stages[stage].stage;
  const auto loads = loads_of(s.body);
  return mtmc::product(s.reduce) <= kHeld && std::any_of(loads.begin(), loads.end(), [&](const Expr* e) {
           return std::any_of(group.stages.begin(), group.stages.begin() + static_cast<std::ptrdiff_t>(stage),
                              [&](const GroupStage& one) { return one.dest == e->tensor && !one.tile_rows.empty(); });
         });
}

void part_rows(Group& group) {
  GroupStage* product = nullptr;  // in whose launch a stage may be
  for (GroupStage& one : group.stages) {
    if (one.contraction) product = &one;
    if (one.tile_rows.empty() && product && long_axes(one.stage.type.shape) != long_axes(product->stage.type.shape))
      product = nullptr;
    if (one.tile_rows.empty() || product == nullptr) continue;
    std::vector<int>& m = product->contraction->m;
    for (const int a : m)
      if (!in(one.tile_rows, a)) product->contraction->batch.push_back(a);
    std::erase_if(m, [&](int a) { return !in(one.tile_rows, a); });
    std::sort(product->contraction->batch.begin(), product->contraction->batch.end());
  }
}

}  // namespace mtmc::triton
