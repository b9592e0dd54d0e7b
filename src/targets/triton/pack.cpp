#include <algorithm>
#include <numeric>

#include "targets/triton/attention.h"
#include "targets/triton/layout_pass.h"
#include "targets/triton/pack.h"
#include "targets/triton/packer.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kOnePass = 1 << 20;  // elements of an operand from which reading it once more costs too much
constexpr int64_t kPackedTile = 128, kBlockK = 64;
constexpr int64_t kStreamed = 1 << 22;  // elements, 16 MB: parts of fewer stay in the second-level cache
constexpr int64_t kStreamedRows = 256;  // two tiles of rows each split what they read
// Halves in 16 bytes, of which rows of a rectangle are multiples (rectangle.h), and in a line of the cache: room up to
// the next one is an eighth of a long row at most.
constexpr int64_t kAligned = 8, kLine = 64, kLongRow = 512;

class Operands : Packer {
 public:
  Operands(const Group& group, const Preparation& wanted, const Hardware& hardware)
      : Packer(group, wanted.precision, hardware),
        in_loop_(wanted.in_loop),
        attention_in_parts_(wanted.attention_in_parts) {}

  Prepared run(const Group& group) {
    for (size_t s = 0; s < group.stages.size(); ++s) {
      const GroupStage& stage = group.stages[s];
      const auto attention = find_attention(group, static_cast<int>(s));
      if (attention && attention_in_parts_ && way(group.stages[attention->scores]) == "two_part" &&
          of_f32(group, *attention)) {
        attend(group, *attention);
        s = static_cast<size_t>(attention->context);
      } else if (attention) {
        for (; s <= static_cast<size_t>(attention->context); ++s) as_it_is(group.stages[s]);
        --s;
      } else if (!stage.contraction || !needs_packing(stage)) {
        as_it_is(stage);
      } else if (way(stage) == "two_part") {
        const ExprP left = split(stage, true, "left");
        const bool whole = splits_in_loop(result_.group, stage, in_loop_);
        multiply(stage, left, whole ? stage.contraction->right : split(stage, false, "right"), true);
      } else {
        const bool may_part = !gives_parts(group, s);
        const ExprP left = plain(stage, true, may_part), right = plain(stage, false, may_part);
        multiply(stage, left, right);
      }
    }
    return std::move(result_);
  }

 private:
  // Whether tiles of this product give parts of reductions (tile_sums.h), whose rows go on from one image to the next.
  static bool gives_parts(const Group& group, size_t s) {
    while (++s < group.stages.size() && !group.stages[s].contraction)
      if (!group.stages[s].tile_rows.empty()) return true;
    return false;
  }

  void as_it_is(GroupStage stage) {
    if (stage.contraction) {
      Products& products = result_.products[static_cast<int>(result_.group.stages.size())];
      products.left = stage.contraction->left, products.right = stage.contraction->right;
      products.live = guards_of(products.right);
      part_columns(stage, products.live);
    }
    push(stage);
  }

  static bool of_f32(const Group& group, const Attention& attention) {
    const Contraction& scores = *group.stages[attention.scores].contraction;
    const ExprP& values = group.stages[attention.context].contraction->right;
    return !is_half(scores.left) && !is_half(scores.right) && !is_half(values);
  }

  // Queries, keys and values in two parts each. Whatever reads the scores undoes the scales of queries and keys: those
  // of keys first, since the others are one number a row of scores.
  void attend(const Group& group, const Attention& attention) {
    const GroupStage& scores = group.stages[attention.scores];
    const GroupStage& context = group.stages[attention.context];
    const ExprP query = split(scores, true, "query", false), key = split(scores, false, "key", false);
    const std::vector<ExprP> undone = {number(1) / scales_[1], number(1) / scales_[0]};
    scales_.clear();
    const ExprP value = split(context, false, "value", false);
    const int made = contract(scores, query, key);
    const auto undo = [&](const ExprP& body) {
      return transform_loads(body, [&](const ExprP& e) -> ExprP {
        if (e->tensor != scores.dest) return e;
        ExprP score = load(made, DType::f32, e->args);
        for (const ExprP& factor : undone) score = score * substitute_axes(factor, e->args);
        return cast(e->dtype, score);
      });
    };
    for (int s = attention.scores + 1; s < attention.context; ++s) {
      GroupStage stage = group.stages[s];
      stage.stage.body = undo(stage.stage.body);
      push(stage);
    }
    undo_scales(context, contract(context, undo(context.contraction->left), value));
  }

  // What the windows of both operands have copied in two parts is packed, and yet has three products.
  bool needs_packing(const GroupStage& stage) const {
    const Contraction& c = *stage.contraction;
    const auto whole = [&](const ExprP& e) { return is_half(e) && !in_parts(e); };
    return !(whole(c.left) && whole(c.right)) && way(stage) != "ieee";
  }
  bool in_parts(const ExprP& e) const { return is_half(e) && has_low_part(result_.group, loads_of(e)[0]->tensor); }

  struct Layout {
    std::vector<int> rows, k;     // the stage's axes that the operand uses: batch and M (or N), then K
    std::vector<ExprP> of_stage;  // each axis of the stage as one of the packed tensor's: rows, then K
    Shape row_shape, k_shape;
    size_t before = 0;       // so many of the rows' axes come before K where rows_last
    bool rows_last = false;  // the source has its rows side by side: so has the packed tensor
    std::vector<int> apart;  // Packer::apart_
  };

  // `apart`: rows may be side by side in each of several matrices (the pixels of images, channels first).
  Layout layout(const GroupStage& stage, bool left, bool apart = false) const {
    const Contraction& c = *stage.contraction;
    const ExprP& expr = left ? c.left : c.right;
    const std::vector<int64_t> extents = stage.stage.extents();
    Layout layout;
    layout.of_stage.resize(extents.size());
    const auto take = [&](const std::vector<int>& axes, std::vector<int>& to, Shape& shape) {
      for (int a : axes) {
        if (!uses_axis(expr, a) || extents[a] == 1) continue;
        to.push_back(a);
        shape.push_back(extents[a]);
      }
    };
    take(c.batch, layout.rows, layout.row_shape);
    const size_t batch = layout.rows.size();
    take(left ? c.m : c.n, layout.rows, layout.row_shape);
    take(in_order(c.k, extents), layout.k, layout.k_shape);
    int next = 0;
    for (const auto* list : {&layout.rows, &layout.k})
      for (int a : *list) layout.of_stage[a] = axis(next++);
    for (ExprP& e : layout.of_stage)
      if (!e) e = index_constant(0);
    if (layout.k.size() != 1) return layout;
    layout.before = layout.rows.size() -
                    row_run(stage, expr, {layout.rows.begin() + static_cast<std::ptrdiff_t>(batch), layout.rows.end()});
    layout.rows_last = layout.before == batch || (apart && fills_tiles(layout));
    if (layout.rows_last && layout.before > batch)
      layout.apart.assign(layout.rows.begin() + static_cast<std::ptrdiff_t>(batch),
                          layout.rows.begin() + static_cast<std::ptrdiff_t>(layout.before));
    return layout;
  }

  // Padding to tiles of 128 rows adds at most an eighth, and K is a multiple of 64.
  static bool fills_tiles(const Layout& layout) {
    int64_t rows = 1;
    for (size_t i = layout.before; i < layout.rows.size(); ++i) rows *= layout.row_shape[i];
    return layout.k_shape[0] % kBlockK == 0 && 8 * blocks(rows, kPackedTile) * kPackedTile <= 9 * rows;
  }

  // K's axes, the longest last: it is the one that a tile's lanes walk.
  static std::vector<int> in_order(std::vector<int> k, const std::vector<int64_t>& extents) {
    const auto longest = std::max_element(k.begin(), k.end(), [&](int a, int b) { return extents[a] < extents[b]; });
    std::rotate(longest, longest + 1, k.end());
    return k;
  }

  // So many axes, from the last one back, walk memory as one run.
  size_t row_run(const GroupStage& stage, const ExprP& expr, const std::vector<int>& axes) const {
    const auto loads = loads_of(expr);
    const std::vector<int64_t> extents = stage.stage.extents();
    int64_t next = 1;
    size_t count = 0;
    for (; !loads.empty() && count < axes.size(); ++count) {
      const int a = axes[axes.size() - 1 - count];
      if (coefficient(stage, *loads[0], a) != next) break;
      next *= extents[a];
    }
    return count;
  }
  int64_t coefficient(const GroupStage& stage, const Expr& load, int which) const {
    const GroupTensor& tensor = result_.group.tensors[load.tensor];
    ExprP flat = flat_index(load.args, tensor.strides);
    const std::vector<int64_t> extents = stage.stage.extents();
    const Affine form = affine(simplify(flat, extents), static_cast<int>(extents.size()));
    return form.ok ? form.coefficients[which] : -1;
  }

  // Scales of an operand's rows; the stage's own axes are rows, then K.
  int scales(const GroupStage& of, const Layout& layout, const ExprP& expr, const std::string& name) {
    const int largest =
        stage(of, name + "_largest", {DType::f32, layout.row_shape}, layout.k_shape, Combine::max, magnitude(expr));
    return stage(of, name + "_scale", {DType::f32, layout.row_shape}, {}, Combine::none,
                 scale_of(load(largest, DType::f32, axes_to(static_cast<int>(layout.rows.size())))));
  }

  // The packed tensor's dimensions, each an entry of rows followed by K: in this order, or K before M (or N).
  static std::vector<size_t> dimensions(const Layout& layout) {
    std::vector<size_t> order(layout.rows.size() + layout.k.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (layout.rows_last)
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(layout.before),
                  order.begin() + static_cast<std::ptrdiff_t>(layout.rows.size()), order.end());
    return order;
  }

  // f32 of a packed tensor, where the stage needs it.
  ExprP packed(const Layout& layout, int tensor) const {
    std::vector<int> axes = layout.rows;
    axes.insert(axes.end(), layout.k.begin(), layout.k.end());
    std::vector<ExprP> indices;
    for (size_t i : dimensions(layout)) indices.push_back(axis(axes[i]));
    return cast(DType::f32, load(tensor, DType::f16, indices));
  }

  // The packed tensor's shape in memory, so that a product reads it by rectangles. Behind the last row of K there are
  // whole blocks of it: else one would reach into the next matrix, or the other part.
  static Shape room(const Layout& layout, Shape shape) {
    const size_t lanes = layout.rows_last ? layout.rows.size() - layout.before : 1;
    if (layout.k.size() != 1 || lanes != 1) return shape;
    const auto fill_up = [](int64_t& extent, int64_t block) { extent = blocks(extent, block) * block; };
    int64_t& row = shape.back();
    if (row % kAligned != 0) fill_up(row, row < kLongRow ? kAligned : kLine);
    int64_t& k = shape[layout.before];
    if (layout.rows_last) fill_up(k, std::min(kBlockK, std::max<int64_t>(16, power_of_two(k))));
    return shape;
  }

  // The packed tensor's stage. `pads`: with `room`.
  int fill(const GroupStage& of, const Layout& layout, const std::string& name, const ExprP& body, bool pads = true) {
    Shape all = layout.row_shape, shape;
    all.insert(all.end(), layout.k_shape.begin(), layout.k_shape.end());
    std::vector<ExprP> axes(all.size());
    for (size_t i : dimensions(layout)) {
      axes[i] = axis(static_cast<int>(shape.size()));
      shape.push_back(all[i]);
    }
    return stage(of, name, {DType::f16, shape}, {}, Combine::none, cast(DType::f16, substitute_axes(body, axes)),
                 pads ? room(layout, shape) : shape);
  }

  void note_scale(const Layout& layout, int tensor) {
    std::vector<ExprP> indices;
    for (int a : layout.rows) indices.push_back(axis(a));
    scales_.push_back(load(tensor, DType::f32, indices));
  }

  // An operand rounded to f16, scaled by rows. `may_part`: as in `layout`, `apart`.
  ExprP plain(const GroupStage& of, bool left, bool may_part) {
    const std::string name = left ? "left" : "right";
    const ExprP& whole = left ? of.contraction->left : of.contraction->right;
    if (is_half(whole)) return whole;
    Layout l = layout(of, left);
    if (product(l.row_shape) * product(l.k_shape) >= kOnePass) {
      l = layout(of, left, may_part);
      apart_.insert(apart_.end(), l.apart.begin(), l.apart.end());
      return plain_in_one_pass(of, l, substitute_axes(whole, l.of_stage), name);
    }
    const ExprP expr = substitute_axes(whole, l.of_stage);
    const int scale = scales(of, l, expr, name);
    const ExprP scaled = expr * load(scale, DType::f32, axes_to(static_cast<int>(l.rows.size())));
    note_scale(l, scale);
    return packed(l, fill(of, l, name + "_half", scaled));
  }

  // The same with one scale for the whole operand.
  ExprP plain_in_one_pass(const GroupStage& of, const Layout& l, const ExprP& expr, const std::string& name) {
    std::vector<GroupStage> before = std::move(result_.group.stages);
    result_.group.stages.clear();
    Shape all = l.row_shape;
    all.insert(all.end(), l.k_shape.begin(), l.k_shape.end());
    const int largest = stage(of, name + "_largest", {DType::f32, {}}, all, Combine::max, magnitude(expr));
    const int scale =
        stage(of, name + "_scale", {DType::f32, {}}, {}, Combine::none, scale_of(load(largest, DType::f32, {})));
    const int half = fill(of, l, name + "_half", expr * load(scale, DType::f32, {}));
    const bool known =
        result_.group.stages.empty() || result_.group.stages[0].dest != largest;  // then the scale is, too
    Group copied = known ? result_.group : copy_in_one_pass(result_.group, {{largest, scale, half}}, hardware_);
    before.insert(before.end(), copied.stages.begin(), copied.stages.end());
    result_.group.tensors = std::move(copied.tensors);
    result_.group.stages = std::move(before);
    scales_.push_back(load(scale, DType::f32, {}));
    return packed(l, half);
  }

  // An operand as the sum of two f16 numbers, which a window's copy is already.
  ExprP split(const GroupStage& of, bool left, const std::string& name, bool pads = true) {
    const ExprP& whole = left ? of.contraction->left : of.contraction->right;
    if (in_parts(whole)) return whole;
    const Layout l = layout(of, left);
    const ExprP expr = substitute_axes(whole, l.of_stage);
    const int scale = scales(of, l, expr, name);
    const ExprP scaled = expr * load(scale, DType::f32, axes_to(static_cast<int>(l.rows.size())));
    const Parts parts = parts_of(scaled);
    note_scale(l, scale);
    const int high = fill(of, l, name + "_high", parts.high, pads);
    put_behind(high, fill(of, l, name + "_low", parts.low, pads));
    return packed(l, high);
  }

  int64_t in_loop_;
  bool attention_in_parts_;
};

}  // namespace

bool splits_in_loop(const Group& group, const GroupStage& stage, int64_t wanted) {
  if (wanted == 0) return false;
  const Contraction& c = *stage.contraction;
  const ExprP& right = c.right;
  if (right->kind != Expr::Kind::load || right->dtype != DType::f32 || right->guard) return false;
  const std::vector<int64_t> extents = stage.stage.extents();
  const auto along = [&](const std::vector<int>& axes) {
    return std::accumulate(axes.begin(), axes.end(), int64_t{1}, [&](int64_t n, int a) { return n * extents[a]; });
  };
  const bool worth = along(c.m) <= kStreamedRows && along(c.n) * along(c.k) * along(c.batch) >= kStreamed;
  if (!worth && wanted != 1) return false;
  // Neighbours in memory are neighbours in a block, and no element is read for two.
  const GroupTensor& tensor = group.tensors[right->tensor];
  const Affine at =
      affine(simplify(flat_index(right->args, tensor.strides), extents), static_cast<int>(extents.size()));
  bool runs = false;
  for (const auto* axes : {&c.n, &c.k, &c.batch})
    for (int a : *axes) {
      if (!at.ok || (extents[a] > 1 && at.coefficients[a] == 0)) return false;
      // A lane of K is its longest axis: the others, a kernel's columns for one, are walked by the loop.
      const bool longest = std::all_of(axes->begin(), axes->end(), [&](int b) { return extents[b] <= extents[a]; });
      runs = runs || (axes != &c.batch && longest && extents[a] > 1 && at.coefficients[a] == 1);
    }
  return runs && tensor.type.elements() == along(c.n) * along(c.k) * along(c.batch);
}

Prepared pack_operands(const Group& group, const Preparation& wanted, const Hardware& hardware) {
  return Operands(group, wanted, hardware).run(group);
}

}  // namespace mtmc::triton
