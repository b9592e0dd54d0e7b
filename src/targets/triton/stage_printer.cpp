#include "targets/triton/stage_printer.h"

#include <algorithm>

#include "base/text.h"

namespace mtmc::triton {

StagePrinter::StagePrinter(const Group& group, int first, int last, std::string name)
    : ExprPrinter(out_, group), group_(group), first_(first), last_(last), name_(std::move(name)) {
  for (const GroupTensor& tensor : group.tensors) out_.fresh(tensor.name);
  wide_ = is_wide(group);
}

bool is_wide(const Group& group) {
  return std::any_of(group.tensors.begin(), group.tensors.end(), [](const GroupTensor& tensor) {
    const int64_t parts = tensor.behind >= 0 ? 2 : 1;  // both are read by one index
    return parts * tensor.type.elements() > INT32_MAX;
  });
}

ExprP StagePrinter::canonical(int s, const ExprP& e) const {
  std::vector<ExprP> to;
  for (size_t a = 0; a < axes_.at(s).size(); ++a) to.push_back(axis_of(s, static_cast<int>(a)));
  return simplify(substitute_axes(e, to), extents_);
}

std::vector<ExprP> StagePrinter::own_indices(int s) const {
  std::vector<ExprP> indices;
  for (int a = 0; a < stage(s).rank(); ++a) indices.push_back(axis_of(s, a));
  return indices;
}

ExprP StagePrinter::axis_of(int s, int a) const {
  const int of_launch = axes_.at(s)[a];
  if (of_launch < 0) return index_constant(0);
  const auto other = stand_ins_.find(of_launch);
  return other == stand_ins_.end() ? axis(of_launch) : other->second;
}

bool StagePrinter::stored(int s) const {
  const GroupTensor& tensor = group_.tensors[dest(s)];
  if (tensor.role == GroupTensor::Role::write || tensor.kept) return true;
  return std::any_of(group_.stages.begin() + last_ + 1, group_.stages.end(), [&](const GroupStage& later) {
    const auto loads = loads_of(later.stage.body);
    return std::any_of(loads.begin(), loads.end(), [&](const Expr* e) { return e->tensor == dest(s); });
  });
}

Value StagePrinter::define(int s, Value value, DType computed) {
  const GroupStage& one = group_.stages[s];
  const GroupTensor& to = group_.tensors[one.dest];
  if (to.type.dtype != computed) {
    const bool number = value.dims == 0 && is_constant(one.stage.body);
    value.text = number ? "tl.full([], " + value.text + ", " + dtype_text(to.type.dtype) + ")"
                        : "(" + value.text + ").to(" + dtype_text(to.type.dtype) + ")";
  }
  const std::string name = out_.fresh(to.name + "_value");
  out_.line(name + " = " + value.text + "  # " + one.op + (one.location.empty() ? "" : ", " + one.location));
  hold(s, {name, value.dims});
  return {name, value.dims};
}

void StagePrinter::put(int s, const Value& value, const Tile& tile) {
  const GroupStage& one = group_.stages[s];
  std::vector<ExprP> place;
  for (const ExprP& e : one.place) place.push_back(canonical(s, e));
  store(one.dest, one.place.empty() ? own_indices(s) : place, value, tile,
        one.placed ? canonical(s, one.placed) : nullptr);
}

void StagePrinter::keep(int s, Value value, DType computed, const Tile& tile, bool again) {
  value = define(s, std::move(value), computed);
  if (stored(s) && (written_.insert(s).second || again)) put(s, value, tile);
}

void StagePrinter::store_peak(const Value& largest, const Tile& tile, const std::string& program) {
  const int peaks = group_.stages[last_].peak_tensor;
  const std::string live = tile.mask(largest.dims);
  std::string peak = live.empty() ? largest.text : "tl.where(" + live + ", " + largest.text + ", 0.0)";
  for (const unsigned dim : {kColumns, kRows})
    if (largest.dims & dim)
      peak = "tl.max(" + peak + ", axis=" + (dim == kColumns && (largest.dims & kRows) ? "1)" : "0)");
  use(peaks);
  out_.line("tl.store(" + group_.tensors[peaks].name + " + " + program + ", " + peak + ")");
}

void StagePrinter::missing(int) { throw Unsupported{"a value before it is computed"}; }

bool StagePrinter::held(const Expr& load, const Tile&, Value& value) {
  for (int s = first_; s <= last_; ++s) {
    if (dest(s) != load.tensor) continue;
    const std::vector<ExprP> own = own_indices(s);
    if (own.size() != load.args.size()) throw Unsupported{"a read of a value that is placed elsewhere"};
    for (size_t d = 0; d < own.size(); ++d)
      if (stage(s).type.shape[d] > 1 && to_string(own[d]) != to_string(load.args[d]))
        throw Unsupported{"a shifted read of a value in registers"};
    if (!is_held(s)) missing(s);
    const auto* known = out_.find("held:" + std::to_string(load.tensor));
    value = {known->text, known->dims};
    return true;
  }
  return false;
}

void StagePrinter::open_lane(Lane& lane, const std::string& name, const std::string& start, int64_t count,
                             int64_t covers) {
  lane.flat = out_.fresh(name);
  lane.mask.clear();
  if (lane.block == 1) {
    out_.line(lane.flat + " = " + start);
    return;
  }
  out_.line(lane.flat + " = " + (start == "0" ? "" : start + " + ") + "tl.arange(0, " + std::to_string(lane.block) +
            ")" + (wide_ ? ".to(tl.int64)" : ""));
  if (count % std::max(lane.block, covers) == 0) return;
  lane.mask = lane.flat + "_live";
  out_.line(lane.mask + " = " + lane.flat + " < " + std::to_string(count));
}

TritonLaunch StagePrinter::finished(int64_t programs, int64_t warps, int64_t stages) const {
  TritonLaunch launch;
  launch.name = name_;
  for (int tensor : used()) launch.parameters.push_back(group_.tensors[tensor].name);
  launch.arguments = launch.parameters;
  launch.body = out_.text();
  launch.programs = programs, launch.warps = warps, launch.stages = stages;
  launch.helpers = helpers();
  return launch;
}

}  // namespace mtmc::triton
