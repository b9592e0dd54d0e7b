#include "targets/cost.h"

#include <algorithm>
#include <set>

#include "ops/recurrence.h"
#include "targets/frame.h"
#include "targets/gpu_cost.h"

namespace mtmc {
namespace {

// What part of the peak each way of running things reaches; fitted to the cpu target's own kernels, ranks matter more
// than values.
constexpr double kLibraryMemory = 0.6, kLibraryContraction = 0.7;
constexpr double kOwnMemory = 0.9, kTiledContraction = 0.65, kNaiveContraction = 0.06;
constexpr double kDeviceLaunch = 2e-6;  // seconds between two kernels on a GPU
constexpr double kSerialChain = 0.6;    // one accumulator waits for itself
// Seconds of a recurrence's step, which waits for the step before: one of a layer and direction as a library call, and
// one of a whole launch, whose layers work at once unless each needs the whole sequence below.
constexpr double kLibraryStep = 9e-6, kOwnStep = 6e-6;

std::vector<const Node*> nodes_in(const Program& program, const Kernel& kernel) {
  std::vector<const Node*> nodes;
  const std::set<ValueId> own(kernel.values.begin(), kernel.values.end());
  for (const Node& node : program.nodes)
    if (own.count(node.outputs[0])) nodes.push_back(&node);
  return nodes;
}

double stored_bytes(const Program& program, ValueId id) {
  const Value& value = program.value(id);
  return static_cast<double>(value.type.elements()) * bytes(value.storage);
}

// An operand that only a small part of is read (an embedding's table) costs what the results take.
double traffic(const Program& program, const Kernel& kernel) {
  double written = 0, read = 0;
  for (ValueId id : program.writes(kernel)) written += stored_bytes(program, id);
  for (ValueId id : program.reads(kernel)) read += stored_bytes(program, id);
  double touched = 0;
  for (const Node* node : nodes_in(program, kernel)) touched += work_of(program, *node).bytes;
  return std::min(read + written, std::max(touched, written));
}

struct Time {
  double memory = 0, arithmetic = 0;
};

Time library_time(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  Time time;
  for (const Node* node : nodes_in(program, kernel)) {
    const OpDef* op = find_op(node->op);
    if (op && op->is_view) continue;
    const Work work = work_of(program, *node);
    time.memory += work.bytes / (hardware.bandwidth * kLibraryMemory);
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

Time own_time(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  Time time;
  const double cores = static_cast<double>(hardware.cores);
  const auto group = build_group(program, kernel);
  const double busy = group.ok() ? parallelism(*group, kernel, hardware) : cores;
  double contraction = 0, plain = 0, special = 0, scratch = 0;
  for (const Node* node : nodes_in(program, kernel)) contraction += work_of(program, *node).contraction_flops;
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
  time.memory = traffic(program, kernel) / (hardware.bandwidth * kOwnMemory) *
                (busy < cores ? cores / std::max(1.0, busy) / 2 + 0.5 : 1.0);
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
  for (const Node* node : nodes_in(program, kernel)) {
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

bool is_captured(const Program& program, const Kernel& kernel, bool* first) {
  for (const auto& capture : program.captures)
    for (size_t i = 0; i < capture.size(); ++i)
      if (capture[i] == kernel.name) {
        *first = i == 0;
        return true;
      }
  return false;
}

}  // namespace

KernelCost cost_of(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  KernelCost cost;
  cost.kernel = kernel.name;
  cost.own = kernel.family != Family::library;
  double contraction = 0, special = 0;
  bool only_views = true;
  for (const Node* node : nodes_in(program, kernel)) {
    const OpDef* op = find_op(node->op);
    only_views &= op && op->is_view;
    const Work work = work_of(program, *node);
    cost.flops += work.flops;
    contraction += work.contraction_flops;
    special += work.special;
  }
  if (only_views && !cost.own) return cost;
  cost.bytes = traffic(program, kernel);
  cost.roofline =
      std::max(cost.bytes / hardware.bandwidth, cost.flops / hardware.flops_f32 + special / hardware.flops_special);
  bool first = true;
  const bool captured = is_captured(program, kernel, &first);
  if (hardware.flops_f16 > 0) {
    const GpuTime time =
        cost.own ? gpu_own_time(program, kernel, cost.bytes, hardware) : gpu_library_time(program, kernel, hardware);
    cost.roofline = std::max(cost.bytes / hardware.bandwidth, contraction / hardware.flops_f16 +
                                                                  (cost.flops - contraction) / hardware.flops_f32 +
                                                                  special / hardware.flops_special);
    // The host launches while the device works: only the longer of the two is seen.
    const double one = cost.own ? hardware.launch_seconds : hardware.library_seconds;
    const double host = captured ? (first ? 2 * one : 0) : one + 0.5 * one * (time.launches - 1);
    const double device =
        std::max(time.memory, time.arithmetic) + 0.2 * std::min(time.memory, time.arithmetic) + time.passes;
    cost.seconds = std::max(device + kDeviceLaunch * time.launches, host);
    return cost;
  }
  const Time time = cost.own ? own_time(program, kernel, hardware) : library_time(program, kernel, hardware);
  const double launch = cost.own ? (captured && !first ? 0.1 * hardware.launch_seconds : hardware.launch_seconds)
                                 : hardware.library_seconds;
  cost.seconds = std::max(time.memory, time.arithmetic) + 0.2 * std::min(time.memory, time.arithmetic) + launch;
  cost.seconds = std::max(cost.seconds, launch + chain_seconds(program, kernel));
  return cost;
}

std::vector<KernelCost> cost_of(const Program& program, const Hardware& hardware) {
  std::vector<KernelCost> costs;
  for (const Kernel& kernel : program.kernels) costs.push_back(cost_of(program, kernel, hardware));
  return costs;
}

double total_seconds(const Program& program, const Hardware& hardware) {
  double total = 0;
  for (const KernelCost& cost : cost_of(program, hardware)) total += cost.seconds;
  return total;
}

double minimum_bytes(const Program& program) {
  double total = 0;
  std::set<ValueId> read;
  double touched = 0;
  for (const Node& node : program.nodes) {
    touched += work_of(program, node).bytes;
    for (ValueId id : node.inputs)
      if (id != kNoValue && program.value(id).kind != ValueKind::result) read.insert(id);
  }
  for (ValueId id : read) total += stored_bytes(program, id);
  for (ValueId id : program.outputs)
    if (id != kNoValue) total += stored_bytes(program, id);
  for (const StateUpdate& state : program.states) total += stored_bytes(program, state.value);
  return std::min(total, touched);
}

double roofline_seconds(const Program& program, const Hardware& hardware) {
  double flops = 0, special = 0;
  // Matrix units multiply at another rate, in whatever precision the contract allows.
  const double share = hardware.flops_f16 > 0 ? hardware.flops_f32 / hardware.flops_f16 : 1;
  for (const Node& node : program.nodes) {
    const Work work = work_of(program, node);
    flops += work.flops - work.contraction_flops * (1 - share);
    special += work.special;
  }
  return std::max(minimum_bytes(program) / hardware.bandwidth,
                  flops / hardware.flops_f32 + special / hardware.flops_special);
}

}  // namespace mtmc
