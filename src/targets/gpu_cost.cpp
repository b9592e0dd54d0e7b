// The cost model of kernels on a GPU: matrix units, whole-chip parallelism, launches that cost the host more than the
// device.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "ir/kernel_memo.h"
#include "targets/cost_parts.h"
#include "targets/frame.h"
#include "targets/triton/attention.h"
#include "targets/triton/kernel_printer.h"
#include "targets/triton/pack.h"
#include "targets/triton/prepare.h"
#include "targets/triton/split_k.h"

namespace mtmc {
namespace {

// Shares of a peak that kernels reach, measured on an H200; ranks matter more than values.
constexpr double kGpuLibraryMemory = 0.7, kGpuOwnMemory = 0.92;
constexpr double kLibraryGrouped = 0.03;  // of the f32 peak: convolutions in groups
// Fitted to 973 convolutions in TF32 and 112 products in f32 of torch 2.11 on an H200 (batches of 1 to 32, images of 7
// to 112 pixels, 1 to 4,096 rows and columns): the forecast is within 35 and 30 % for two thirds of them.
constexpr double kLibraryTf32 = 0.45;       // of the TF32 peak: cuDNN without channels-last
constexpr double kLibraryChannels = 12000;  // channels in times channels out: fewer leave matrix units idle
constexpr double kLibraryF32 = 0.66;        // of the f32 peak
// Seconds times the root of K: what a result waits for, however few there are. Few rows or columns are no tiles.
constexpr double kLibraryDepth = 0.4e-6, kLibraryTile = 28;
constexpr double kOwnHalf = 0.85, kConvolution = 0.57, kAttention = 0.55;  // of the f16 peak
// Likewise; fitted, with kConvolution, to the tasks for training of datasets/h100. The last one is not measured.
constexpr double kTwoPart = 0.26, kTwoPartConvolution = 0.19, kTwoPartAttention = 0.15;
constexpr double kTwoPartInLoop = 0.23;  // of whole tiles of rows: splitting takes as long whatever a tile has of them
constexpr double kLibraryWindow = 0.015, kOwnWindow = 0.06;  // elements of windows a second, of the f32 peak
constexpr double kTileRows = 128, kTileColumns = 256;        // of a product's usual tile
constexpr double kWindow = 128;                              // a reduction of fewer elements is walked by every lane
constexpr double kProgramLanes = 128, kLaneElements = 4;     // of a usual program; of a row, at least, in a lane
constexpr double kDeviceLaunch = 2e-6;                       // seconds between two kernels
constexpr double kCopyCall = 0.3;                            // of another call of torch's: several are copied by one
constexpr double kExact = 0.4, kTf32x3 = 0.9;                // of the f32 peak
// A tile's step along K, which waits for the one before: of 121 launches of at most 132 programs on an H200 half took
// 0.21 to 0.43 us.
constexpr double kStep = 0.25e-6, kStepElements = 64;

struct GpuTime {
  double memory = 0, arithmetic = 0;  // seconds
  double passes = 0;                  // of what launches pass on between them: beside nothing else
  double depth = 0;                   // of what waits for what is before it, however much is done beside it
  int launches = 1;
};

bool reads_half(const Program& program, const Node& node) {
  return !node.inputs.empty() && node.inputs[0] != kNoValue && is_half(program.value(node.inputs[0]).type.dtype);
}

// A pool: a window that is no product.
bool is_pool(const Program& program, const Kernel& kernel, const Work& work) {
  if (work.contraction_flops > 0) return false;
  const auto family = family_of(program, kernel);
  return family.ok() && *family == Family::window;
}

bool reads_half(const GroupStage& stage) {
  bool half = true;
  for (const ExprP& side : {stage.contraction->left, stage.contraction->right})
    for (const Expr* load : loads_of(side)) half = half && is_half(load->dtype);
  return half;
}

// How a product of f32 is multiplied in this kernel.
std::string way_of(const Kernel& kernel, const GroupStage& stage) {
  const auto precision = kernel.choices.find("precision");
  return triton::way_of(stage, precision == kernel.choices.end() ? "ieee" : precision->second);
}

double contraction_rate(const Group& group, const Kernel& kernel, const GroupStage& stage, bool attention,
                        const Hardware& hardware) {
  if (reads_half(stage)) return (attention ? kAttention : kOwnHalf) * hardware.flops_f16;
  const std::string way = way_of(kernel, stage);
  if (way == "two_part") {
    if (!attention && triton::splits_in_loop(group, stage, kernel.number("in_loop", -1))) {
      const auto rows = static_cast<double>(product(stage.stage.extents(), stage.contraction->m));
      return kTwoPartInLoop * rows / (kTileRows * std::ceil(rows / kTileRows)) * hardware.flops_f16;
    }
    const double share = attention ? kTwoPartAttention : stage.op.starts_with("conv") ? kTwoPartConvolution : kTwoPart;
    return share * hardware.flops_f16;
  }
  if (attention) return kTf32x3 * hardware.flops_f32;
  return way == "ieee" ? kExact * hardware.flops_f32 : kConvolution * hardware.flops_f16;
}

// Seconds of the arithmetic of an expression, each part of which is computed for `elements` of it. What is in it more
// than once is printed and computed once.
double seconds_of(const ExprP& body, const Hardware& hardware, const std::function<double(const ExprP&)>& elements) {
  double seconds = 0;
  ExprNumbers numbers;
  std::set<int> met;
  const std::function<void(const ExprP&)> visit = [&](const ExprP& e) {
    if (e == nullptr || !met.insert(numbers.of(e)).second) return;
    for (const ExprP& arg : e->args) visit(arg);
    visit(e->guard), visit(e->other);
    if (e->kind != Expr::Kind::call || e->dtype == DType::i64 || e->dtype == DType::b1) return;
    const bool costly = e->fn >= Fn::exp && e->fn <= Fn::erf && e->fn != Fn::sqrt && e->fn != Fn::rsqrt;
    seconds += elements(e) * (costly ? 8 / hardware.flops_special : 1 / (0.5 * hardware.flops_f32));
  };
  visit(body);
  return seconds;
}
double seconds_of(const ExprP& body, const Hardware& hardware) {
  return seconds_of(body, hardware, [](const ExprP&) { return 1.0; });
}

// Of all elements of a stage. One number for a row is computed once by each lane that holds some of the row's elements.
double seconds_of(const Stage& stage, const Hardware& hardware) {
  const std::vector<int64_t> extents = stage.extents();
  return seconds_of(stage.body, hardware, [&](const ExprP& part) {
    const uint64_t used = part->axes;
    double all = 1, rows = 1;
    for (size_t a = 0; a < extents.size(); ++a) {
      all *= static_cast<double>(extents[a]);
      if (used >> a & 1) rows = all;
    }
    return std::max(rows, std::min(all / kLaneElements, rows * kProgramLanes));
  });
}

// Operands that a product computes itself, once for each tile along the other operand's rows, while the matrix units
// wait. What is packed in halves is computed once.
double operand_seconds(const Kernel& kernel, const GroupStage& stage, bool half, const Hardware& hardware) {
  if (!half && way_of(kernel, stage) != "ieee") return 0;
  const Contraction& c = *stage.contraction;
  const std::vector<int64_t> extents = stage.stage.extents();
  const auto extent = [&](const std::vector<int>& axes) {
    double all = 1;
    for (const int axis : axes) all *= static_cast<double>(extents[axis]);
    return all;
  };
  const double rows = extent(c.m), columns = extent(c.n), depth = extent(c.k) * extent(c.batch);
  return rows * depth * std::ceil(columns / kTileColumns) * seconds_of(c.left, hardware) +
         columns * depth * std::ceil(rows / kTileRows) * seconds_of(c.right, hardware);
}

// Tiles of 128 x 128 that run at the same time; where they are few, smaller ones, which reach less.
double busy_share(const GroupStage& stage, bool split, const Hardware& hardware) {
  constexpr double kSmallTile = 0.5;
  const double cores = static_cast<double>(hardware.cores), tiles = static_cast<double>(triton::tiles_of(stage));
  if (split) return std::min(1.0, tiles * static_cast<double>(triton::chunks_of_k(stage, hardware)) / cores);
  return std::min(1.0, std::max(tiles / cores, kSmallTile * std::min(1.0, 4 * tiles / cores)));
}

// Of the steps of a tile along K.
double depth_of(const Kernel& kernel, const GroupStage& stage, bool split, const Hardware& hardware) {
  const double k = static_cast<double>(product(stage.stage.extents(), stage.contraction->k));
  const double chunks = split ? static_cast<double>(triton::chunks_of_k(stage, hardware)) : 1;
  const double products = !reads_half(stage) && way_of(kernel, stage) == "two_part" ? 3 : 1;
  return products * std::ceil(k / chunks / kStepElements) * kStep;
}

// Of a library's matrix units, what a convolution in TF32 keeps busy: by the first two extents of its weights.
double channels_share(const Program& program, const Node& node) {
  const Shape& weights = program.value(node.inputs[1]).type.shape;
  const double channels = weights.size() < 3 ? kLibraryChannels : static_cast<double>(weights[0] * weights[1]);
  return std::sqrt(std::min(1.0, channels / kLibraryChannels));
}

// Of a product of f32 of a library: the elements that it sums, one after the other.
double library_depth(const Program& program, const Node& node, const Work& work, bool convolution) {
  const Shape& shape = program.value(node.outputs[0]).type.shape;
  const double results = static_cast<double>(product(shape));
  if (work.contraction_flops == 0 || results == 0 || shape.empty()) return 0;
  const double columns = static_cast<double>(shape.back()), few = std::min(columns, results / columns);
  return kLibraryDepth * std::sqrt(work.contraction_flops / results / 2) *
         (convolution ? 1 : std::min(1.0, few / kLibraryTile));
}

// Of torch's own kernels for the nodes of a library kernel.
GpuTime gpu_library_time(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  GpuTime time;
  for (const Node* node : program.nodes_of(kernel)) {
    const OpDef* op = find_op(node->op);
    if (op && op->is_view) continue;
    const Work work = library_work(program, *node);
    double rate = kLibraryF32 * hardware.flops_f32;
    if (is_pool(program, kernel, work)) time.arithmetic += work.flops / (kLibraryWindow * hardware.flops_f32);
    if (reads_half(program, *node)) {
      rate = hardware.flops_f16;
    } else if (op && op->in_tf32 && node->attrs.integer("groups", 1) > 1) {
      rate = kLibraryGrouped * hardware.flops_f32;
    } else {
      const bool convolution = op && op->in_tf32;
      if (convolution && in_tf32(*node))
        rate = channels_share(program, *node) * std::max(kLibraryTf32 * hardware.flops_tf32, rate);
      time.depth += library_depth(program, *node, work, convolution);
    }
    time.memory += work.bytes / (hardware.bandwidth * kGpuLibraryMemory);
    time.arithmetic += work.contraction_flops / rate + (work.flops - work.contraction_flops) / hardware.flops_f32 +
                       work.special / hardware.flops_special;
  }
  return time;
}

// What a capture copies in each call: what it reads, but for weights, into memory of its own, and what others need of
// its results out of there.
struct Copies {
  double bytes = 0;
  int tensors = 0;
};
Copies copies_of_capture(const Program& program, const Kernel& first) {
  const auto capture = std::find_if(program.captures.begin(), program.captures.end(), [&](const auto& names) {
    return std::find(names.begin(), names.end(), first.name) != names.end();
  });
  std::set<ValueId> made, read, outside(program.outputs.begin(), program.outputs.end());
  const std::set<std::string> names(capture->begin(), capture->end());
  const std::vector<std::vector<ValueId>> reads = program.reads_of_all(), writes = program.writes_of_all();
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const bool within = names.contains(program.kernels[k].name);
    (within ? read : outside).insert(reads[k].begin(), reads[k].end());
    if (within) made.insert(writes[k].begin(), writes[k].end());
  }
  Copies copies;
  const auto add = [&](ValueId id) { copies.bytes += stored_bytes(program, id), ++copies.tensors; };
  for (const ValueId id : read) {
    const ValueKind kind = program.value(id).kind;
    if (!made.contains(id) && (kind == ValueKind::input || kind == ValueKind::result)) add(id);
  }
  for (const ValueId id : made)
    if (outside.contains(id)) add(id);
  return copies;
}

// The stages of a group that multiply within an attention.
std::set<int> products_of_attention(const Group& group) {
  const Group merged = collapse_axes(group);
  std::set<int> stages;
  for (int s = 0; s < static_cast<int>(merged.stages.size()); ++s)
    if (const auto found = triton::find_attention(merged, s)) stages.insert({found->scores, found->context});
  return stages;
}

// Of a generated kernel that moves `bytes`.
GpuTime gpu_own_time(const Program& program, const Kernel& kernel, double bytes, const Hardware& hardware) {
  GpuTime time;
  time.memory = bytes / (hardware.bandwidth * kGpuOwnMemory);
  const auto group = build_group(program, kernel);
  if (!group.ok()) return time;
  const bool products = std::any_of(group->stages.begin(), group->stages.end(),
                                    [](const GroupStage& stage) { return stage.contraction.has_value(); });
  const std::set<int> attended = products ? products_of_attention(*group) : std::set<int>();
  for (int s = 0; s < static_cast<int>(group->stages.size()); ++s) {
    const GroupStage& stage = group->stages[s];
    const bool attention = attended.contains(s);
    const double elements = static_cast<double>(product(stage.stage.extents()));
    if (stage.contraction) {
      const double rate = contraction_rate(*group, kernel, stage, attention, hardware);
      const bool split = kernel.has("split") && triton::chunks_of_k(stage, hardware) > 1;
      if (!attention && triton::is_plain_sum(*group, stage)) {
        time.arithmetic += 2 * elements / (kExact * hardware.flops_f32);
        continue;
      }
      const double working = 2 * elements / (rate * (attention ? 1 : busy_share(stage, split, hardware)));
      time.arithmetic += attention ? working : std::max(working, depth_of(kernel, stage, split, hardware));
      if (!attention) time.arithmetic += operand_seconds(kernel, stage, reads_half(stage), hardware);
      continue;
    }
    time.arithmetic += seconds_of(stage.stage, hardware);
    // A reduction along few rows keeps few multiprocessors busy.
    const double rows = static_cast<double>(stage.stage.type.elements());
    if (!is_reduction(stage.stage.combine)) continue;
    if (elements < kWindow * rows) time.arithmetic += elements / (kOwnWindow * hardware.flops_f32);
    if (!kernel.has("split") && rows < 2.0 * hardware.cores && elements > 1 << 16)
      time.memory += elements * 4 / hardware.bandwidth * (2.0 * hardware.cores / rows - 1);
  }
  if (const auto passes = triton_passes(program, kernel, hardware)) {
    time.launches = passes->launches;
    time.passes = passes->bytes / (hardware.bandwidth * kGpuOwnMemory);
  }
  return time;
}

}  // namespace

KernelCost gpu_cost(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  auto [cost, work, free] = kernel_work(program, kernel);
  if (free) return cost;
  cost.roofline =
      std::max(cost.bytes / hardware.bandwidth, work.contraction_flops / hardware.flops_f16 +
                                                    (work.flops - work.contraction_flops) / hardware.flops_f32 +
                                                    work.special / hardware.flops_special);
  static KernelMemo<GpuTime> memo;  // of kernels of ours, which are printed for it
  const GpuTime time = !cost.own ? gpu_library_time(program, kernel, hardware)
                                 : memo.known_or(kernel_key(program, kernel, hardware), [&, bytes = cost.bytes] {
                                     return gpu_own_time(program, kernel, bytes, hardware);
                                   });
  const double one = cost.own ? hardware.launch_seconds : hardware.library_seconds;
  const Captured place = captured(program, kernel);
  const double host = place == Captured::first   ? one
                      : place == Captured::later ? 0
                                                 : one + 0.5 * one * (time.launches - 1);
  cost.host = host;
  const double device =
      overlapped(time.memory, time.arithmetic) + time.passes + time.depth + kDeviceLaunch * time.launches;
  cost.seconds =
      std::max(device, host);  // the host launches while the device works: only the longer of the two is seen
  if (place == Captured::first) {
    const Copies copies = copies_of_capture(program, kernel);
    cost.copying = 2 * copies.bytes / (hardware.bandwidth * kGpuLibraryMemory) +
                   kCopyCall * hardware.library_seconds * copies.tensors;
    cost.seconds += cost.copying;
  }
  return cost;
}

}  // namespace mtmc
