#include "targets/lifetimes.h"

namespace mtmc {

std::set<ValueId> named_by(const Program& program, const Launch& launch) {
  std::set<ValueId> named(launch.reads.begin(), launch.reads.end());
  for (const Value& value : program.values)
    if (launch.call.find("{" + std::to_string(value.id) + "}") != std::string::npos) named.insert(value.id);
  return named;
}

std::map<const void*, std::vector<ValueId>> last_reads(const Program& program, const std::vector<Launch>& launches,
                                                       const Written& written) {
  std::map<std::string, const Launch*> launch_of;
  for (const Launch& launch : launches) launch_of.emplace(launch.kernel, &launch);
  std::map<ValueId, const void*> last;
  const auto reads = [&](const auto& ids, const void* reader) {
    for (ValueId id : ids) last[written.home(id)] = reader;
  };
  for (const Kernel& kernel : program.kernels) {
    if (kernel.family == Family::library) {
      for (const Node* node : program.nodes_of(kernel)) {
        reads(node->outputs, node);
        reads(node->inputs, node);
      }
    } else if (const auto found = launch_of.find(kernel.name); found != launch_of.end()) {
      reads(found->second->writes, found->second);
      reads(named_by(program, *found->second), found->second);
    }
  }
  for (ValueId id : program.outputs) last.erase(written.home(id));
  for (const StateUpdate& state : program.states) last.erase(written.home(state.value));
  std::map<const void*, std::vector<ValueId>> read;
  for (const auto& [id, reader] : last)
    if (id != kNoValue && program.value(id).kind == ValueKind::result) read[reader].push_back(id);
  return read;
}

}  // namespace mtmc
