#include "targets/cost.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "targets/cost_parts.h"
#include "targets/import_time.h"
#include "targets/written.h"

namespace mtmc {

double stored_bytes(const Program& program, ValueId id) {
  const Value& value = program.value(id);
  return static_cast<double>(value.type.elements()) * bytes(value.storage);
}

Work library_work(const Program& program, const Node& node) {
  if (!is_likely_written(program, node)) return work_of(program, node);
  Work work;
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue) work.bytes += 2 * stored_bytes(program, node.inputs[i]);
  return work;
}

namespace {

// An operand that only a small part of is read (an embedding's table) costs what the results take.
double traffic(const Program& program, const Kernel& kernel) {
  double written = 0, read = 0;
  for (ValueId id : program.writes(kernel)) written += stored_bytes(program, id);
  for (ValueId id : program.reads(kernel)) read += stored_bytes(program, id);
  double touched = 0;
  const std::vector<const Node*> nodes = program.nodes_of(kernel);
  if (kernel.family == Family::library && nodes.size() == 1 && is_likely_written(program, *nodes[0]))
    return library_work(program, *nodes[0]).bytes;
  for (const Node* node : nodes) touched += work_of(program, *node).bytes;
  return std::min(read + written, std::max(touched, written));
}

}  // namespace

KernelWork kernel_work(const Program& program, const Kernel& kernel) {
  KernelWork all;
  all.cost.kernel = kernel.name;
  all.cost.own = kernel.family != Family::library;
  all.free = !all.cost.own;
  for (const Node* node : program.nodes_of(kernel)) {
    const OpDef* op = find_op(node->op);
    all.free = all.free && op && op->is_view;
    const Work work = all.cost.own ? work_of(program, *node) : library_work(program, *node);
    all.work.flops += work.flops;
    all.work.contraction_flops += work.contraction_flops;
    all.work.special += work.special;
  }
  all.cost.flops = all.work.flops;
  if (!all.free) all.cost.bytes = traffic(program, kernel);
  return all;
}

namespace {

// Where the first kernel of a capture is that is no view.
size_t launcher(const Program& program, const std::vector<std::string>& capture) {
  const auto launches = [&](const std::string& name) { return !kernel_work(program, *program.kernel(name)).free; };
  return static_cast<size_t>(std::find_if(capture.begin(), capture.end(), launches) - capture.begin());
}

}  // namespace

Captured captured(const Program& program, const Kernel& kernel) {
  for (const auto& capture : program.captures) {
    const auto at = std::find(capture.begin(), capture.end(), kernel.name);
    if (at == capture.end()) continue;
    const auto before = static_cast<size_t>(at - capture.begin());
    return before <= launcher(program, capture) ? Captured::first : Captured::later;
  }
  return Captured::no;
}

std::vector<Captured> captured_of_all(const Program& program) {
  std::map<std::string_view, Captured> places;
  for (const auto& capture : program.captures) {
    const size_t first = launcher(program, capture);
    for (size_t k = 0; k < capture.size(); ++k)
      places.emplace(capture[k], k <= first ? Captured::first : Captured::later);
  }
  std::vector<Captured> all;
  for (const Kernel& kernel : program.kernels) {
    const auto at = places.find(kernel.name);
    all.push_back(at == places.end() ? Captured::no : at->second);
  }
  return all;
}

std::vector<KernelCost> cost_of(const Program& program, const TargetDef& target, const Hardware& hardware) {
  std::vector<KernelCost> costs;
  const std::set<ValueId> at_import = made_at_import(program);
  for (const Kernel& kernel : program.kernels) {
    costs.push_back(target.cost(program, kernel, hardware));
    if (runs_at_import(kernel, at_import)) costs.back().seconds = 0;
  }
  return costs;
}

double total_seconds(const Program& program, const TargetDef& target, const Hardware& hardware) {
  double total = 0;
  for (const KernelCost& cost : cost_of(program, target, hardware)) total += cost.seconds;
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
