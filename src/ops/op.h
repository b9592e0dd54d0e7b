// An operator, defined once: type rule, definition in scalar loops, how torch spells it, and which ATen overloads it
// stands for. To add one: a file src/ops/defs/NAME.cpp that defines `extern const OpFile NAME_def`, the list of the
// operators in it (one, or a family that shares its rule; pointwise ones are rows of a few tables), and a test.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/stage.h"

namespace mtmc {

// One use of an operator: its operands' types (nullopt: an absent optional operand) and attributes. Attributes are
// named as the arguments of the ATen overload; an absent one has the overload's default.
struct OpCall {
  std::string_view op;
  std::vector<std::optional<TensorType>> operands;
  const Attrs& attrs;

  const TensorType& type(int operand) const;  // of a present operand
  bool has(int operand) const { return operand < static_cast<int>(operands.size()) && operands[operand].has_value(); }
  int count() const { return static_cast<int>(operands.size()); }
};

struct AtenCall;    // ops/aten.h
struct Recurrence;  // ops/recurrence.h

// Which ATen overload an operator stands for. `operands` and `attrs` list the schema's argument names in the order of
// our operands and attributes, separated by spaces; "dim>axis" renames, "*tensors" takes a list of tensors; arguments
// named in neither must have their default. A scalar where an operand is listed becomes a constant; `fixed` adds
// attributes ("p=2.0 mode=\"x\""). `adapt` edits the call before it is matched, for what a rule cannot say; `known`
// does so by what the program says of its operands, and says whether the rule fits.
struct AtenRule {
  std::string_view overload;    // "aten.softmax.int"
  std::string_view operands;    // "self"
  std::string_view attrs = {};  // "dim dtype"
  std::string_view fixed = {};
  void (*adapt)(AtenCall& call) = nullptr;
  bool (*known)(AtenCall& call, const Program& program) = nullptr;
};

// A pointwise operator: how its operands' element types meet, and one element of the result.
struct ScalarRule {
  enum class Promotion {
    none,       // not pointwise
    common,     // operands are promoted together, the result has that type
    to_float,   // the same, integers become f32
    predicate,  // the same, the result is b1
    condition,  // operand 0 is a condition, the others are promoted together
    keep,       // the result has operand 0's type, b1 operands stay b1, the others become it
    boolean,    // every operand becomes b1, the result is b1
  };
  Promotion promotion = Promotion::none;
  int least = 1;  // how many operands must be present
  // Elements of the operands, already of the type to compute in (f32 for f16 and bf16); null where absent.
  ExprP (*body)(std::span<const ExprP> x, const OpCall& call) = nullptr;
  int most = 0;  // how many may be; 0: as many as must
};

struct OpDef {
  std::string_view name;  // "softmax"
  std::string_view doc;   // one sentence
  // Types of all outputs; an Error (the user's mistake or an unsupported case, which then stays a library call) when
  // operands do not fit.
  Result<std::vector<TensorType>> (*infer)(const OpCall& call) = nullptr;
  // The definition; null when the operator is only ever a library call, or a recurrence.
  Definition (*define)(const OpCall& call) = nullptr;
  // The torch expression as a template: {0} is operand 0, {*} all operands, {dim} an attribute, {dim|1} the same with a
  // default. In scope: torch, and F = torch.nn.functional.
  std::string_view spelling = {};
  std::vector<AtenRule> aten = {};
  // A view of its operand: no bytes move and eager launches nothing.
  bool is_view = false;
  ScalarRule scalar = {};
  // Eager may multiply f32 operands in TF32 on GPUs that can: torch's default for convolutions. See in_tf32 below.
  bool in_tf32 = false;
  std::string (*spell)(const OpCall& call,
                       std::span<const std::string> args) = nullptr;  // where a template is not enough
  // Torch's call that returns the first result alone and leaves others where operands lie: the spelling, and which
  // result lies in which operand.
  struct InPlace {
    std::string_view spelling;
    std::vector<std::pair<size_t, size_t>> moved;
    // Where a node's result lies; kNoValue when nowhere.
    ValueId operand(const Node& node, size_t result) const {
      for (const auto& [moving, place] : moved)
        if (moving == result) return node.inputs[place];
      return kNoValue;
    }
  };
  InPlace in_place = {};
  // Of a view: torch copies an operand that does not lie in order in memory.
  bool needs_order = false;
  // Where its result is operand 0 with elements replaced: the Python statement that replaces them where they lie
  // (empty: there is none for these attributes), and, where operand 1 replaces a view of operand 0 with the same
  // attributes, the name of that view.
  std::string (*write)(const OpCall& call, std::span<const std::string> args) = nullptr;
  std::string_view part = {};
  // Steps of torch's own call on a CPU that no vector unit takes, each about a nanosecond; null where its work is that
  // of the definition.
  double (*library_steps)(const OpCall& call) = nullptr;
  // What a recurrent operator computes; it has no `define`.
  Recurrence (*recurrence)(const OpCall& call) = nullptr;

  // The torch expression that computes it, given the operands' Python names ("None" where absent); outputs of a
  // multi-output operator are a tuple.
  std::string torch(const OpCall& call, std::span<const std::string> args) const;
  std::string torch_in_place(const OpCall& call, std::span<const std::string> args) const;
  bool is_pointwise() const { return scalar.promotion != ScalarRule::Promotion::none; }
};
using OpFile = std::vector<OpDef>;

// The Python type name: "torch.float32".
std::string torch_dtype(DType dtype);

// The operator's definition, or null when there is none of that name. `library` is the operator that carries any other
// torch call: attributes `call` ("aten.sort.default"), `args` (its Python argument text, with {0} {1} for operands),
// `types` (its outputs: "f32[4,2] i64[4,2]") and, where it reads what no Program can hold and one line is not enough
// for it, `before` (see lines_before in targets/library_call.h).
const OpDef* find_op(std::string_view name);
inline constexpr std::string_view kLinesBefore = "before";
std::vector<const OpDef*> all_ops();  // by name

OpCall call_of(const Program& program, const Node& node);

// A flag of a node that may be in TF32: on this machine eager computes it in full f32, since its library has something
// faster for these sizes (cuDNN: Winograd, Fourier transforms, one channel at a time). See coder/full_f32.h.
inline constexpr std::string_view kFullF32 = "full_f32";
// Does eager multiply f32 operands of this node in TF32?
bool in_tf32(const Node& node);
// Checks every node's types against its operator's rule.
Status verify_types(const Program& program);

// Appends a node whose output types follow from the operator's rule; returns the ids of its outputs. For building
// graphs in tests, rewrites and the frontend.
Result<std::vector<ValueId>> add_node(Program& program, std::string_view op, std::vector<ValueId> inputs, Attrs attrs,
                                      std::string location = {});
// The numbers of a constant whose data is its text ("1.0 2.0"); nullopt for other values.
std::optional<std::vector<double>> literal(const Value& value);
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
// The same without the program; library operators have only their bytes.
Work work_of(const OpCall& call);
// Of a definition: what it reads of its operands, and its operations.
Work work_of(const Definition& definition, std::span<const std::optional<TensorType>> operands);

// Evaluates a definition in double (integers exactly in int64): the slow reference. Operands and results are row-major,
// one double per element (integers up to 2^53). Float types do not round. Shapes must fit.
std::vector<std::vector<double>> evaluate(const Definition& definition,
                                          std::span<const std::vector<double>* const> operands,
                                          std::span<const std::optional<TensorType>> operand_types);
// The whole graph: outputs, then state updates. `leaves` in the order of program.values' leaves; empty for constants
// written out in the text. Library nodes cannot be evaluated: an Error.
Result<std::vector<std::vector<double>>> evaluate(const Program& program, std::span<const std::vector<double>> leaves);

}  // namespace mtmc
