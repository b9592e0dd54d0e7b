// Program: the immutable value in the middle. The graph says what is computed, the kernels say how; actions map
// Programs to Programs, targets print them.
//
//   program mlp {
//     %0 = input "x" : f32[64,512]
//     %1 = param "fc.weight" : f32[256,512]
//     %2 = buffer "steps" : i64[]
//     %3 = linear(%0, %1, none) : f32[64,256]                       @ mlp.py:15
//     %4 = relu(%3) : f32[64,256] storage f16 layout (1,0)          @ mlp.py:16
//     %5, %6 = max_dim(%4, dim=1, keepdim=false) : f32[64], i64[64]
//     %7 = add(%2, 1) ...
//     state "steps" = %7
//     return %4, %5
//   }
//   kernel k0 = { %3 } library
//   kernel k1 = { %4 %5 } reduction order:reversed pipelined tiled | tile0:16 unroll:4
//   capture { k0 k1 }
//   rewritten simplify "batch_norm folded into conv2d"
//
// Ids are stable names of values: rewrites never renumber. parse_program(print(p)) == p.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/type.h"

namespace mtmc {

using ValueId = int;
constexpr ValueId kNoValue = -1;  // an absent optional operand, printed `none`
// In ascending order, each once.
std::vector<ValueId> ascending(std::vector<ValueId> ids);

using AttrValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, DType>;

// Sorted by name, so that equal attributes print equally.
struct Attrs : std::map<std::string, AttrValue, std::less<>> {
  using map::map;
  bool has(std::string_view key) const { return find(key) != end(); }
  int64_t integer(std::string_view key) const;  // the accessors check presence and kind: a wrong one is our bug
  int64_t integer(std::string_view key, int64_t otherwise) const;
  double number(std::string_view key) const;  // accepts an integer attribute
  double number(std::string_view key, double otherwise) const;
  bool flag(std::string_view key, bool otherwise = false) const;
  const std::string& text(std::string_view key) const;
  std::vector<int64_t> list(std::string_view key) const;  // a single integer is a list of one
  DType dtype(std::string_view key) const;
};

enum class ValueKind { input, param, buffer, constant, result };

struct Value {
  ValueId id = kNoValue;
  ValueKind kind = ValueKind::result;
  std::string name;  // input: argument name; param, buffer: dotted name; constant: its data as text ("1.0 2.0"), or a
                     // name the module holds
  TensorType type;
  DType storage =
      DType::f32;  // how a materialised intermediate is stored; equals type.dtype unless `precision` changed it
  std::vector<int> layout;  // order of dimensions in memory, outermost first; empty: row-major
  bool operator==(const Value&) const = default;
};

struct Node {
  std::string op;
  std::vector<ValueId> inputs;
  Attrs attrs;
  std::vector<ValueId> outputs;
  std::string location;  // "mlp.py:15", may be empty
  bool operator==(const Node&) const = default;
};

// Kernel families; see docs/PROGRAM.md.
enum class Family { library, pointwise, reduction, contraction, window, scan, movement, attention, recurrent };
std::string_view name(Family family);

struct Kernel {
  std::string name;             // "k3": stable within a program
  std::vector<ValueId> values;  // the results it computes, in topological order
  Family family = Family::library;
  std::map<std::string, std::string>
      choices;  // made by actions, of the words in ir/schedule_words.h: {"tiled",""}, {"order","reversed"}
  std::map<std::string, int64_t> numbers;  // tuned by micro coding: {"m",128}
  bool operator==(const Kernel&) const = default;

  bool has(std::string_view choice) const { return choices.count(std::string(choice)) > 0; }
  int64_t number(std::string_view key, int64_t otherwise) const;
};

struct StateUpdate {
  std::string name;  // the buffer's dotted name
  ValueId value = kNoValue;
  bool operator==(const StateUpdate&) const = default;
};

// State that is neither parameter nor buffer (python/mtmc/wire/plain.py): ".hidden", ".rnn.state.0".
inline bool is_plain(const std::string& name) { return name.starts_with("."); }

// Behind the name of a complex tensor that the module holds: the value is its real view (python/mtmc/trace/graph.py).
inline constexpr std::string_view kRealView = "@real";

// A rewrite of the graph itself: ordinary actions cannot change the answer, these can and carry their flag into the
// report.
struct Rewrite {
  std::string action;  // "simplify", "precision"
  std::string what;
  bool operator==(const Rewrite&) const = default;
};

struct Program {
  std::string name;
  std::vector<Value> values;  // ascending ids
  std::vector<Node> nodes;    // topological order
  std::vector<ValueId> outputs;
  std::vector<StateUpdate> states;
  std::vector<Kernel> kernels;                     // launch order
  std::vector<std::vector<std::string>> captures;  // kernel names launched as one
  std::vector<Rewrite> rewrites;
  bool operator==(const Program&) const = default;

  const Value& value(ValueId id) const;
  Value& value(ValueId id);
  bool has_value(ValueId id) const;
  // The node that computes a value, or null for inputs, parameters, buffers and constants.
  const Node* producer(ValueId id) const;
  std::vector<const Node*> nodes_of(const Kernel& kernel) const;  // what it computes, in the graph's order
  std::vector<const Node*> users(ValueId id) const;
  const Kernel* kernel(std::string_view kernel_name) const;
  // The kernels that compute a value (several with recomputation).
  std::vector<const Kernel*> kernels_of(ValueId id) const;
  // Values a kernel reads from memory, and those of its own that somebody outside it (or the caller) needs; ascending.
  std::vector<ValueId> reads(const Kernel& kernel) const;
  std::vector<ValueId> writes(const Kernel& kernel) const;
  // The same of all kernels, in their order and in one walk over the nodes.
  std::vector<std::vector<ValueId>> reads_of_all() const;
  std::vector<std::vector<ValueId>> writes_of_all() const;
  ValueId next_id() const;
  std::string next_kernel_name() const;
};

struct PrintOptions {
  bool numbers = true;  // false: without what micro coding tuned; what two equal states agree on
  bool locations = true;
};
std::string id_text(ValueId id);             // "%3", or none
std::string type_text(const Value& value);   // "f32[64,256] storage f16 layout (1,0)"
std::string attrs_text(const Attrs& attrs);  // "dim=1, keepdim=false"
std::string print(const Program& program, PrintOptions options = {});
Result<Program> parse_program(std::string_view text);

// Every rule a Program obeys: ids ascending and defined before use, every node in a kernel, kernels in an order that
// respects data flow and computing only what can be computed from their reads, known words in their schedules, outputs
// and states defined, captures naming consecutive kernels. Types are checked by verify_types (ops/op.h).
Status verify(const Program& program);

// Content hash of the text; `state_hash` leaves the tuned numbers and locations out.
std::string program_hash(const Program& program);
std::string state_hash(const Program& program);

// One library kernel per node: what eager PyTorch does.
void reset_kernels(Program& program);

}  // namespace mtmc
