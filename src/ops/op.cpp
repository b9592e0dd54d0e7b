#include "ops/op.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/text.h"
#include "ops_table.h"

namespace mtmc {
namespace {

const std::map<std::string_view, const OpDef*>& registry() {
  static const auto table = [] {
    std::map<std::string_view, const OpDef*> found;
    for (const OpFile* file : kOpFiles)
      for (const OpDef& def : *file)
        MTMC_CHECK(found.emplace(def.name, &def).second, "two operators named " + std::string(def.name));
    return found;
  }();
  return table;
}

}  // namespace

const TensorType& OpCall::type(int operand) const {
  MTMC_CHECK(has(operand), std::string(op) + " has no operand " + std::to_string(operand));
  return *operands[operand];
}

const OpDef* find_op(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : found->second;
}

std::vector<const OpDef*> all_ops() {
  std::vector<const OpDef*> all;
  for (const auto& [name, def] : registry()) all.push_back(def);
  return all;
}

bool in_tf32(const Node& node) {
  const OpDef* op = find_op(node.op);
  return op != nullptr && op->in_tf32 && !node.attrs.flag(kFullF32);
}

OpCall call_of(const Program& program, const Node& node) {
  OpCall call{node.op, {}, node.attrs};
  for (ValueId input : node.inputs) {
    if (input == kNoValue) {
      call.operands.push_back(std::nullopt);
    } else {
      call.operands.push_back(program.value(input).type);
    }
  }
  return call;
}

Status verify_types(const Program& program) {
  for (const Node& node : program.nodes) {
    const std::string doing = "checking %" + std::to_string(node.outputs[0]);
    const OpDef* def = find_op(node.op);
    if (!def) return Error{doing, "unknown operator", node.op, {}};
    MTMC_TRY(const auto types, def->infer(call_of(program, node)));
    if (types.size() != node.outputs.size())
      return Error{doing, "wrong number of outputs", std::to_string(node.outputs.size()), std::to_string(types.size())};
    for (size_t i = 0; i < types.size(); ++i)
      if (const TensorType& got = program.value(node.outputs[i]).type; got != types[i])
        return Error{"checking %" + std::to_string(node.outputs[i]), "wrong type of " + node.op, to_string(got),
                     to_string(types[i])};
  }
  return ok_status();
}

std::optional<std::vector<double>> literal(const Value& value) {
  if (value.kind != ValueKind::constant) return std::nullopt;
  std::vector<double> numbers;
  for (const std::string& word : split(value.name, ' ')) {
    char* end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (word.empty() || *end != '\0') return std::nullopt;
  }
  if (static_cast<int64_t>(numbers.size()) != value.type.elements()) return std::nullopt;
  return numbers;
}

ValueId add_leaf(Program& program, ValueKind kind, std::string name, TensorType type) {
  Value value;
  value.id = program.next_id();
  value.kind = kind;
  value.name = std::move(name);
  value.storage = type.dtype;
  value.type = std::move(type);
  program.values.push_back(std::move(value));
  return program.values.back().id;
}

Result<std::vector<ValueId>> add_node(Program& program, std::string_view op, std::vector<ValueId> inputs, Attrs attrs,
                                      std::string location) {
  const OpDef* def = find_op(op);
  if (!def) return Error{"building a graph", "unknown operator", std::string(op), {}};
  Node node{std::string(op), std::move(inputs), std::move(attrs), {}, std::move(location)};
  MTMC_TRY(const auto types, def->infer(call_of(program, node)));
  for (const TensorType& type : types) node.outputs.push_back(add_leaf(program, ValueKind::result, {}, type));
  program.nodes.push_back(node);
  return node.outputs;
}

}  // namespace mtmc
