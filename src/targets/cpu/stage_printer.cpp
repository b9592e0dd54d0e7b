#include "targets/cpu/stage_printer.h"

#include <algorithm>

#include "base/text.h"
#include "targets/cpu/block_lines.h"
#include "targets/cpu/loop_nest.h"

namespace mtmc {
namespace {

using Reg = Printed::Reg;

constexpr int64_t kRowsAhead = 16;  // rows by name that are on their way
constexpr int64_t kFlush = 4096;    // f32 partial sums are added into a double at least this often

class StagePrinter : BlockLines {
 public:
  explicit StagePrinter(const StagePlan& plan)
      : plan_(plan), stage_(plan.stage->stage), vector_(choose_vector_axis(plan)) {
    for (int a = 0; a < axes(); ++a)
      if (!loop(a).fixed) inner_ |= bit(a);
  }

  std::string run() {
    if (is_scan(stage_.combine)) {
      scan();
    } else if (stage_.combine == Combine::none) {
      pointwise();
    } else if (vector_ >= 0 && vector_ < stage_.rank()) {
      reduce_lanes_apart();
    } else {
      reduce_to_scalar();
    }
    return all_lines();
  }

 private:
  // --- text ---
  void append(const std::vector<std::string>& more) {
    for (const std::string& text : more) line(text);
  }
  const AxisLoop& loop(int a) const { return plan_.loops[a]; }
  static uint64_t bit(int a) { return uint64_t{1} << a; }
  // Before a loop begins, what will not change in it any more.
  void settle() {
    const bool lanes = vector_ >= 0 && (inner_ & bit(vector_)) == 0;
    ExprPrinter print = printer(lanes);
    for (const ExprP& part : unchanging_parts(stage_.body, inner_)) {
      const auto alike_part = [&](const auto& one) { return alike(one.first, part); };
      if (std::any_of(settled_.begin(), settled_.end(), alike_part)) continue;
      std::vector<std::string> names;
      Printed value = print.print(part, names);
      append(names);
      const std::string name = "u" + std::to_string(settled_.size());
      line("const " + (value.vector ? "auto" : reg_type(value.reg)) + " " + name + " = " + value.text + ";");
      value.text = name;
      settled_.emplace_back(part, value);
    }
  }
  void open_loop(int a, bool parallel = false) {
    if (loop(a).fixed) return;
    settle();
    inner_ &= ~bit(a);
    if (parallel) line("#pragma omp parallel for schedule(static)");
    open("for (long " + loop(a).name + " = " + loop(a).begin + "; " + loop(a).name + " < " + loop(a).end + "; ++" +
         loop(a).name + ")");
  }
  void close_loop(int a) {
    if (!loop(a).fixed) close();
  }
  // Spatial loops but the vector axis, outermost first. Returns those opened.
  std::vector<int> open_spatial(int except) {
    std::vector<int> opened;
    bool parallel = plan_.parallel && worth_threads();
    for (int a = 0; a < stage_.rank(); ++a) {
      if (a == except || loop(a).fixed) continue;
      open_loop(a, parallel);
      parallel = false;
      opened.push_back(a);
    }
    return opened;
  }
  bool worth_threads() const { return product(stage_.extents()) >= 32768; }
  // Over the vector axis.
  void open_sweep(const std::string& parameters = "", bool unrolled = false) {
    settle();
    inner_ &= ~bit(vector_);
    const AxisLoop& along = loop(vector_);
    open((unrolled ? "sweep_unrolled<" + std::to_string(plan_.unroll) + ">(" : "sweep(") + along.begin + ", " +
         along.end + ", [&](long " + along.name + ", auto n" + parameters + ") __attribute__((always_inline))");
  }

  ExprPrinter printer(bool vector) const {
    ExprPrinter printer(context_of(plan_, vector ? vector_ : -1));
    for (const auto& [part, name] : settled_) printer.bind(part, name);
    return printer;
  }
  const GroupTensor& dest() const { return plan_.group->tensors[plan_.stage->dest]; }
  std::vector<ExprP> dest_indices() const {
    std::vector<ExprP> indices;
    for (int a = 0; a < stage_.rank(); ++a) indices.push_back(axis(a));
    return indices;
  }
  Reg reg() const { return reg_of(stage_.type.dtype); }
  std::string type() const { return reg_type(reg()); }
  std::string vec_type() const { return reg() == Reg::b1 ? "mask" : "vec<" + type() + ">"; }

  void store_vector(const std::string& value) {
    std::optional<int64_t> stride;
    const std::string at = printer(true).address(plan_.stage->dest, dest_indices(), &stride);
    const std::string pointer = dest().name + " + " + at;
    const bool is_mask = dest().type.dtype == DType::b1;
    if (stride && *stride == 1) {
      line((is_mask ? "store_mask(" : "store(") + pointer + ", " + value + ", n);");
    } else {
      line("store_strided(" + pointer + ", " + std::to_string(stride.value_or(0)) + ", " + value + ", n);");
    }
  }
  // What the sweep does before its own work: fetches ahead, and stores what it computes on its way.
  void on_the_way(ExprPrinter& print, std::vector<std::string>& names) {
    for (const Ahead& ahead : plan_.ahead) {
      const GroupTensor& tensor = plan_.group->tensors[ahead.tensor];
      line("prefetch(" + tensor.name + " + " + printer(true).address(ahead.tensor, ahead.at, nullptr) + " + " +
           std::to_string(ahead.distance) + ");");
    }
    if (!plan_.tee) return;
    const std::string value = print.vector_of(plan_.tee->value, names);
    append(names);
    names.clear();
    const std::string name = "new_" + plan_.group->tensors[plan_.tee->tensor].name;
    line("const auto " + name + " = " + value + ";");
    line("store(" + plan_.group->tensors[plan_.tee->tensor].name + " + " +
         print.address(plan_.tee->tensor, plan_.tee->at, nullptr) + ", " + name + ", n);");
    print.bind(plan_.tee->value, {name, Reg::f32, true});
  }
  void store_scalar(const std::string& value) {
    const std::string at = printer(false).address(plan_.stage->dest, dest_indices(), nullptr);
    const DType dtype = dest().type.dtype;
    const bool narrow = dtype == DType::bf16 || dtype == DType::f16;
    line(dest().name + "[" + at + "] = " + (narrow ? "narrow<" + memory_type(dtype) + ">(" + value + ")" : value) +
         ";");
  }

  // --- pointwise ---
  void pointwise() {
    const auto opened = open_spatial(vector_);
    std::vector<std::string> names;
    if (vector_ >= 0) {
      const bool inner_parallel = plan_.parallel && opened.empty() && worth_threads();
      if (inner_parallel) open_chunks(vector_);
      open_sweep();
      ExprPrinter print = printer(true);
      on_the_way(print, names);
      const std::string value = print.vector_of(stage_.body, names);
      append(names);
      store_vector(value);
      close("});");
      if (inner_parallel) close();
    } else {
      const std::string value = printer(false).scalar_of(stage_.body, names);
      append(names);
      store_scalar(value);
    }
    for (size_t i = 0; i < opened.size(); ++i) close();
  }
  // A long single loop cut into chunks, one after the other on each thread.
  void open_chunks(int a) {
    settle();
    line("#pragma omp parallel for schedule(static)");
    open("for (long chunk = " + loop(a).begin + "; chunk < " + loop(a).end + "; chunk += 8192)");
    plan_.loops[a].begin = "chunk";
    plan_.loops[a].end = "std::min<long>(chunk + 8192, " + loop(a).end + ")";
  }

  // --- reductions ---
  bool is_arg() const { return stage_.combine == Combine::argmax || stage_.combine == Combine::argmin; }
  bool wide_sum() const { return stage_.combine == Combine::sum && reg() == Reg::f32; }
  std::string initial() const {
    const bool floating = reg() == Reg::f32 || reg() == Reg::f64;
    switch (stage_.combine) {
      case Combine::sum: return "0";
      case Combine::prod: return "1";
      case Combine::max:
        if (reg() == Reg::b1) return "false";
        return floating ? "-__builtin_inff()" : reg() == Reg::i64 ? "INT64_MIN" : "INT32_MIN";
      default:
        if (reg() == Reg::b1) return "true";
        return floating ? "__builtin_inff()" : reg() == Reg::i64 ? "INT64_MAX" : "INT32_MAX";
    }
  }
  std::string combined(const std::string& acc, const std::string& value) const {
    switch (stage_.combine) {
      case Combine::sum: return acc + " + " + value;
      case Combine::prod: return acc + " * " + value;
      case Combine::max: return reg() == Reg::b1 ? acc + " | " + value : "max(" + acc + ", " + value + ")";
      default: return reg() == Reg::b1 ? acc + " & " + value : "min(" + acc + ", " + value + ")";
    }
  }
  std::string splat_initial() const {
    return reg() == Reg::b1 ? "splat_mask(" + initial() + ")" : "splat<" + type() + ">(" + initial() + ")";
  }
  int64_t reduce_count() const { return product(stage_.reduce); }

  // The vector axis is spatial: every lane reduces for itself.
  void reduce_lanes_apart() {
    const auto opened = open_spatial(vector_);
    const bool inner_parallel = plan_.parallel && opened.empty() && worth_threads();
    if (inner_parallel) open_chunks(vector_);
    const bool wide = wide_sum() && reduce_count() > kFlush;
    if (!wide && plan_.unroll > 1 && loop(vector_).length > 16 && named_rows().first) {
      reduce_side_by_side();
      if (inner_parallel) close();
      for (size_t i = 0; i < opened.size(); ++i) close();
      return;
    }
    open_sweep();
    line((wide ? "vec<double> acc{}" : vec_type() + " acc = " + splat_initial()) + ";");
    for (int a = stage_.rank(); a < axes(); ++a) open_loop(a);
    std::vector<std::string> names;
    const std::string value = printer(true).vector_of(stage_.body, names);
    append(names);
    line("acc = " + (wide ? "acc + convert<double>(" + value + ")" : combined("acc", value)) + ";");
    for (int a = axes(); a-- > stage_.rank();) close_loop(a);
    store_vector(wide ? "convert<float>(acc)" : "acc");
    close("});");
    if (inner_parallel) close();
    for (size_t i = 0; i < opened.size(); ++i) close();
  }

  // What is reduced may lie in rows that another tensor names, each far from the one before: such a load, and what
  // names.
  std::pair<const Expr*, const Expr*> named_rows() const {
    for (const Expr* row : loads_of(stage_.body))
      for (const ExprP& index : row->args)
        for (const Expr* name : loads_of(index))
          for (const ExprP& place : name->args)
            for (int a = stage_.rank(); a < axes(); ++a)
              if (uses_axis(place, a)) return {row, name};
    return {};
  }

  // Asks for the row that is named kRowsAhead places on.
  void fetch_named(const Expr& row, const Expr& name, const std::function<void(const std::function<void()>&)>& each) {
    const GroupTensor& names = plan_.group->tensors[name.tensor];
    if (name.guard || names.role != GroupTensor::Role::read || names.strides != contiguous_strides(names.type.shape))
      return;
    const std::string at = printer(false).address(name.tensor, name.args, nullptr);
    line("const long named = " + names.name + "[std::min<long>(" + at + " + " + std::to_string(kRowsAhead) + ", " +
         std::to_string(names.type.elements() - 1) + ")];");
    const int named = axes();
    plan_.loops.push_back({"named", "0", "1", int64_t(1) << 40, 1});
    std::vector<ExprP> there;
    for (const ExprP& index : row.args)
      there.push_back(transform_loads(
          index, [&](const ExprP& e) { return e->tensor == name.tensor ? cast(e->dtype, axis(named)) : e; }));
    const std::string start =
        plan_.group->tensors[row.tensor].name + " + " + printer(true).address(row.tensor, there, nullptr);
    each([&] { line("prefetch(" + start + ");"); });
    plan_.loops.pop_back();
  }

  // The same with several vectors at a time, so that a row is read once for all of them.
  void reduce_side_by_side() {
    const std::string j = loop(vector_).name, count = std::to_string(plan_.unroll);
    settle();
    open("sweep_blocks<" + count + ">(" + loop(vector_).begin + ", " + loop(vector_).end +
         ", [&](long first, auto n, auto side) __attribute__((always_inline))");
    line(vec_type() + " acc[side.value];");
    line("for (auto& one : acc) one = " + splat_initial() + ";");
    const auto each = [&](const std::function<void()>& body) {
      line("#pragma GCC unroll 8");
      open("for (int u = 0; u < side.value; ++u)");
      line("const long " + j + " = first + u * W;");
      body();
      close();
    };
    const auto [row, name] = named_rows();
    for (int a = stage_.rank(); a < axes(); ++a) open_loop(a);
    fetch_named(*row, *name, each);
    settle();
    inner_ &= ~bit(vector_);
    each([&] {
      std::vector<std::string> names;
      const std::string value = printer(true).vector_of(stage_.body, names);
      append(names);
      line("acc[u] = " + combined("acc[u]", value) + ";");
    });
    for (int a = axes(); a-- > stage_.rank();) close_loop(a);
    each([&] { store_vector("acc[u]"); });
    close("});");
  }

  int axes() const { return static_cast<int>(plan_.loops.size()); }

  // One result per spatial index: vector accumulators along a reduce axis, or scalar code.
  void reduce_to_scalar() {
    const auto opened = open_spatial(-1);
    if (plan_.split && opened.empty() && stage_.reduce.size() >= 1 && !is_arg() && worth_threads()) {
      split_reduction();
    } else if (is_arg()) {
      arg_reduction();
    } else {
      const std::string total = accumulate();
      store_scalar(total);
    }
    for (size_t i = 0; i < opened.size(); ++i) close();
  }

  std::string total_type() const { return wide_sum() ? "double" : type(); }

  // Emits the loops of one full reduction and returns the text of its result.
  std::string accumulate() {
    line(total_type() + " total = " + initial() + ";");
    for (int a = stage_.rank(); a < axes(); ++a)
      if (a != vector_) open_loop(a);
    std::vector<std::string> names;
    if (vector_ < 0) {
      const std::string value = printer(false).scalar_of(stage_.body, names);
      append(names);
      line("total = " + combined("total", value) + ";");
    } else {
      accumulate_lanes();
    }
    for (int a = axes(); a-- > stage_.rank();)
      if (a != vector_) close_loop(a);
    return wide_sum() ? "float(total)" : "total";
  }

  void accumulate_lanes() {
    const bool chunked = wide_sum() && loop(vector_).length > 2 * kFlush;
    const AxisLoop whole = loop(vector_);
    if (chunked) {
      settle();
      open("for (long part = " + whole.begin + "; part < " + whole.end + "; part += " + std::to_string(kFlush) + ")");
      plan_.loops[vector_].begin = "part";
      plan_.loops[vector_].end = "std::min<long>(part + " + std::to_string(kFlush) + ", " + whole.end + ")";
    }
    const bool many = plan_.unroll > 1;
    const std::string count = std::to_string(plan_.unroll);
    if (many) {
      line(vec_type() + " acc[" + count + "];");
      line("for (auto& one : acc) one = " + splat_initial() + ";");
    } else {
      line(vec_type() + " acc = " + splat_initial() + ";");
    }
    const std::string acc = many ? "acc[u]" : "acc";
    open_sweep(many ? ", int u" : "", many);
    std::vector<std::string> names;
    ExprPrinter print = printer(true);
    on_the_way(print, names);
    const std::string value = print.vector_of(stage_.body, names);
    append(names);
    line(acc + " = keep(n, " + combined(acc, value) + ", " + acc + ");");
    close("});");
    if (many) line("for (int u = 1; u < " + count + "; ++u) acc[0] = " + combined("acc[0]", "acc[u]") + ";");
    line("total = " + horizontal(many ? "acc[0]" : "acc") + ";");
    if (chunked) close();
    plan_.loops[vector_] = whole;
  }

  std::string horizontal(const std::string& acc) const {
    if (reg() == Reg::b1) {
      const bool any = stage_.combine == Combine::max;
      return any ? "total | (hmin(" + acc + ") != 0)" : "total & (hmax(" + acc + ") != 0)";
    }
    switch (stage_.combine) {
      case Combine::sum:
        return "total + " + std::string(reg() == Reg::i64 || reg() == Reg::i32 ? "hsum_int(" : "hsum(") + acc + ")";
      case Combine::prod: return "total * hprod(" + acc + ")";
      case Combine::max: return "max<" + type() + ">(total, hmax(" + acc + "))";
      default: return "min<" + type() + ">(total, hmin(" + acc + "))";
    }
  }

  // Parallel partial results over chunks of the longest reduce axis, combined in a fixed order.
  void split_reduction() {
    int along = stage_.rank();
    for (int a = stage_.rank(); a < axes(); ++a)
      if (loop(a).length > loop(along).length) along = a;
    const AxisLoop whole = loop(along);
    line("constexpr long parts = " + std::to_string(std::min<int64_t>(whole.length, 64)) + ";");
    line(total_type() + " partial[parts];");
    line("#pragma omp parallel for schedule(static)");
    open("for (long p = 0; p < parts; ++p)");
    const std::string extent = std::to_string(whole.extent);
    plan_.loops[along].begin = "p * " + extent + " / parts";
    plan_.loops[along].end = "(p + 1) * " + extent + " / parts";
    accumulate();
    line("partial[p] = total;");
    close();
    plan_.loops[along] = whole;
    line(total_type() + " all = " + initial() + ";");
    std::string next = combined("all", "partial[p]");
    if (stage_.combine == Combine::max || stage_.combine == Combine::min)
      next = replace_all(next, "(all", "<" + total_type() + ">(all");
    line("for (long p = 0; p < parts; ++p) all = " + next + ";");
    store_scalar(wide_sum() ? "float(all)" : "all");
  }

  void arg_reduction() {
    const ExprP& body = stage_.body;
    line("Best<" + reg_type(reg_of(body->dtype)) + ", " + (stage_.combine == Combine::argmax ? "true" : "false") +
         "> best;");
    std::string position = "0";
    for (int a = stage_.rank(); a < axes(); ++a) {
      open_loop(a);
      const std::string name = loop(a).fixed ? "0" : loop(a).name;
      position = a == stage_.rank() ? name : "(" + position + ") * " + std::to_string(loop(a).extent) + " + " + name;
    }
    std::vector<std::string> names;
    const std::string value = printer(false).scalar_of(body, names);
    append(names);
    line("best.see(" + value + ", " + position + ");");
    for (int a = axes(); a-- > stage_.rank();) close_loop(a);
    store_scalar("best.at");
  }

  // --- scans ---
  void scan() {
    const bool along = vector_ == stage_.scan_axis;
    const std::string op = stage_.combine == Combine::scan_sum ? "+" : "*";
    const std::string start = stage_.combine == Combine::scan_sum ? "0" : "1";
    const bool floating = reg() == Reg::f32 || reg() == Reg::f64;
    const std::string carry = floating ? "double" : "long";
    std::vector<int> opened;
    bool parallel = plan_.parallel && worth_threads();
    for (int a = 0; a < stage_.rank(); ++a) {
      if (a == stage_.scan_axis || a == vector_ || loop(a).fixed) continue;
      open_loop(a, parallel);
      parallel = false;
      opened.push_back(a);
    }
    std::vector<std::string> names;
    if (along && floating) {
      line(carry + " carry = " + start + ";");
      open_sweep();
      const std::string value = printer(true).vector_of(stage_.body, names);
      append(names);
      store_vector(std::string(name(stage_.combine)) + "(" + value + ", carry)");
      close("});");
    } else if (along || vector_ < 0) {
      line(carry + " carry = " + start + ";");
      open_loop(stage_.scan_axis);
      const std::string value = printer(false).scalar_of(stage_.body, names);
      append(names);
      line("carry = carry " + op + " " + value + ";");
      store_scalar(type() + "(carry)");
      close_loop(stage_.scan_axis);
    } else {
      open_sweep();
      line("vec<" + carry + "> carry = splat<" + carry + ">(" + start + ");");
      open_loop(stage_.scan_axis);
      const std::string value = printer(true).vector_of(stage_.body, names);
      append(names);
      line("carry = carry " + op + " convert<" + carry + ">(" + value + ");");
      store_vector("convert<" + type() + ">(carry)");
      close_loop(stage_.scan_axis);
      close("});");
    }
    for (size_t i = 0; i < opened.size(); ++i) close();
  }

  StagePlan plan_;
  const Stage& stage_;
  int vector_;
  uint64_t inner_ = 0;                              // axes whose loops have not begun, a bit each
  std::vector<std::pair<ExprP, Printed>> settled_;  // parts of the body, and the constants that they are by now
};

}  // namespace

ExprPrinter::Context context_of(const StagePlan& plan, int vector_axis) {
  ExprPrinter::Context context;
  context.group = plan.group;
  for (const AxisLoop& one : plan.loops) {
    context.axes.push_back(one.name);
    context.extents.push_back(one.extent);
  }
  context.vector_axis = vector_axis;
  context.offsets = plan.offsets;
  context.strides = plan.strides;
  return context;
}

std::string print_stage(const StagePlan& plan) { return StagePrinter(plan).run(); }

}  // namespace mtmc
