#include "targets/in_place.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ops/op.h"

namespace mtmc {
namespace {

long readers(const Program& program, ValueId id) {
  long count = std::count(program.outputs.begin(), program.outputs.end(), id);
  for (const Node& node : program.nodes) count += std::count(node.inputs.begin(), node.inputs.end(), id);
  return count;
}

// The buffers that a value is written to at the end of forward.
std::vector<std::string> buffers_of(const Program& program, ValueId id) {
  std::vector<std::string> names;
  for (const StateUpdate& update : program.states)
    if (update.value == id) names.push_back(update.name);
  return names;
}

}  // namespace

bool moves_in_place(const Program& program, const Node& node) {
  const OpDef* op = find_op(node.op);
  if (!op || op->in_place.spelling.empty()) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    const ValueId result = node.outputs[i], held = op->in_place.operand(node, i);
    std::vector<std::string> wanted;  // where torch leaves it
    if (held != kNoValue) wanted.push_back(program.value(held).name);
    if (readers(program, result) > 0 || buffers_of(program, result) != wanted) return false;
    if (held == kNoValue) continue;
    const Value& buffer = program.value(held);
    if (buffer.kind != ValueKind::buffer || is_plain(buffer.name) || readers(program, held) > 1) return false;
  }
  return true;
}

}  // namespace mtmc
