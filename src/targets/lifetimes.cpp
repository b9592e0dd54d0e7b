#include "targets/lifetimes.h"

namespace mtmc {

std::map<const void*, std::vector<ValueId>> last_reads(const Program& program, const std::vector<Launch>& launches) {
  std::map<std::string, const Launch*> launch_of;
  for (const Launch& launch : launches) launch_of.emplace(launch.kernel, &launch);
  std::map<ValueId, const void*> last;
  for (const Kernel& kernel : program.kernels) {
    if (kernel.family == Family::library) {
      for (const Node* node : program.nodes_of(kernel)) {
        for (ValueId id : node->outputs) last[id] = node;
        for (ValueId id : node->inputs) last[id] = node;
      }
    } else if (const auto found = launch_of.find(kernel.name); found != launch_of.end()) {
      const Launch* launch = found->second;
      for (ValueId id : launch->writes) last[id] = launch;
      for (ValueId id : launch->reads) last[id] = launch;
      for (const Value& value : program.values)
        if (launch->call.find("{" + std::to_string(value.id) + "}") != std::string::npos) last[value.id] = launch;
    }
  }
  for (ValueId id : program.outputs) last.erase(id);
  for (const StateUpdate& state : program.states) last.erase(state.value);
  std::map<const void*, std::vector<ValueId>> read;
  for (const auto& [id, reader] : last)
    if (id != kNoValue && program.value(id).kind == ValueKind::result) read[reader].push_back(id);
  return read;
}

}  // namespace mtmc
