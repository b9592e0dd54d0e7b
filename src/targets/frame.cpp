#include "targets/frame.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "ops/op.h"

namespace mtmc {
namespace {

// Union-find over (stage, spatial axis) of a run of stages that grows at its end; a class that cannot be shared is
// poisoned.
class AxisClasses {
 public:
  explicit AxisClasses(const Group& group) : group_(group) {
    for (const GroupStage& stage : group.stages) {
      first_.push_back(static_cast<int>(parent_.size()));
      for (int i = 0; i < stage.stage.rank(); ++i) parent_.push_back(static_cast<int>(parent_.size()));
    }
    poisoned_.assign(parent_.size(), false);
  }

  // Stages are linked one after the other, from the first one on.
  void link(int consumer) {
    const Stage& stage = group_.stages[consumer].stage;
    producers_.emplace(group_.stages[consumer].dest, consumer);
    if (is_scan(stage.combine)) poisoned_[find(slot(consumer, stage.scan_axis))] = true;
    for (const Expr* e : loads_of(stage.body)) {
      const auto producer = producers_.find(e->tensor);
      if (producer == producers_.end()) continue;
      const TensorType& made = group_.stages[producer->second].stage.type;
      for (int d = 0; d < static_cast<int>(e->args.size()); ++d) {
        const Expr& index = *e->args[d];
        const bool pure = index.kind == Expr::Kind::axis && index.axis < stage.rank() &&
                          stage.type.shape[index.axis] == made.shape[d];
        if (pure) {
          join(find(slot(producer->second, d)), find(slot(consumer, index.axis)));
        } else if (made.shape[d] > 1) {
          poisoned_[find(slot(producer->second, d))] = true;
        }
      }
    }
  }

  int slot(int stage, int axis) const { return first_[stage] + axis; }
  int find(int x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  bool poisoned(int root) const { return poisoned_[root]; }
  // The stage's axis in this class: -1 when none, -2 when more than one.
  int axis_of(int stage, int root) {
    int found = -1;
    for (int a = 0; a < group_.stages[stage].stage.rank(); ++a)
      if (find(slot(stage, a)) == root) found = found == -1 ? a : -2;
    return found;
  }

 private:
  void join(int root, int other) {
    parent_[root] = other;
    poisoned_[other] = poisoned_[other] || poisoned_[root];
  }

  const Group& group_;
  std::vector<int> first_, parent_;
  std::vector<bool> poisoned_;    // of roots
  std::map<int, int> producers_;  // of a tensor
};

double stage_work(const GroupStage& stage) {
  return static_cast<double>(product(stage.stage.extents())) * (1 + operation_count(stage.stage.body));
}

// For each stage the last one that needs its result; one past the end where it goes to memory.
std::vector<int> last_readers(const Group& group) {
  std::map<int, int> last;  // of a tensor
  const int end = static_cast<int>(group.stages.size());
  for (int s = 0; s < end; ++s)
    for (const Expr* e : loads_of(group.stages[s].stage.body)) last[e->tensor] = s;
  std::vector<int> readers;
  for (const GroupStage& stage : group.stages)
    readers.push_back(group.tensors[stage.dest].role == GroupTensor::Role::write ? end : last[stage.dest]);
  return readers;
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

std::vector<Frame> frames_from(const Group& group, int from, int to) {
  std::vector<Frame> frames;
  AxisClasses classes(group);
  const std::vector<int> needed = last_readers(group);
  std::vector<double> work;
  for (int last = from; last <= to; ++last) {
    classes.link(last);
    work.push_back(stage_work(group.stages[last]));
    const double total = std::accumulate(work.begin(), work.end(), 0.0);
    Frame frame;
    frame.first = from;
    frame.last = last;
    for (int a = 0; a < group.stages[last].stage.rank(); ++a) {
      SharedAxis shared;
      shared.extent = group.stages[last].stage.type.shape[a];
      const int root = classes.find(classes.slot(last, a));
      if (shared.extent <= 1 || classes.poisoned(root)) continue;
      bool fits = true;
      double repeated = 0;
      for (int s = from; s <= last && fits; ++s) {
        const int axis = classes.axis_of(s, root);
        fits = axis >= 0 || (axis == -1 && needed[s] <= last);
        // Stages without this axis are computed again for every index of it.
        if (axis == -1) repeated += work[s - from] * static_cast<double>(shared.extent);
        shared.stage_axis.push_back(axis);
      }
      if (fits && repeated <= 0.25 * total) frame.shared.push_back(shared);
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

Frame frame_over(const Group& group, int from, int to) { return frames_from(group, from, to).back(); }

int Frame::shared_of(int stage, int axis) const {
  for (size_t i = 0; i < shared.size(); ++i)
    if (axis_of(static_cast<int>(i), stage) == axis) return static_cast<int>(i);
  return -1;
}

std::vector<Frame> build_frames(const Group& group) {
  std::vector<Frame> frames;
  const int stages = static_cast<int>(group.stages.size());
  for (int from = 0; from < stages; from = frames.back().last + 1) {
    std::vector<Frame> longer = frames_from(group, from, stages - 1);
    // Losing an axis (a matmul's N when a row reduction joins) is worth it; losing all of them is not, unless nothing
    // was parallel anyway.
    size_t best = 0;
    for (size_t i = 1; i < longer.size(); ++i)
      if (!longer[i].shared.empty() || longer[best].shared.empty()) best = i;
    frames.push_back(std::move(longer[best]));
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
