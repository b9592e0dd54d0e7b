// The cost model of kernels on a CPU.
#include <algorithm>

#include "ops/recurrence.h"
#include "targets/cost_parts.h"
#include "targets/frame.h"

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
    const Work work = work_of(program, *node);
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

Time own_time(const Program& program, const Kernel& kernel, double bytes_moved, const Hardware& hardware) {
  Time time;
  const double cores = static_cast<double>(hardware.cores);
  const auto group = build_group(program, kernel);
  const double busy = group.ok() ? parallelism(*group, kernel, hardware) : cores;
  double contraction = 0, plain = 0, special = 0, scratch = 0;
  for (const Node* node : program.nodes_of(kernel)) contraction += work_of(program, *node).contraction_flops;
  bool reduces = false;
  if (group.ok())
    for (const GroupStage& stage : group->stages) {
      const double elements = static_cast<double>(product(stage.stage.extents()));
      reduces |= is_reduction(stage.stage.combine) && !stage.contraction;
      if (stage.contraction) continue;
      walk(stage.stage.body, [&](const Expr& e) {
        if (e.kind != Expr::Kind::call || e.dtype == DType::i64) return;
        const bool costly = e.fn >= Fn::exp && e.fn <= Fn::erf && e.fn != Fn::sqrt && e.fn != Fn::rsqrt;
        (costly ? special : plain) += elements * (costly ? 8 : 1);
      });
      // Every stage walks its data through the caches.
      for (const Expr* e : loads_of(stage.stage.body)) scratch += elements * bytes(e->dtype);
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
