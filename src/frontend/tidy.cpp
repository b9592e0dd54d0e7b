#include "frontend/tidy.h"

#include <algorithm>
#include <map>
#include <set>

namespace mtmc {
namespace {

std::set<ValueId> needed_values(const Program& program) {
  std::set<ValueId> needed(program.outputs.begin(), program.outputs.end());
  for (const StateUpdate& state : program.states) needed.insert(state.value);
  for (auto node = program.nodes.rbegin(); node != program.nodes.rend(); ++node) {
    const bool used =
        std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId id) { return needed.count(id); });
    if (!used) continue;
    needed.insert(node->outputs.begin(), node->outputs.end());
    needed.insert(node->inputs.begin(), node->inputs.end());
  }
  return needed;
}

class Numbering {
 public:
  void take(Program& made, Value value) {
    const ValueId old = value.id;
    if (value.kind == ValueKind::constant) {
      const auto same = std::find_if(made.values.begin(), made.values.end(), [&](const Value& v) {
        return v.kind == ValueKind::constant && v.name == value.name && v.type == value.type;
      });
      if (same != made.values.end()) {
        fresh_[old] = same->id;
        return;
      }
    }
    value.id = fresh_[old] = static_cast<ValueId>(made.values.size());
    made.values.push_back(std::move(value));
  }
  ValueId operator[](ValueId old) const { return old == kNoValue ? kNoValue : fresh_.at(old); }

 private:
  std::map<ValueId, ValueId> fresh_;
};

}  // namespace

Program tidy(Program program) {
  const std::set<ValueId> needed = needed_values(program);
  Program made;
  made.name = program.name;
  Numbering number;
  for (ValueKind kind : {ValueKind::input, ValueKind::param, ValueKind::buffer, ValueKind::constant})
    for (const Value& value : program.values)
      if (value.kind == kind && (kind == ValueKind::input || needed.count(value.id))) number.take(made, value);
  for (Node& node : program.nodes) {
    if (!needed.count(node.outputs[0])) continue;
    for (ValueId output : node.outputs) number.take(made, program.value(output));
    for (ValueId& id : node.outputs) id = number[id];
    for (ValueId& id : node.inputs) id = number[id];
    made.nodes.push_back(std::move(node));
  }
  for (ValueId id : program.outputs) made.outputs.push_back(number[id]);
  for (const StateUpdate& state : program.states) made.states.push_back({state.name, number[state.value]});
  reset_kernels(made);
  return made;
}

}  // namespace mtmc
