// The cost model of kernels on a CPU.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "ops/recurrence.h"
#include "targets/cost_parts.h"
#include "targets/cpu/kernel_printer.h"
#include "targets/cpu/loop_nest.h"
#include "targets/cpu/tile_plan.h"

namespace mtmc {
namespace {

// What part of the peak each way of running things reaches; fitted to the cpu target's own kernels, ranks matter more
// than values.
constexpr double kLibraryMemory = 0.6, kLibraryContraction = 0.7;
constexpr double kOwnMemory = 0.9, kTiledContraction = 0.65, kNaiveContraction = 0.06;
constexpr double kSerialChain = 0.6;  // one accumulator waits for itself
constexpr double kScalarStep = 1e-9;  // seconds of OpDef::library_steps
// Seconds of a recurrence's step, which waits for the step before: one of a layer and direction as a library call, and
// one of a whole launch, whose layers work at once unless each needs the whole sequence below.
constexpr double kLibraryStep = 9e-6, kOwnStep = 6e-6;

struct Time {
  double memory = 0, arithmetic = 0;
};

Time library_time(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  Time time;
  for (const Node* node : program.nodes_of(kernel)) {
    const OpDef* op = find_op(node->op);
    if (op && op->is_view) continue;
    const Work work = library_work(program, *node);
    time.memory += work.bytes / (hardware.bandwidth * kLibraryMemory);
    if (op && op->library_steps) {
      time.arithmetic += op->library_steps(call_of(program, *node)) * kScalarStep / static_cast<double>(hardware.cores);
      continue;
    }
    time.arithmetic += work.contraction_flops / (hardware.flops_f32 * kLibraryContraction) +
                       (work.flops - work.contraction_flops) / hardware.flops_f32 +
                       work.special / hardware.flops_special;
  }
  return time;
}

// How many cores a group's busiest frame keeps busy.
double parallelism(const Group& group, const Kernel& kernel, const Hardware& hardware) {
  double all = 0, serial = 0;
  for (const Frame& frame : build_frames(group)) {
    for (int s = frame.first; s <= frame.last; ++s) {
      const Stage& stage = group.stages[s].stage;
      const double work = static_cast<double>(product(stage.extents()));
      all += work;
      const bool splits = kernel.has("split") && is_reduction(stage.combine);
      const bool spatial = stage.type.elements() >= hardware.cores;
      if (frame.shared.empty() && !splits && !spatial) serial += work;
    }
  }
  const double share = all > 0 ? serial / all : 0;
  return 1.0 / (share + (1 - share) / hardware.cores);
}

// What the stages of a group do beside products.
class StageWork {
 public:
  StageWork(const Group& group, const Kernel& kernel, const Hardware& hardware)
      : group_(group), kernel_(kernel), hardware_(hardware) {}

  double plain = 0, special = 0;  // operations, those of exp and its like weighted
  double scratch = 0;             // bytes: every stage walks its data through the caches

  void add(int s) {
    const Stage& stage = group_.stages[s].stage;
    if (moves_with_all(stage.body, stage)) {
      const double elements = static_cast<double>(product(stage.extents()));
      count(stage.body, [&](uint64_t) { return elements; });
    } else {
      const LoopNest nest = nest_of(s);
      count(merged_->stages[s].stage.body, [&](uint64_t used) { return nest.elements(used); });
    }
  }

 private:
  static bool costly(Fn fn) { return fn >= Fn::exp && fn <= Fn::erf && fn != Fn::sqrt && fn != Fn::rsqrt; }
  static bool counts(const Expr& e) {
    return e.kind == Expr::Kind::load || (e.kind == Expr::Kind::call && e.dtype != DType::i64);
  }

  // Whether all that counts is computed for each element, however the loops are nested.
  static bool moves_with_all(const ExprP& body, const Stage& stage) {
    uint64_t all = 0;
    const std::vector<int64_t> extents = stage.extents();
    for (size_t a = 0; a < extents.size(); ++a)
      if (extents[a] > 1) all |= uint64_t{1} << a;
    bool found = true;
    each_part(body, [&](const ExprP& e) { found &= !counts(*e) || (all & ~e->axes) == 0; });
    return found;
  }

  // Each part once: what is in an expression more than once is printed and computed once.
  template <class Visit>
  static void each_part(const ExprP& body, const Visit& visit) {
    std::set<const Expr*> met;
    const std::function<void(const ExprP&)> go = [&](const ExprP& e) {
      if (e == nullptr || !met.insert(e.get()).second) return;
      visit(e);
      for (const ExprP& arg : e->args) go(arg);
      go(e->guard), go(e->other);
    };
    go(body);
  }

  template <class Elements>
  void count(const ExprP& body, const Elements& elements) {
    each_part(body, [&](const ExprP& e) {
      if (!counts(*e)) return;
      const double times = elements(e->axes);
      if (e->kind == Expr::Kind::load) {
        scratch += times * bytes(e->dtype);
      } else {
        (costly(e->fn) ? special : plain) += times * (costly(e->fn) ? 8 : 1);
      }
    });
  }

  // The loops that the printer makes of stage s.
  LoopNest nest_of(int s) {
    if (!merged_) merged_ = collapse_axes(group_), frames_ = build_frames(*merged_);
    const auto holds = [&](const Frame& frame) { return frame.first <= s && s <= frame.last; };
    const Frame& frame = *std::find_if(frames_.begin(), frames_.end(), holds);
    auto numbers = default_numbers(*merged_, frame, kernel_, hardware_);
    if (&frame == &frames_[main_frame(*merged_, frames_)])
      for (const auto& [key, number] : kernel_.numbers) numbers[key] = number;
    const std::vector<int64_t> tiles = tile_extents(*merged_, frame, kernel_, numbers);
    StagePlan plan = whole_plan(*merged_, s);
    double count = 1;
    for (size_t p = 0; p < tiles.size(); ++p) {
      const int a = frame.axis_of(static_cast<int>(p), s);
      if (a < 0) continue;
      count *= std::ceil(static_cast<double>(plan.loops[a].extent) / static_cast<double>(tiles[p]));
      plan.loops[a].length = tiles[p];
      plan.loops[a].fixed = tiles[p] == 1;
    }
    return {plan, count};
  }

  const Group& group_;
  const Kernel& kernel_;
  const Hardware& hardware_;
  std::optional<Group> merged_;  // as the printer sees it
  std::vector<Frame> frames_;
};

Time own_time(const Program& program, const Kernel& kernel, double bytes_moved, const Hardware& hardware) {
  Time time;
  const double cores = static_cast<double>(hardware.cores);
  const auto group = build_group(program, kernel);
  const double busy = group.ok() ? parallelism(*group, kernel, hardware) : cores;
  double contraction = 0, plain = 0, special = 0, scratch = 0;
  for (const Node* node : program.nodes_of(kernel)) contraction += work_of(program, *node).contraction_flops;
  bool reduces = false;
  if (group.ok()) {
    StageWork work(*group, kernel, hardware);
    for (int s = 0; s < static_cast<int>(group->stages.size()); ++s) {
      const GroupStage& stage = group->stages[s];
      reduces |= is_reduction(stage.stage.combine) && !stage.contraction;
      if (!stage.contraction) work.add(s);
    }
    plain = work.plain, special = work.special, scratch = work.scratch;
  }
  const double chain = reduces && !kernel.has("pipelined") ? kSerialChain : 1.0;
  const double blocked =
      kernel.has("tiled") || kernel.family == Family::recurrent ? kTiledContraction : kNaiveContraction;
  time.memory =
      bytes_moved / (hardware.bandwidth * kOwnMemory) * (busy < cores ? cores / std::max(1.0, busy) / 2 + 0.5 : 1.0);
  time.arithmetic = (contraction / (hardware.flops_f32 * blocked) + plain / (hardware.flops_f32 * 0.5 * chain) +
                     special / hardware.flops_special + scratch / hardware.cache_bandwidth) *
                    cores / busy;
  if (kernel.has("tiled") && contraction == 0) time.memory *= 0.99;
  if (kernel.choices.count("order")) time.memory *= 1.01;
  return time;
}

// The least time of the recurrences' steps, one after the other.
double chain_seconds(const Program& program, const Kernel& kernel) {
  double seconds = 0;
  for (const Node* node : program.nodes_of(kernel)) {
    const OpDef* op = find_op(node->op);
    if (!op || !op->recurrence) continue;
    const Recurrence r = op->recurrence(call_of(program, *node));
    const double steps = static_cast<double>(r.steps), each = steps * r.layers;
    if (kernel.family == Family::library) {
      seconds += kLibraryStep * each * r.directions;
    } else {
      seconds += kOwnStep * (r.directions > 1 ? each : steps + r.layers);
    }
  }
  return seconds;
}

}  // namespace

KernelCost cpu_cost(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  auto [cost, work, free] = kernel_work(program, kernel);
  if (free) return cost;
  cost.roofline = std::max(cost.bytes / hardware.bandwidth,
                           work.flops / hardware.flops_f32 + work.special / hardware.flops_special);
  const Time time =
      cost.own ? own_time(program, kernel, cost.bytes, hardware) : library_time(program, kernel, hardware);
  const double call = cost.own ? hardware.launch_seconds : hardware.library_seconds;
  const double launch = cost.own && captured(program, kernel) == Captured::later ? 0.1 * call : call;
  cost.seconds = std::max(overlapped(time.memory, time.arithmetic) + launch, launch + chain_seconds(program, kernel));
  return cost;
}

}  // namespace mtmc
