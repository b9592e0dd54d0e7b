#include "coder/full_f32.h"

#include <map>

#include "ops/op.h"
#include "targets/library_call.h"

namespace mtmc {
namespace {

// Torch's call of the node, over x0, x1 and so on.
LibraryCall call_to_try(const Program& program, const Node& node) {
  LibraryCall call;
  std::vector<std::string> args;
  for (const ValueId id : node.inputs) {
    args.push_back(id == kNoValue ? "None" : "x" + std::to_string(call.inputs.size()));
    if (id != kNoValue) call.inputs.push_back(program.value(id).type);
  }
  call.text = library_call(program, node, args, false, "");
  return call;
}

bool may_be_in_tf32(const Program& program, const Node& node) {
  return in_tf32(node) && program.value(node.outputs[0]).type.dtype == DType::f32;
}

}  // namespace

Result<Program> with_full_f32(Program program, Tuner& tuner) {
  std::map<std::string, size_t> places;  // of equal calls there is one
  std::vector<LibraryCall> calls;
  std::vector<std::pair<Node*, size_t>> asked;
  for (Node& node : program.nodes) {
    if (!may_be_in_tf32(program, node)) continue;
    LibraryCall call = call_to_try(program, node);
    std::string key = call.text;
    for (const TensorType& type : call.inputs) key += " " + to_string(type);
    const auto [place, is_new] = places.try_emplace(key, calls.size());
    if (is_new) calls.push_back(std::move(call));
    asked.emplace_back(&node, place->second);
  }
  if (calls.empty()) return program;
  MTMC_TRY(const std::vector<bool> full, tuner.in_full_f32(calls));
  for (const auto& [node, place] : asked)
    if (full[place]) node->attrs.insert_or_assign(std::string(kFullF32), true);
  return program;
}

}  // namespace mtmc
