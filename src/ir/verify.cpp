#include <algorithm>
#include <set>

#include "ir/program.h"
#include "ir/schedule_words.h"
#include "ir/value_set.h"

namespace mtmc {
namespace {

Error broken(const std::string& wrong, const std::string& got) { return Error{"verifying a program", wrong, got, ""}; }
Status verify_values(const Program& program) {
  ValueId last = -1;
  for (const Value& value : program.values) {
    if (value.id <= last) return broken("values are not in ascending order of id", id_text(value.id));
    last = value.id;
    if (value.layout.empty()) continue;
    std::vector<int> sorted = value.layout;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < static_cast<int>(sorted.size()); ++i)
      if (sorted[i] != i || static_cast<int>(sorted.size()) != value.type.rank())
        return broken("a layout is not a permutation of the dimensions", id_text(value.id));
  }
  return ok_status();
}

Status verify_graph(const Program& program) {
  ValueSet defined(program), results(program);
  size_t missing = 0;  // results that no node has defined
  for (const Value& value : program.values) {
    const bool result = value.kind == ValueKind::result;
    (result ? results : defined).insert(value.id);
    missing += result;
  }
  for (const Node& node : program.nodes) {
    if (node.outputs.empty()) return broken("a node has no outputs", node.op);
    for (ValueId input : node.inputs)
      if (input != kNoValue && !defined.has(input))
        return broken("a value is used before it is defined", id_text(input) + " in " + node.op);
    for (ValueId output : node.outputs) {
      if (!results.has(output)) return broken("a node's output is no result value", id_text(output));
      if (!defined.insert(output)) return broken("a value is defined twice", id_text(output));
      --missing;
    }
  }
  if (missing > 0) return broken("a result value has no node", program.name);
  for (ValueId id : program.outputs)
    if (id != kNoValue && !defined.has(id)) return broken("an output is not defined", id_text(id));
  for (const StateUpdate& state : program.states)
    if (!defined.has(state.value)) return broken("a state update is not defined", id_text(state.value));
  return ok_status();
}

Status verify_kernels(const Program& program) {
  std::set<std::string> names;
  ValueSet stored(program), computed(program);
  for (const Value& value : program.values)
    if (value.kind != ValueKind::result) stored.insert(value.id);
  std::vector<const Node*> producers(static_cast<size_t>(program.next_id()), nullptr);
  for (const Node& node : program.nodes)
    for (ValueId id : node.outputs) producers[static_cast<size_t>(id)] = &node;
  const std::vector<std::vector<ValueId>> reads = program.reads_of_all(), writes = program.writes_of_all();
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const Kernel& kernel = program.kernels[k];
    if (!names.insert(kernel.name).second) return broken("two kernels have one name", kernel.name);
    for (const auto& [key, word] : kernel.choices) MTMC_RETURN_IF_ERROR(check_choice(kernel.name, key, word));
    if (kernel.values.empty()) return broken("a kernel computes nothing", kernel.name);
    std::vector<ValueId> own = kernel.values;
    std::sort(own.begin(), own.end());
    for (ValueId id : own) {
      const Node* const producer = id >= 0 && id < program.next_id() ? producers[static_cast<size_t>(id)] : nullptr;
      if (producer == nullptr) return broken("a kernel computes no result", kernel.name + " " + id_text(id));
      for (ValueId output : producer->outputs)
        if (!std::binary_search(own.begin(), own.end(), output))
          return broken("a kernel computes only some outputs of a node", kernel.name + " " + id_text(output));
    }
    for (ValueId id : reads[k])
      if (!stored.has(id))
        return broken("a kernel reads what no kernel before it wrote", kernel.name + " reads " + id_text(id));
    stored.insert_all(writes[k]);
    computed.insert_all(own);
  }
  for (const Node& node : program.nodes)
    if (!computed.has(node.outputs[0])) return broken("a node is in no kernel", id_text(node.outputs[0]));
  return ok_status();
}

Status verify_captures(const Program& program) {
  for (const auto& capture : program.captures) {
    size_t at = 0;
    while (at < program.kernels.size() && (capture.empty() || program.kernels[at].name != capture[0])) ++at;
    for (size_t i = 0; i < capture.size(); ++i)
      if (at + i >= program.kernels.size() || program.kernels[at + i].name != capture[i])
        return broken("a capture does not name consecutive kernels", capture[i]);
  }
  return ok_status();
}

}  // namespace

Status verify(const Program& program) {
  MTMC_RETURN_IF_ERROR(verify_values(program));
  MTMC_RETURN_IF_ERROR(verify_graph(program));
  MTMC_RETURN_IF_ERROR(verify_kernels(program));
  return verify_captures(program);
}

}  // namespace mtmc
