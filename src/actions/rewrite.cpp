#include "actions/rewrite.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "actions/schedule.h"
#include "ops/op.h"
#include "targets/frame.h"

#include "rules_table.h"

namespace mtmc {

std::vector<const Rule*> all_rules() { return {std::begin(rules::kRules), std::end(rules::kRules)}; }

const Rule* find_rule(std::string_view name) {
  for (const Rule* rule : rules::kRules)
    if (rule->name == name) return rule;
  return nullptr;
}

const Node* made_by(const Program& program, ValueId id, std::string_view op) {
  const Node* node = id == kNoValue ? nullptr : program.producer(id);
  return node && node->op == op && node->outputs[0] == id ? node : nullptr;
}

std::optional<double> scalar_of(const Program& program, ValueId id) {
  if (id == kNoValue || program.value(id).type.elements() != 1) return std::nullopt;
  const auto numbers = literal(program.value(id));
  return numbers ? std::optional(numbers->front()) : std::nullopt;
}

std::optional<std::pair<ValueId, double>> tensor_and_scalar(const Program& program, const Node& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  for (const int side : {1, 0})
    if (const auto number = scalar_of(program, node.inputs[side])) return {{node.inputs[1 - side], *number}};
  return std::nullopt;
}

std::optional<int> single_axis(const Program& program, const Node& node) {
  if (!node.attrs.has("dim")) return std::nullopt;
  const auto dims = node.attrs.list("dim");
  const int rank = program.value(node.inputs[0]).type.rank();
  if (dims.size() != 1 || rank == 0) return std::nullopt;
  return static_cast<int>(dims[0] < 0 ? dims[0] + rank : dims[0]);
}

bool along_last(const Program& program, const Node& node) {
  const auto axis = single_axis(program, node);
  return axis && *axis + 1 == program.value(node.inputs[0]).type.rank();
}

namespace {

Error cannot(const Rule& rule, std::string wrong) {
  return refuse("simplify", std::move(wrong), std::string(rule.name));
}

// Moves the nodes appended behind `before` in front of node `root`; returns all results they define, in order.
std::vector<ValueId> move_before(Program& program, size_t before, size_t root) {
  std::vector<ValueId> fresh;
  for (size_t i = before; i < program.nodes.size(); ++i) {
    program.nodes[i].location = program.nodes[root].location;
    fresh.insert(fresh.end(), program.nodes[i].outputs.begin(), program.nodes[i].outputs.end());
  }
  const auto begin = program.nodes.begin();
  std::rotate(begin + static_cast<long>(root), begin + static_cast<long>(before), program.nodes.end());
  return fresh;
}

// Every kernel that computes the root computes the new values too; library calls stay one node each.
void place(Program& program, ValueId root, const std::vector<ValueId>& fresh) {
  std::vector<Kernel> kernels;
  Program named = program;
  for (Kernel& kernel : program.kernels) {
    const auto at = std::find(kernel.values.begin(), kernel.values.end(), root);
    if (at == kernel.values.end()) {
      kernels.push_back(std::move(kernel));
      continue;
    }
    if (kernel.family != Family::library) {
      kernel.values.insert(at, fresh.begin(), fresh.end());
    } else {
      for (ValueId id : fresh) {
        Kernel call;
        call.name = named.next_kernel_name();
        call.values = {id};
        named.kernels.push_back(call);
        kernels.push_back(std::move(call));
      }
    }
    kernels.push_back(std::move(kernel));
  }
  program.kernels = std::move(kernels);
}

bool is_needed(const Program& program, ValueId id) {
  if (!program.users(id).empty() || std::count(program.outputs.begin(), program.outputs.end(), id) > 0) return true;
  return std::any_of(program.states.begin(), program.states.end(), [&](const StateUpdate& s) { return s.value == id; });
}

void drop_dead(Program& program) {
  for (size_t i = program.nodes.size(); i-- > 0;) {
    const std::vector<ValueId> outputs = program.nodes[i].outputs;
    if (std::any_of(outputs.begin(), outputs.end(), [&](ValueId id) { return is_needed(program, id); })) continue;
    const auto dead = [&](ValueId id) { return std::count(outputs.begin(), outputs.end(), id) > 0; };
    program.nodes.erase(program.nodes.begin() + static_cast<long>(i));
    std::erase_if(program.values, [&](const Value& value) { return dead(value.id); });
    for (Kernel& kernel : program.kernels) std::erase_if(kernel.values, dead);
  }
  std::erase_if(program.kernels, [](const Kernel& kernel) { return kernel.values.empty(); });
  std::erase_if(program.values, [&](const Value& value) { return literal(value) && !is_needed(program, value.id); });
}

// Generated kernels whose graph has changed: still possible, of which family, which choices still mean something.
Status settle_kernels(Program& program, const Program& before, const ActionContext& context) {
  for (Kernel& kernel : program.kernels) {
    const Kernel* old = before.kernel(kernel.name);
    if (kernel.family == Family::library || (old && old->values == kernel.values)) continue;
    MTMC_RETURN_IF_ERROR(can_generate(program, kernel.values));
    MTMC_TRY(const Family family, family_of(program, kernel));
    if (family != kernel.family) kernel.choices.clear();
    MTMC_RETURN_IF_ERROR(settle_kernel(program, kernel, context));
  }
  return ok_status();
}

}  // namespace

Result<Program> apply_edit(const Program& program, const Rule& rule, const Edit& edit, const ActionContext& context) {
  Program result = program;
  size_t at = 0;
  for (size_t i = 0; i < result.nodes.size(); ++i)
    if (std::count(edit.region.begin(), edit.region.end(), result.nodes[i].outputs[0]) > 0) at = i;
  const ValueId root = result.nodes[at].outputs[0];
  if (result.nodes[at].outputs.size() != 1) return cannot(rule, "the root has several results");
  const size_t before = result.nodes.size();
  const ValueId first_new = result.next_id();
  MTMC_TRY(const ValueId equal, edit.build(result));
  if (result.value(equal).type != result.value(root).type)
    return cannot(rule, "the new value has another type, " + to_string(result.value(equal).type));
  if (equal >= first_new) {
    std::vector<ValueId> fresh = move_before(result, before, at);
    fresh.pop_back();
    std::erase_if(result.nodes, [&](const Node& node) { return node.outputs[0] == root; });
    for (Node& node : result.nodes)
      if (node.outputs[0] == equal) node.outputs[0] = root;
    std::erase_if(result.values, [&](const Value& value) { return value.id == equal; });
    place(result, root, fresh);
  } else {
    Program without = program;
    for (Node& node : without.nodes) std::erase(node.inputs, root);
    if (is_needed(without, root)) return cannot(rule, "the caller gets this value, and must not get another's memory");
    for (Node& node : result.nodes) std::replace(node.inputs.begin(), node.inputs.end(), root, equal);
  }
  drop_dead(result);
  MTMC_RETURN_IF_ERROR(settle_kernels(result, program, context));
  if (!order_kernels(result)) return cannot(rule, "the kernels cannot be put in order");
  carry_captures(program, result, context);
  result.rewrites.push_back({"simplify", std::string(rule.name) + " at %" + std::to_string(root)});
  return result;
}

}  // namespace mtmc
