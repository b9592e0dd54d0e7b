// An activation written out in arithmetic, recognised by its values: a chain of pointwise operators of one tensor that
// agrees with a named function at points on all its branches is that function.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "actions/rewrite.h"
#include "ops/op.h"

namespace mtmc {
namespace {

constexpr size_t kMostNodes = 12;
constexpr double kTolerance = 1e-8;  // users write 0.79788456
const std::vector<double> kPoints = {-1000, -40, -5.3, -2.1, -0.7, -0.1, 0, 0.2, 0.9, 1.7, 3.3, 6.1, 9.7, 40, 1000};

struct Known {
  const char* op;
  Attrs attrs;
};
const std::vector<Known>& known() {
  static const std::vector<Known> all = {{"relu", {}},
                                         {"gelu", {{"approximate", std::string("tanh")}}},
                                         {"gelu", {{"approximate", std::string("none")}}},
                                         {"silu", {}},
                                         {"mish", {}},
                                         {"sigmoid", {}},
                                         {"hardswish", {}}};
  return all;
}

bool is_elementwise(std::string_view name) {
  const OpDef* op = find_op(name);
  return op && (op->is_pointwise() || name == "pow_scalar" || name == "clamp");
}

// The pointwise nodes between a cut and the root; nothing when something else than the cut and constants flows in.
std::optional<std::vector<const Node*>> cone(const Program& program, const Node& root, ValueId cut) {
  std::set<const Node*> found;
  std::vector<const Node*> todo = {&root};
  bool reached = false;
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (!found.insert(node).second) continue;
    if (found.size() > kMostNodes || !is_elementwise(node->op)) return std::nullopt;
    if (program.value(node->outputs[0]).type != program.value(root.outputs[0]).type) return std::nullopt;
    for (ValueId input : node->inputs) {
      if (input == cut) reached = true;
      if (input == cut || input == kNoValue || scalar_of(program, input)) continue;
      const Node* producer = program.producer(input);
      if (!producer) return std::nullopt;
      todo.push_back(producer);
    }
  }
  if (!reached) return std::nullopt;
  std::vector<const Node*> ordered;
  for (const Node& node : program.nodes)
    if (found.count(&node)) ordered.push_back(&node);
  return ordered;
}

// The values that may be the argument, the farthest from the root first.
std::vector<ValueId> cuts(const Program& program, const Node& root) {
  std::vector<ValueId> found;
  std::vector<ValueId> todo = root.inputs;
  for (size_t i = 0; i < todo.size() && found.size() <= kMostNodes; ++i) {
    const ValueId id = todo[i];
    if (id == kNoValue || program.value(id).type != program.value(root.outputs[0]).type) continue;
    if (std::count(found.begin(), found.end(), id) > 0) continue;
    found.push_back(id);
    if (const Node* node = program.producer(id))
      if (is_elementwise(node->op)) todo.insert(todo.end(), node->inputs.begin(), node->inputs.end());
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::optional<std::vector<double>> values_at(Program& trial, ValueId result) {
  trial.outputs = {result};
  const std::vector<std::vector<double>> leaves(static_cast<size_t>(std::count_if(
      trial.values.begin(), trial.values.end(), [](const Value& v) { return v.kind != ValueKind::result; })));
  auto filled = leaves;
  filled[0] = kPoints;
  const auto made = evaluate(trial, filled);
  return made.ok() ? std::optional((*made)[0]) : std::nullopt;
}

const TensorType kPointType{DType::f64, {static_cast<int64_t>(kPoints.size())}};

std::optional<std::vector<double>> sample(const Program& program, const std::vector<const Node*>& nodes, ValueId cut) {
  Program trial;
  trial.name = "trial";
  std::map<ValueId, ValueId> renamed = {{kNoValue, kNoValue}};
  renamed[cut] = add_leaf(trial, ValueKind::input, "x", kPointType);
  for (const Node* node : nodes)
    for (ValueId input : node->inputs)
      if (scalar_of(program, input) && !renamed.count(input))
        renamed[input] = add_leaf(trial, ValueKind::constant, program.value(input).name, {DType::f64, {}});
  for (const Node* node : nodes) {
    std::vector<ValueId> inputs;
    for (ValueId input : node->inputs) inputs.push_back(renamed.at(input));
    const auto made = add_node(trial, node->op, std::move(inputs), node->attrs);
    if (!made.ok() || trial.value(made->front()).type != kPointType) return std::nullopt;
    renamed[node->outputs[0]] = made->front();
  }
  return values_at(trial, renamed.at(nodes.back()->outputs[0]));
}

const std::vector<std::vector<double>>& known_values() {
  static const std::vector<std::vector<double>> all = [] {
    std::vector<std::vector<double>> values;
    for (const Known& one : known()) {
      Program trial;
      const ValueId x = add_leaf(trial, ValueKind::input, "x", kPointType);
      values.push_back(*values_at(trial, add_node(trial, one.op, {x}, one.attrs)->front()));
    }
    return values;
  }();
  return all;
}

// Where the function is zero, nothing else will do: clamp(x, min=1e-12) is there to be divided by.
bool agree(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if ((b[i] == 0 && a[i] != 0) || !(std::abs(a[i] - b[i]) <= kTolerance * (std::abs(b[i]) + 1e-3))) return false;
  return true;
}

std::optional<Edit> match(const Program& program, const Node& root) {
  if (!is_elementwise(root.op) || !is_float(program.value(root.outputs[0]).type.dtype)) return std::nullopt;
  for (ValueId cut : cuts(program, root)) {
    const auto nodes = cone(program, root, cut);
    if (!nodes) continue;
    const bool has_name = std::any_of(known().begin(), known().end(), [&](const Known& k) { return root.op == k.op; });
    if (nodes->size() == 1 && has_name) continue;
    const auto values = sample(program, *nodes, cut);
    if (!values) continue;
    for (size_t k = 0; k < known().size(); ++k) {
      if (!agree(*values, known_values()[k])) continue;
      Edit edit;
      for (const Node* node : *nodes) edit.region.push_back(node->outputs[0]);
      edit.build = [k, cut](Program& p) -> Result<ValueId> {
        MTMC_TRY(const auto made, add_node(p, known()[k].op, {cut}, known()[k].attrs));
        return made[0];
      };
      return edit;
    }
  }
  return std::nullopt;
}

}  // namespace

namespace rules {
extern const Rule activation_def;
const Rule activation_def{"activation", "An activation written out in arithmetic.",
                          "0.5 * x * (1 + tanh(0.798 * (x + 0.0447 * x^3)))  becomes  gelu(x)", match};
}  // namespace rules

}  // namespace mtmc
