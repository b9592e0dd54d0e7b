#include "targets/frame.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ops/op.h"

namespace mtmc {
namespace {

// Union-find over (stage, spatial axis); a class that cannot be shared is poisoned.
class AxisClasses {
 public:
  // Of the stages from..to.
  AxisClasses(const Group& group, int from, int to) : group_(group), from_(from), to_(to) {
    for (const GroupStage& stage : group.stages) {
      first_.push_back(static_cast<int>(parent_.size()));
      for (int i = 0; i < stage.stage.rank(); ++i) parent_.push_back(static_cast<int>(parent_.size()));
    }
    poisoned_.assign(parent_.size(), false);
    for (int s = from; s <= to; ++s) link(s);
  }

  int slot(int stage, int axis) const { return first_[stage] + axis; }
  int find(int x) const {
    while (parent_[x] != x) x = parent_[x];
    return x;
  }
  bool poisoned(int root) const {
    for (size_t i = 0; i < parent_.size(); ++i)
      if (poisoned_[i] && find(static_cast<int>(i)) == root) return true;
    return false;
  }
  // The stage's axis in this class: -1 when none, -2 when more than one.
  int axis_of(int stage, int root) const {
    int found = -1;
    for (int a = 0; a < group_.stages[stage].stage.rank(); ++a)
      if (find(slot(stage, a)) == root) found = found == -1 ? a : -2;
    return found;
  }

 private:
  void link(int consumer) {
    const Stage& stage = group_.stages[consumer].stage;
    if (is_scan(stage.combine)) poisoned_[slot(consumer, stage.scan_axis)] = true;
    for (const Expr* e : loads_of(stage.body)) {
      const int producer = producer_of(e->tensor);
      if (producer < 0) continue;
      for (int d = 0; d < static_cast<int>(e->args.size()); ++d) {
        const Expr& index = *e->args[d];
        const bool pure = index.kind == Expr::Kind::axis && index.axis < stage.rank() &&
                          stage.type.shape[index.axis] == group_.stages[producer].stage.type.shape[d];
        if (pure) {
          parent_[find(slot(producer, d))] = find(slot(consumer, index.axis));
        } else if (group_.stages[producer].stage.type.shape[d] > 1) {
          poisoned_[slot(producer, d)] = true;
        }
      }
    }
  }
  int producer_of(TensorRef tensor) const {
    for (int s = from_; s <= to_; ++s)
      if (group_.stages[s].dest == tensor) return s;
    return -1;
  }

  const Group& group_;
  int from_, to_;
  std::vector<int> first_, parent_;
  std::vector<bool> poisoned_;
};

double stage_work(const GroupStage& stage) {
  return static_cast<double>(product(stage.stage.extents())) * (1 + operation_count(stage.stage.body));
}

// Whether a stage's result is needed beyond stage `to`: by a later stage or in memory.
bool outlives(const Group& group, int stage, int to) {
  const int dest = group.stages[stage].dest;
  if (group.tensors[dest].role == GroupTensor::Role::write) return true;
  for (int s = to + 1; s < static_cast<int>(group.stages.size()); ++s)
    for (const Expr* e : loads_of(group.stages[s].stage.body))
      if (e->tensor == dest) return true;
  return false;
}

}  // namespace

ExprP flat_index(const std::vector<ExprP>& indices, const std::vector<int64_t>& strides) {
  ExprP flat = index_constant(0);
  for (size_t d = 0; d < indices.size(); ++d) flat = flat + indices[d] * index_constant(strides[d]);
  return flat;
}

bool has_low_part(const Group& group, int tensor) {
  return std::any_of(group.tensors.begin(), group.tensors.end(),
                     [&](const GroupTensor& other) { return other.behind == tensor; });
}

Frame frame_over(const Group& group, int from, int to) {
  const AxisClasses classes(group, from, to);
  double total = 0;
  for (int s = from; s <= to; ++s) total += stage_work(group.stages[s]);
  Frame frame;
  frame.first = from;
  frame.last = to;
  for (int a = 0; a < group.stages[to].stage.rank(); ++a) {
    const int root = classes.find(classes.slot(to, a));
    if (classes.poisoned(root)) continue;
    SharedAxis shared;
    shared.extent = group.stages[to].stage.type.shape[a];
    bool fits = shared.extent > 1;
    double repeated = 0;
    for (int s = from; s <= to; ++s) {
      const int axis = classes.axis_of(s, root);
      if (axis == -2 || (axis == -1 && outlives(group, s, to))) fits = false;
      if (axis == -1) repeated += stage_work(group.stages[s]) * static_cast<double>(shared.extent);
      shared.stage_axis.push_back(axis);
    }
    // Stages without this axis are computed again for every index of it.
    if (fits && repeated <= 0.25 * total) frame.shared.push_back(shared);
  }
  return frame;
}

int Frame::shared_of(int stage, int axis) const {
  for (size_t i = 0; i < shared.size(); ++i)
    if (axis_of(static_cast<int>(i), stage) == axis) return static_cast<int>(i);
  return -1;
}

std::vector<Frame> build_frames(const Group& group) {
  std::vector<Frame> frames;
  const int stages = static_cast<int>(group.stages.size());
  for (int from = 0; from < stages; from = frames.back().last + 1) {
    Frame best = frame_over(group, from, from);
    for (int to = from + 1; to < stages; ++to) {
      Frame longer = frame_over(group, from, to);
      // Losing an axis (a matmul's N when a row reduction joins) is worth it; losing all of them is not, unless nothing
      // was parallel anyway.
      if (!longer.shared.empty() || best.shared.empty()) best = std::move(longer);
    }
    frames.push_back(std::move(best));
  }
  return frames;
}

Family classify(const Group& group) {
  Family family = Family::movement;
  for (const GroupStage& stage : group.stages) {
    if (stage.contraction) return Family::contraction;
    if (is_scan(stage.stage.combine)) family = Family::scan;
    if (family == Family::scan) continue;
    if (is_reduction(stage.stage.combine)) {
      // A window slides: some index mixes a spatial and a reduce axis.
      bool window = false;
      for (const Expr* e : loads_of(stage.stage.body))
        for (const ExprP& index : e->args) {
          bool spatial = false, reduced = false;
          walk(index, [&](const Expr& node) {
            if (node.kind == Expr::Kind::axis) (node.axis < stage.stage.rank() ? spatial : reduced) = true;
          });
          window |= spatial && reduced;
        }
      family = window && family != Family::reduction ? Family::window : Family::reduction;
    } else if (operation_count(stage.stage.body) > 0 && family == Family::movement) {
      family = Family::pointwise;
    }
  }
  return family;
}

Status can_generate(const Program& program, const std::vector<ValueId>& values) {
  for (ValueId id : values) {
    const Node* node = program.producer(id);
    const OpDef* op = find_op(node->op);
    if (!op || (!op->define && !op->recurrence))
      return Error{"generating a kernel", "operator has no definition", node->op, "an operator with one"};
    for (ValueId out : node->outputs)
      if (program.value(out).type.elements() == 0)
        return Error{"generating a kernel", "an empty tensor", to_string(program.value(out).type),
                     "at least one element"};
  }
  return ok_status();
}

Result<Family> family_of(const Program& program, const Kernel& kernel) {
  if (is_recurrent(program, kernel)) return Family::recurrent;
  MTMC_TRY(const Group group, build_group(program, kernel));
  return classify(group);
}

bool is_recurrent(const Program& program, const Kernel& kernel) {
  int recurrences = 0;
  for (const Node& node : program.nodes) {
    if (std::find(kernel.values.begin(), kernel.values.end(), node.outputs[0]) == kernel.values.end()) continue;
    const OpDef* op = find_op(node.op);
    if (op && op->recurrence) {
      ++recurrences;
    } else if (!op || !op->define || (!op->is_view && !node.inputs.empty())) {
      return false;
    }
  }
  return recurrences == 1;
}

Status refuse_recurrent(const Program& program, const Kernel& kernel) {
  if (!is_recurrent(program, kernel)) return ok_status();
  return Error{"printing " + kernel.name, "a recurrence, which this target cannot print", "", "a library kernel"};
}

}  // namespace mtmc
