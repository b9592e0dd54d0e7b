#include "ir/kernel_program.h"

#include <algorithm>
#include <map>

#include "base/hash.h"

namespace mtmc {
namespace {

bool computes(const Kernel& kernel, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
    return std::find(kernel.values.begin(), kernel.values.end(), id) != kernel.values.end();
  });
}

}  // namespace

Program kernel_program(const Program& program, const Kernel& kernel) {
  Program alone;
  alone.name = "kernel";
  std::map<ValueId, ValueId> renamed{{kNoValue, kNoValue}};
  const auto carry = [&](ValueId id) {
    if (const auto known = renamed.find(id); known != renamed.end()) return known->second;
    Value value = program.value(id);
    value.id = static_cast<ValueId>(alone.values.size());
    renamed[id] = value.id;
    alone.values.push_back(std::move(value));
    return alone.values.back().id;
  };
  int arguments = 0;
  for (ValueId id : program.reads(kernel)) {
    Value& value = alone.values[carry(id)];
    if (value.kind == ValueKind::constant) continue;  // its name is its data
    value.kind = ValueKind::input;
    value.name = "a" + std::to_string(arguments++);
  }
  for (const Node& node : program.nodes) {
    if (!computes(kernel, node)) continue;
    Node copy = node;
    copy.location.clear();
    for (ValueId& id : copy.inputs) id = carry(id);
    for (ValueId& id : copy.outputs) id = carry(id);
    alone.nodes.push_back(std::move(copy));
  }
  for (ValueId id : program.writes(kernel)) alone.outputs.push_back(renamed.at(id));
  Kernel copy = kernel;
  copy.name = "k0";
  for (ValueId& id : copy.values) id = renamed.at(id);
  alone.kernels.push_back(std::move(copy));
  return alone;
}

std::string tuning_key(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  const std::string text = print(kernel_program(program, kernel), {.numbers = false, .locations = false});
  return sha256(hardware.target + "\n" + hardware.name + "\n" + text);
}

}  // namespace mtmc
