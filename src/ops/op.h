// An operator, defined once: type rule, definition in scalar loops, how torch spells it, and which ATen overloads it
// stands for. To add one: a file src/ops/NAME.cpp that defines `extern const OpDef NAME_def` (pointwise ones are rows
// of src/ops/pointwise.cpp), and a test file.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/stage.h"

namespace mtmc {

// One use of an operator: its operands' types (nullopt: an absent optional operand) and attributes.
struct OpCall {
  std::string_view op;
  std::vector<std::optional<TensorType>> operands;
  const Attrs& attrs;

  const TensorType& type(int operand) const;  // of a present operand
  bool has(int operand) const { return operand < static_cast<int>(operands.size()) && operands[operand].has_value(); }
};

// Which ATen overload an operator stands for. `operands` and `attrs` list the schema's argument names in the order of
// our operands and attributes, separated by spaces; "dim>axis" renames; arguments named in neither must have their
// default. A scalar where an operand is listed becomes a constant; `fixed` adds attributes ("approximate=\"tanh\"").
struct AtenRule {
  std::string_view overload;  // "aten.softmax.int"
  std::string_view operands;  // "self"
  std::string_view attrs;     // "dim dtype"
  std::string_view fixed = {};
};

struct OpDef {
  std::string_view name;  // "softmax"
  std::string_view doc;   // one sentence
  // Types of all outputs; an Error (the user's mistake or an unsupported case, which then stays a library call) when
  // operands do not fit.
  Result<std::vector<TensorType>> (*infer)(const OpCall& call);
  // The definition; null when the operator is only ever a library call.
  Definition (*define)(const OpCall& call);
  // The torch expression that computes it, given the operands' Python names ("None" where absent); outputs of a
  // multi-output operator are a tuple.
  std::string (*torch)(const OpCall& call, std::span<const std::string> args);
  std::vector<AtenRule> aten;
  // A view of its operand: no bytes move and eager launches nothing.
  bool is_view = false;
};

// The operator's definition, or null when there is none of that name. `library` is the operator that carries any other
// torch call.
const OpDef* find_op(std::string_view name);
std::vector<const OpDef*> all_ops();

OpCall call_of(const Program& program, const Node& node);
// Checks every node's types against its operator's rule.
Status verify_types(const Program& program);

// Appends a node whose output types follow from the operator's rule; returns the ids of its outputs. For building
// graphs in tests, rewrites and the frontend.
Result<std::vector<ValueId>> add_node(Program& program, std::string_view op, std::vector<ValueId> inputs, Attrs attrs,
                                      std::string location = {});
ValueId add_leaf(Program& program, ValueKind kind, std::string name, TensorType type);

// Cost of one node from its definition: arithmetic operations (fused multiply-adds count two), and the bytes it must at
// least read and write.
struct Work {
  double flops = 0;              // additions, multiplications, comparisons of the main loop
  double special = 0;            // weighted operations of exp and its like
  double contraction_flops = 0;  // part of flops that a matrix unit or blocked loop can do
  double bytes = 0;
};
Work work_of(const Program& program, const Node& node);

// Evaluates a definition in double (integers exactly in int64): the slow reference. Operands and results are row-major,
// one double per element (integers up to 2^53). Throws nothing; shapes must fit.
std::vector<std::vector<double>> evaluate(const Definition& definition,
                                          std::span<const std::vector<double>* const> operands,
                                          std::span<const std::optional<TensorType>> operand_types);
// The whole graph; `leaves` in the order of program.values' leaves. Library nodes cannot be evaluated: an Error.
Result<std::vector<std::vector<double>>> evaluate(const Program& program, std::span<const std::vector<double>> leaves);

}  // namespace mtmc
