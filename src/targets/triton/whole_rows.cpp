#include "targets/triton/whole_rows.h"

#include <algorithm>
#include <map>
#include <optional>

#include "targets/triton/product_launch.h"
#include "targets/triton/split.h"
#include "targets/triton/tile.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kLeastGroup = 8, kMostGroup = 128;  // columns of a group, a power of two
constexpr int64_t kNarrow = 64;                       // columns that are one tile in any case

using Places = std::vector<ExprP>;  // of a tensor's dimensions, or a stage's axes, over the product's axes

class Rows {
 public:
  Rows(Group& group, size_t product) : group_(group), product_(product), stage_(group.stages[product].stage) {}

  void run() {
    const Contraction& c = *group_.stages[product_].contraction;
    for (int a = 0; a < stage_.rank(); ++a) {
      if (stage_.type.shape[a] == 1) continue;
      long_.push_back(a);
      if (std::find(c.n.begin(), c.n.end(), a) == c.n.end()) continue;
      if (column_ >= 0) return;  // one axis of columns only
      column_ = a;
    }
    if (column_ < 0) return;
    size_t at = product_;
    std::vector<int> made;
    do {
      note(group_.stages[at], places_of_product(group_.stages[at].stage));
      made.push_back(group_.stages[at].dest);
    } while (++at < group_.stages.size() && group_.stages[at].tile_rows.empty() &&
             follows_product(group_, product_, group_.stages[at], made));
    std::optional<std::vector<GroupStage>> now;  // what the stages become; most products have no such stage behind them
    bool reduces = false;
    for (; at < group_.stages.size(); ++at) {
      const std::vector<GroupStage>& stages = now ? *now : group_.stages;
      std::optional<std::vector<GroupStage>> about;
      if (at + 1 < stages.size() && are_moments(stages[at], stages[at + 1])) {
        about = stages;
        if (!about_zero(*about, at)) break;
      }
      const auto places = places_of(about ? (*about)[at] : stages[at]);
      if (!places) break;
      if (about) now = std::move(about);
      if (!now) now = group_.stages;
      (*now)[at].in_tile = *places;
      note((*now)[at], *places);
      reduces |= is_reduction((*now)[at].stage.combine);
    }
    if (reduces) group_.stages = std::move(*now);
  }

 private:
  Places places_of_product(const Stage& s) const {
    Places places;
    auto axis_of_product = long_.begin();
    for (int a = 0; a < s.rank(); ++a)
      places.push_back(s.type.shape[a] == 1 ? index_constant(0) : axis(*axis_of_product++));
    return places;
  }

  bool is_plain(const GroupStage& one) const {
    return !one.contraction && one.place.empty() && !one.run_if && one.peak_tensor < 0 && one.producers == 0 &&
           one.tile_rows.empty();
  }
  void note(const GroupStage& one, Places places) {
    places.resize(one.stage.rank());
    made_[one.dest] = std::move(places);
  }

  // Each axis of a stage over the product's, where a tile can compute it.
  std::optional<Places> places_of(const GroupStage& one) const {
    const Stage& s = one.stage;
    if (!is_plain(one) || !(s.combine == Combine::none || s.combine == Combine::sum || s.combine == Combine::max ||
                            s.combine == Combine::min))
      return std::nullopt;
    const std::vector<int64_t> extents = s.extents();
    Places places(extents.size());
    std::vector<std::pair<ExprP, ExprP>> equal;  // an index, and what it is over the product's axes
    for (const Expr* e : loads_of(s.body)) {
      const auto made = made_.find(e->tensor);
      if (made == made_.end()) {
        if (is_made_from(group_, product_, e->tensor)) return std::nullopt;
        continue;
      }
      if (e->guard) return std::nullopt;
      for (size_t d = 0; d < e->args.size(); ++d) {
        equal.emplace_back(e->args[d], made->second[d]);
        learn(e->args[d], made->second[d], extents, places);
      }
    }
    for (size_t a = 0; a < extents.size(); ++a) {
      if (extents[a] == 1) places[a] = index_constant(0);
      if (!places[a] || extents[a] != reach(places[a])) return std::nullopt;
    }
    for (const auto& [index, wanted] : equal)
      if (to_string(simplify(substitute_axes(index, places), stage_.type.shape)) !=
          to_string(simplify(wanted, stage_.type.shape)))
        return std::nullopt;
    for (const int a : long_)  // what is the same for all rows belongs to no tile
      if (a != column_ && std::none_of(places.begin(), places.begin() + s.rank(), [&](const ExprP& place) {
            return place->kind == Expr::Kind::axis && place->axis == a;
          }))
        return std::nullopt;
    return is_reduction(s.combine) && !reduces_columns(s, places) ? std::nullopt : std::optional(places);
  }

  // How many values a place has: a slice of a row is no row of the tile.
  int64_t reach(const ExprP& place) const {
    if (is_constant(place)) return 1;
    if (place->kind == Expr::Kind::axis) return stage_.type.shape[place->axis];
    const bool parts = (place->fn == Fn::div || place->fn == Fn::mod) && place->args[0]->kind == Expr::Kind::axis &&
                       is_constant(place->args[1]);
    if (!parts) return 0;
    const int64_t each = place->args[1]->integer;
    return place->fn == Fn::mod ? each : stage_.type.shape[place->args[0]->axis] / each;
  }

  // axis = place, axis / c = place / c, or outer * c + inner = place.
  static void learn(const ExprP& index, const ExprP& place, const std::vector<int64_t>& extents, Places& places) {
    if (index->kind == Expr::Kind::axis) {
      if (!places[index->axis]) places[index->axis] = place;
      return;
    }
    if (place->kind != Expr::Kind::axis) {
      const auto quotient = [](const ExprP& e) {
        return e->kind == Expr::Kind::call && e->fn == Fn::div && e->args[0]->kind == Expr::Kind::axis &&
               is_constant(e->args[1]);
      };
      if (quotient(index) && quotient(place) && index->args[1]->integer == place->args[1]->integer)
        places[index->args[0]->axis] = place->args[0];
      return;
    }
    const auto along = outer_and_inner(index, extents);
    if (!along) return;
    const auto [outer, inner] = *along;
    const ExprP each = index_constant(extents[inner]);
    if (!places[outer]) places[outer] = place / each;
    if (!places[inner]) places[inner] = place % each;
  }

  // Whole rows, or groups of columns of which a tile has several.
  bool reduces_columns(const Stage& s, const Places& places) const {
    if (s.body->dtype != DType::f32 || s.type.dtype != DType::f32) return false;
    std::vector<int> reduced;
    for (int a = s.rank(); a < static_cast<int>(places.size()); ++a)
      if (s.extents()[a] > 1) reduced.push_back(a);
    if (reduced.size() != 1) return false;
    const int64_t columns = stage_.type.shape[column_], each = s.extents()[reduced[0]];
    const ExprP& place = places[reduced[0]];
    if (place->kind == Expr::Kind::axis) return place->axis == column_ && each == columns && fits_tile(columns);
    return columns % each == 0 && each >= kLeastGroup && each <= kMostGroup && power_of_two(each) == each &&
           place->kind == Expr::Kind::call && place->fn == Fn::mod && place->args[0]->axis == column_;
  }

  bool fits_tile(int64_t columns) const {
    int64_t rows = 1;
    for (const int a : long_)
      if (a != column_) rows *= stage_.type.shape[a];
    return columns <= kNarrow || (columns <= kWholeRow && rows >= kBusyTiles * kTileRows);
  }

  static bool reads(const ExprP& e, int tensor) {
    const auto loads = loads_of(e);
    return std::any_of(loads.begin(), loads.end(), [&](const Expr* one) { return one->tensor == tensor; });
  }

  // Moments about a row's first element become moments about zero, and so does what is made of them. False where that
  // element is not only read beside the mean of the differences from it.
  static bool about_zero(std::vector<GroupStage>& stages, size_t at) {
    const int sum = stages[at].dest;
    const auto is_mean = [&](const ExprP& e) {
      const auto is = [](const ExprP& one, Fn fn) { return one->kind == Expr::Kind::call && one->fn == fn; };
      return is(e, Fn::add) && is(e->args[1], Fn::div) && e->args[1]->args[0]->kind == Expr::Kind::load &&
             e->args[1]->args[0]->tensor == sum;
    };
    for (size_t s = at + 1; s < stages.size(); ++s) {
      ExprP& body = stages[s].stage.body;
      if (stages[s].contraction && reads(body, sum)) return false;  // what it multiplies is written down elsewhere, too
      const ExprP without = transform(body, [&](const ExprP& e) { return is_mean(e) ? constant(e->dtype, 0) : e; });
      if (reads(without, sum)) return false;
      body = transform(body, [&](const ExprP& e) { return is_mean(e) ? e->args[1] : e; });
    }
    stages[at].stage.body = stages[at].stage.body->args[0];
    return true;
  }

  Group& group_;
  const size_t product_;
  const Stage stage_;
  std::vector<int> long_;  // axes of the product that are longer than 1
  int column_ = -1;        // that of its columns
  std::map<int, Places> made_;
};

}  // namespace

void hold_rows(Group& group) {
  for (size_t s = 0; s < group.stages.size(); ++s)
    if (group.stages[s].contraction && group.stages[s].place.empty()) Rows(group, s).run();
}

}  // namespace mtmc::triton
