#include "targets/triton/assemble.h"

#include "base/text.h"
#include "ops/op.h"

namespace mtmc::triton {
namespace {

int64_t memory_elements(const GroupTensor& tensor) {
  int64_t last = 0;
  for (size_t d = 0; d < tensor.strides.size(); ++d) last += tensor.strides[d] * (tensor.type.shape[d] - 1);
  return last + 1;
}

}  // namespace

TritonKernel assemble(const Group& group, const Kernel& kernel, const std::vector<TritonLaunch>& launches,
                      bool overlap) {
  TritonKernel result;
  if (overlap) result.helpers.insert("_wait");
  std::map<std::string, std::string> names, types;
  for (const GroupTensor& tensor : group.tensors) {
    types[tensor.name] = name(tensor.type.dtype);
    if (tensor.role == GroupTensor::Role::read) result.reads.push_back(tensor.value);
    if (tensor.role == GroupTensor::Role::write) result.writes.push_back(tensor.value);
    names[tensor.name] = tensor.role == GroupTensor::Role::scratch ? "_" + kernel.name + "_" + tensor.name
                                                                   : "{" + std::to_string(tensor.value) + "}";
  }
  std::set<std::string> passed;
  for (const TritonLaunch& launch : launches) {
    result.text += launch.source(overlap) + "\n\n";
    std::vector<std::string> arguments;
    std::string& signature = result.signatures[launch.name];
    for (const std::string& argument : launch.arguments) {
      // "x" or "_tiles(x, ...)": the first word names the tensor.
      const bool call = argument.rfind("_tiles(", 0) == 0;
      const std::string tensor = call ? argument.substr(7, argument.find(',') - 7) : argument;
      passed.insert(tensor);
      signature +=
          types.at(tensor) + (call ? " by" + argument.substr(argument.rfind(',', argument.rfind(',') - 1)) : "") + ", ";
      arguments.push_back(call ? "_tiles(" + names.at(tensor) + argument.substr(argument.find(',')) : names.at(tensor));
      result.tiles |= call;
    }
    arguments.push_back("warps=" + std::to_string(launch.warps) +
                        (launch.stages > 1 ? ", stages=" + std::to_string(launch.stages) : ""));
    signature += arguments.back();
    result.calls.push_back("_launch(" + launch.name + ", " + std::to_string(launch.programs) + ", " +
                           join(arguments, ", ") + ")");
    for (const std::string& helper : launch.helpers) result.helpers.insert(helper);
  }
  for (const GroupTensor& tensor : group.tensors) {
    if (tensor.role != GroupTensor::Role::scratch || !passed.count(tensor.name)) continue;
    const std::string& name = names.at(tensor.name);
    const int64_t elements = memory_elements(tensor);
    if (tensor.behind >= 0) {
      result.scratch.push_back(name + " = " + names.at(group.tensors[tensor.behind].name) + "[" +
                               std::to_string(elements) + ":]");
      continue;
    }
    const bool two = has_low_part(group, static_cast<int>(&tensor - group.tensors.data()));
    result.zeros |= tensor.zeros;
    result.scratch.push_back(name + " = " + (tensor.zeros ? "_zeros" : "_scratch") + "(\"" + kernel.name + "_" +
                             tensor.name + "\", " + std::to_string(two ? 2 * elements : elements) + ", " +
                             torch_dtype(tensor.type.dtype) + ")");
  }
  return result;
}

}  // namespace mtmc::triton
