// Small programs of one kernel, for tests of what targets print.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "ops/op.h"
#include "targets/cpu_runner.h"

namespace mtmc::testing {

// A program of one kernel with all results, and random leaves.
struct Case {
  Program program;
  std::vector<std::vector<double>> leaves;
};

class Maker {
 public:
  explicit Maker(std::string name) { program_.name = std::move(name); }
  ValueId in(const char* type, ValueKind kind = ValueKind::input) {
    return named("x" + std::to_string(program_.values.size()), type, kind);
  }
  ValueId named(const std::string& name, const char* type, ValueKind kind = ValueKind::input) {
    return add_leaf(program_, kind, name, *parse_type(type));
  }
  ValueId op(const char* name, std::vector<ValueId> inputs, Attrs attrs = {}) {
    auto made = add_node(program_, name, std::move(inputs), std::move(attrs), "case.py:1");
    MTMC_CHECK(made.ok(), made.error().message());
    return made->front();
  }
  // Without numbers for its leaves, which take seconds where there are millions.
  const Program& kernel_of(std::vector<ValueId> outputs, std::map<std::string, std::string> choices = {},
                           std::map<std::string, int64_t> numbers = {}) {
    program_.outputs = std::move(outputs);
    Kernel kernel;
    kernel.name = "k0";
    kernel.family = Family::pointwise;
    kernel.choices = std::move(choices);
    kernel.numbers = std::move(numbers);
    for (const Node& node : program_.nodes)
      for (ValueId id : node.outputs) kernel.values.push_back(id);
    program_.kernels = {kernel};
    return program_;
  }
  Case one_kernel(std::vector<ValueId> outputs, std::map<std::string, std::string> choices = {},
                  std::map<std::string, int64_t> numbers = {}) {
    Case result{kernel_of(std::move(outputs), std::move(choices), std::move(numbers)), {}};
    Rng rng(program_.nodes.size());
    for (const Value& value : program_.values) {
      if (value.kind == ValueKind::result) continue;
      std::vector<double> data(static_cast<size_t>(value.type.elements()));
      for (double& x : data)
        x = rounded(is_float(value.type.dtype) ? rng.uniform() * 4 - 2 : static_cast<double>(rng.below(4)),
                    value.type.dtype);
      result.leaves.push_back(std::move(data));
    }
    return result;
  }

 private:
  Program program_;
};

}  // namespace mtmc::testing
