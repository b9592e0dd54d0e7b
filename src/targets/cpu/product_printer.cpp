#include "targets/cpu/product_printer.h"

#include <algorithm>

#include "base/text.h"
#include "targets/cpu/block_lines.h"

namespace mtmc {
namespace {

class ProductPrinter : BlockLines {
 public:
  ProductPrinter(const StagePlan& plan, BlockedProduct blocks, int64_t depth)
      : plan_(plan),
        blocks_(std::move(blocks)),
        contraction_(*plan.stage->contraction),
        extents_(plan.stage->stage.extents()) {
    // K is cut along its outermost axis; the inner K axes stay whole.
    for (size_t i = 1; i < contraction_.k.size(); ++i) inner_depth_ *= extents_[contraction_.k[i]];
    step_ = std::clamp<int64_t>(depth / inner_depth_, 1, extents_[contraction_.k[0]]);
    for (int a : blocks_.cols) width_ *= plan_.loops[a].length;
  }

  std::string run() {
    const int k = contraction_.k[0];
    for (int a : blocks_.outer) open(for_loop(plan_.loops[a]));
    const std::string extent = std::to_string(extents_[k]);
    open("for (long k0 = 0; k0 < " + extent + "; k0 += " + std::to_string(step_) + ")");
    line("const long k1 = std::min<long>(k0 + " + std::to_string(step_) + ", " + extent + ");");
    const ExprP& col_side = blocks_.cols_on_right ? contraction_.right : contraction_.left;
    const ExprP& row_side = blocks_.cols_on_right ? contraction_.left : contraction_.right;
    if (auto apart = columns_apart(col_side)) {
      line("float* __restrict packed_b = packed_b_;");
      line("pack_transposed(packed_b, " + std::to_string(packed_width()) + ", " + *apart + ", " + columns() + ", " +
           depth() + ");");
    } else {
      pack(col_side, "packed_b", true);
    }
    std::string a_text;
    if (auto direct = direct_rows(row_side)) {
      a_text = *direct;
    } else {
      pack(row_side, "packed_a", false);
      a_text = "packed_a, " + std::to_string(packed_row()) + ", 1";
    }
    line("matmul_block(" + count(blocks_.row) + ", " + columns() + ", " + depth() + ", " + a_text + ", packed_b, " +
         std::to_string(packed_width()) + ", " + result() + ", k0 == 0);");
    close();
    for (size_t i = 0; i < blocks_.outer.size(); ++i) close();
    return all_lines();
  }

 private:
  static std::string for_loop(const AxisLoop& loop) {
    return "for (long " + loop.name + " = " + loop.begin + "; " + loop.name + " < " + loop.end + "; ++" + loop.name +
           ")";
  }
  std::string count(int a) const {
    return a < 0 ? "1" : "(" + plan_.loops[a].end + ") - (" + plan_.loops[a].begin + ")";
  }
  std::string columns() const {
    std::string text = "(" + count(blocks_.cols[0]) + ")";
    for (size_t i = 1; i < blocks_.cols.size(); ++i)
      text += " * " + std::to_string(plan_.loops[blocks_.cols[i]].length);
    return text;
  }
  std::string depth() const { return "(k1 - k0) * " + std::to_string(inner_depth_); }
  // Rows of packed columns are padded off powers of two, which would fall into few cache sets.
  int64_t packed_width() const { return (width_ + 15) / 16 * 16 + 16; }
  int64_t packed_row() const { return step_ * inner_depth_ + 16; }

  // A context in which the tile's own axes stand at their first index.
  ExprPrinter::Context at_begin() const {
    ExprPrinter::Context context;
    context.group = plan_.group;
    for (size_t a = 0; a < plan_.loops.size(); ++a) {
      const AxisLoop& loop = plan_.loops[a];
      const bool looped =
          std::find(blocks_.outer.begin(), blocks_.outer.end(), static_cast<int>(a)) != blocks_.outer.end();
      const bool reduced = static_cast<int>(a) >= plan_.stage->stage.rank();
      context.axes.push_back(reduced                ? (static_cast<int>(a) == contraction_.k[0] ? "k0" : "0")
                             : loop.fixed || looped ? loop.name
                                                    : "(" + loop.begin + ")");
      context.extents.push_back(loop.extent);
    }
    context.offsets = plan_.offsets;
    context.strides = plan_.strides;
    return context;
  }

  std::string result() const {
    std::vector<ExprP> own;
    for (int a = 0; a < plan_.stage->stage.rank(); ++a) own.push_back(axis(a));
    const auto strides = plan_.strides.find(plan_.stage->dest);
    const GroupTensor& dest = plan_.group->tensors[plan_.stage->dest];
    const int64_t row_stride =
        blocks_.row < 0 ? 0 : (strides != plan_.strides.end() ? strides->second : dest.strides)[blocks_.row];
    return dest.name + " + " + ExprPrinter(at_begin()).address(plan_.stage->dest, own, nullptr) + ", " +
           std::to_string(row_stride);
  }

  // The index form of an operand that is a plain f32 load.
  std::optional<Affine> plain_load(const ExprP& side) const {
    if (side->kind != Expr::Kind::load || side->guard || side->dtype != DType::f32) return std::nullopt;
    const auto own = plan_.strides.find(side->tensor);
    const std::vector<int64_t>& strides =
        own != plan_.strides.end() ? own->second : plan_.group->tensors[side->tensor].strides;
    ExprP flat = flat_index(side->args, strides);
    const Affine form = affine(simplify(flat, extents_), static_cast<int>(extents_.size()));
    return form.ok ? std::optional(form) : std::nullopt;
  }
  // The one stride at which the axes, innermost last, walk like a single axis.
  std::optional<int64_t> stride_of(const Affine& form, const std::vector<int>& axes) const {
    const int64_t stride = form.coefficients[axes.back()];
    int64_t expected = stride;
    for (size_t i = axes.size(); i-- > 0;) {
      if (extents_[axes[i]] > 1 && form.coefficients[axes[i]] != expected) return std::nullopt;
      expected *= extents_[axes[i]];
    }
    return stride;
  }
  std::string begin_of(const ExprP& load) const {
    return plan_.group->tensors[load->tensor].name + " + " +
           ExprPrinter(at_begin()).address(load->tensor, load->args, nullptr);
  }

  // "pointer, row stride, k stride" of an operand that needs no packing.
  std::optional<std::string> direct_rows(const ExprP& side) const {
    const auto form = plain_load(side);
    const auto k_stride = form ? stride_of(*form, contraction_.k) : std::nullopt;
    if (!k_stride) return std::nullopt;
    const int64_t row_stride = blocks_.row < 0 ? 0 : form->coefficients[blocks_.row];
    return begin_of(side) + ", " + std::to_string(row_stride) + ", " + std::to_string(*k_stride);
  }

  // "pointer, column stride" of an operand whose K lies together: a linear layer's weights.
  std::optional<std::string> columns_apart(const ExprP& side) const {
    const auto form = plain_load(side);
    if (!form || stride_of(*form, contraction_.k) != 1) return std::nullopt;
    const auto stride = stride_of(*form, blocks_.cols);
    if (!stride || *stride == 1) return std::nullopt;
    return begin_of(side) + ", " + std::to_string(*stride);
  }

  // Emits loops that evaluate one operand into a packed buffer ([K][columns] or [rows][K]).
  void pack(const ExprP& side, const std::string& name, bool columns_side) {
    Group group = *plan_.group;
    GroupTensor packed;
    packed.role = GroupTensor::Role::scratch;
    packed.name = name;
    const int axes = static_cast<int>(plan_.loops.size());
    packed.strides.assign(axes, 0);
    std::string offset;
    int64_t k_stride = columns_side ? packed_width() : 1;
    for (size_t i = contraction_.k.size(); i-- > 0;) {
      packed.strides[contraction_.k[i]] = k_stride;
      if (i == 0) offset = "k0 * " + std::to_string(k_stride);
      k_stride *= extents_[contraction_.k[i]];
    }
    if (columns_side) {
      int64_t stride = 1;
      for (size_t i = blocks_.cols.size(); i-- > 0;) {
        packed.strides[blocks_.cols[i]] = stride;
        stride *= plan_.loops[blocks_.cols[i]].length;
      }
      offset += begin_offset(blocks_.cols, packed.strides);
    } else if (blocks_.row >= 0) {
      packed.strides[blocks_.row] = packed_row();
      offset += begin_offset({blocks_.row}, packed.strides);
    }
    for (const AxisLoop& loop : plan_.loops) packed.type.shape.push_back(loop.extent);
    group.tensors.push_back(packed);
    GroupStage stage;
    stage.stage.type = {DType::f32, packed.type.shape};
    stage.stage.body = side;
    stage.dest = static_cast<int>(group.tensors.size()) - 1;
    StagePlan plan = plan_;
    plan.group = &group;
    plan.stage = &stage;
    plan.parallel = plan.split = false;
    plan.preferred_axis = -1;
    plan.offsets[stage.dest] = offset;
    for (int a = 0; a < axes; ++a) {
      const bool mine = std::find(contraction_.k.begin(), contraction_.k.end(), a) != contraction_.k.end() ||
                        (columns_side ? std::find(blocks_.cols.begin(), blocks_.cols.end(), a) != blocks_.cols.end()
                                      : a == blocks_.row);
      if (!mine) plan.loops[a].fixed = true;
      if (a == contraction_.k[0] && !plan.loops[a].fixed)  // one of extent 1 has no loop
        plan.loops[a] = {plan.loops[a].name, "k0", "k1", extents_[a], step_, false};
    }
    line("float* __restrict " + name + " = " + name + "_;");
    for (const std::string& text : split(print_stage(plan), '\n'))
      if (!text.empty()) line(text);
  }

  std::string begin_offset(const std::vector<int>& axes, const std::vector<int64_t>& strides) const {
    std::string text;
    for (int a : axes)
      if (plan_.loops[a].begin != "0") text += " + (" + plan_.loops[a].begin + ") * " + std::to_string(strides[a]);
    return text;
  }

  const StagePlan& plan_;
  BlockedProduct blocks_;
  const Contraction& contraction_;
  std::vector<int64_t> extents_;
  int64_t inner_depth_ = 1, step_ = 1, width_ = 1;

 public:
  // Elements of the packed buffers.
  int64_t b_elements() const { return step_ * inner_depth_ * packed_width(); }
  int64_t a_elements() const { return (blocks_.row < 0 ? 1 : plan_.loops[blocks_.row].length) * packed_row(); }
};

}  // namespace

std::optional<std::string> print_product(const StagePlan& plan, int64_t depth) {
  auto blocks = plan_product(plan);
  if (!blocks) return std::nullopt;
  ProductPrinter printer(plan, std::move(*blocks), depth);
  const std::string body = printer.run();
  // The packed buffers are the product's own.
  std::string text = "static thread_local Arena packs;\n";
  text += "float* packed_b_ = (float*)packs.get(" +
          std::to_string(4 * (printer.b_elements() + printer.a_elements() + 64)) + ");\n";
  if (body.find("packed_a_") != std::string::npos)
    text += "float* packed_a_ = packed_b_ + " + std::to_string((printer.b_elements() + 15) / 16 * 16) + ";\n";
  return text + body;
}

}  // namespace mtmc
