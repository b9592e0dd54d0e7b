// From a traced ATen call to a node: what the frontend needs to know of torch's overloads is in the operators' rules.
#pragma once
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace mtmc {

struct TensorArg {
  ValueId id = kNoValue;
};
// One argument of a traced call; monostate is None, a list of values may hold kNoValue.
using AtenArg = std::variant<std::monostate, TensorArg, std::vector<ValueId>, bool, int64_t, double, std::string,
                             std::vector<int64_t>, std::vector<double>, DType>;

struct AtenCall {
  std::string overload;  // "aten.softmax.int"
  // By schema name; arguments equal to the schema's default are left out, and so are device, layout, pin_memory and
  // memory_format.
  std::map<std::string, AtenArg, std::less<>> args;

  bool has(std::string_view name) const { return args.find(name) != args.end(); }
  template <typename T>
  const T* get(std::string_view name) const {
    const auto found = args.find(name);
    return found == args.end() ? nullptr : std::get_if<T>(&found->second);
  }
};

// Appends the node that stands for the call; returns its outputs, output i of ours being output i of torch's. An Error
// says why no rule fits (the frontend then keeps a library call). Scalars given for operands become constants of the
// type torch's promotion gives them.
Result<std::vector<ValueId>> import_aten(Program& program, AtenCall call, std::string location = {});

}  // namespace mtmc
