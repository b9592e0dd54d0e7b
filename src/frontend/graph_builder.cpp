#include "frontend/graph_builder.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "frontend/aten_call.h"
#include "frontend/tidy.h"
#include "ops/aten.h"
#include "ops/op.h"

namespace mtmc {
namespace {

ValueKind kind_of(const std::string& word) {
  if (word == "input") return ValueKind::input;
  if (word == "param") return ValueKind::param;
  if (word == "buffer") return ValueKind::buffer;
  MTMC_CHECK(word == "constant", "a leaf of kind " + word);
  return ValueKind::constant;
}

TensorType type_of(const Json& text) {
  const auto type = parse_type(text.get<std::string>());
  MTMC_CHECK(type.has_value(), "the tracer wrote a type " + text.dump());
  return *type;
}

// A constant's elements as the text that the Program keeps.
std::string literal_text(const Json& values, DType dtype) {
  std::vector<std::string> words;
  for (const Json& value : values) {
    if (is_float(dtype))
      words.push_back(format_double(number_of(value)));
    else
      words.push_back(value.is_boolean() ? (value.get<bool>() ? "1" : "0") : std::to_string(value.get<int64_t>()));
  }
  return join(words, " ");
}

// The body of a definition that makes one tensor element by element; null where it is none.
ExprP elementwise(const Program& program, const Node& node) {
  const OpDef* def = find_op(node.op);
  if (!def || !def->define || node.outputs.size() != 1) return nullptr;
  const Definition definition = def->define(call_of(program, node));
  if (definition.stages.size() != 1 || definition.stages[0].combine != Combine::none) return nullptr;
  return definition.stages[0].body;
}

// Is it the element of an operand that has the place of the result's?
bool is_own_element(const Expr& load, const Shape& shape) {
  if (load.args.size() != shape.size()) return false;
  for (size_t i = 0; i < load.args.size(); ++i) {
    const Expr& index = *load.args[i];
    const bool own_axis = index.kind == Expr::Kind::axis && index.axis == static_cast<int>(i);
    if (!own_axis && !(shape[i] == 1 && is_index_constant(load.args[i], 0))) return false;
  }
  return true;
}

// The definition takes over its first operand element by element.
bool is_copy(const Program& program, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue || node.outputs.size() != 1) return false;
  const TensorType& type = program.value(node.outputs[0]).type;
  if (type != program.value(node.inputs[0]).type) return false;
  const ExprP body = elementwise(program, node);
  return body && body->kind == Expr::Kind::load && body->tensor == 0 && !body->guard &&
         is_own_element(*body, type.shape);
}

// A part is replaced by what lies there: what is left of `y[1:3] += x` once it has been carried out.
bool puts_back(const Program& program, const Node& node) {
  const OpDef* def = find_op(node.op);
  if (!def || def->part.empty()) return false;
  const Node* part = program.producer(node.inputs[1]);
  return part && part->op == def->part && part->attrs == node.attrs && part->inputs[0] == node.inputs[0];
}

// Operators that torch computes in the order in which their first operand lies, some of them by other code, that rounds
// otherwise: attention, and what knows channels that come last.
bool follows_layout(const std::string& overload) {
  static constexpr std::string_view kNames[] = {"scaled_dot_product_attention.",
                                                "conv",
                                                "batch_norm",
                                                "native_batch_norm",
                                                "_native_batch_norm",
                                                "group_norm",
                                                "instance_norm",
                                                "max_pool",
                                                "avg_pool",
                                                "adaptive_",
                                                "upsample_",
                                                "view_as_complex.",
                                                "view.dtype",
                                                "pixel_",
                                                "channel_shuffle",
                                                "grid_sampler"};
  const std::string_view name = std::string_view(overload).substr(std::min(overload.size(), size_t{5}));  // of aten.
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view one) { return name.starts_with(one); });
}

bool is_view(const Node& node) {
  const OpDef* def = find_op(node.op);
  return def && def->is_view;
}

// Calls that hand on their operand's memory without being a view of another shape.
bool is_alias(const std::string& overload) {
  return overload == "aten.alias.default" || overload == "aten.detach.default" || overload == "aten.lift_fresh.default";
}

}  // namespace

const GraphBuilder::Known& GraphBuilder::known(const std::string& name) const {
  const auto found = known_.find(name);
  MTMC_CHECK(found != known_.end(), "the trace uses " + name + " before it is defined");
  return found->second;
}

void GraphBuilder::add_leaf(const Json& leaf) {
  const TensorType type = type_of(leaf.at("type"));
  const std::string name =
      leaf.contains("values") ? literal_text(leaf.at("values"), type.dtype) : leaf.at("target").get<std::string>();
  const ValueId id = mtmc::add_leaf(program_, kind_of(leaf.at("kind")), name, type);
  known_[leaf.at("name")] = {id, leaf.contains("values"), leaf.contains("strides")};
}

void GraphBuilder::add_call(const Json& call) {
  pack_operands(call);
  if (!add_operator(call)) add_library(call);
}

void GraphBuilder::pack_operands(const Json& call) {
  if (!follows_layout(call.at("op")) && !call.at("args").is_null()) return;
  for (const Json& name : call.at("operands")) {
    Known& operand = known_.at(name);
    if (operand.packed || operand.in_order) operand.id = copy_of(operand.id);
    operand.packed = operand.in_order = false;
  }
}

bool GraphBuilder::add_operator(const Json& call) {
  if (call.at("args").is_null()) return false;  // an operand that only lives inside the call's text
  const auto id_of = [&](const std::string& name) { return known(name).id; };
  const auto aten = aten_call(call.at("op"), call.at("args"), id_of);
  if (!aten) return false;
  const size_t values = program_.values.size(), nodes = program_.nodes.size();
  const auto added = import_aten(program_, *aten, call.at("at"));
  const Json& outputs = call.at("outputs");
  bool fits = added.ok();
  for (size_t i = 0; fits && i < outputs.size(); ++i) fits = !outputs[i].at("used").get<bool>() || i < added->size();
  if (!fits) {
    program_.values.resize(values);
    program_.nodes.resize(nodes);
    return false;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].at("used").get<bool>()) continue;
    const TensorType& ours = program_.value((*added)[i]).type;
    MTMC_CHECK(ours == type_of(outputs[i].at("type")), program_.nodes.back().op + " makes " + to_string(ours) + " of " +
                                                           call.dump() + ", torch makes " +
                                                           outputs[i].at("type").get<std::string>());
  }
  bind(call, *added);
  return true;
}

void GraphBuilder::add_library(const Json& call) {
  std::vector<ValueId> operands;
  for (const Json& name : call.at("operands")) operands.push_back(known(name).id);
  const Json& outputs = call.at("outputs");
  const std::string op = call.at("op"), text = call.at("call"), at = call.at("at");
  const std::string before = join(call.value(kLinesBefore, std::vector<std::string>()), "\n");
  const auto add = [&](const std::string& callee, const std::string& args, const std::string& types) {
    Attrs attrs{{"call", callee}, {"args", args}, {"types", types}};
    if (!before.empty()) attrs.insert_or_assign(std::string(kLinesBefore), before);
    auto added = add_node(program_, "library", operands, std::move(attrs), at);
    MTMC_CHECK(added.ok(), "a library call of " + callee + ": " + added.error().message());
    return *std::move(added);
  };
  std::vector<std::string> types;
  for (const Json& output : outputs)
    if (!output.at("type").is_null()) types.push_back(output.at("type"));
  if (types.size() == outputs.size()) return bind(call, add(op, text, join(types, " ")));
  // Some unused output is nothing that a Program can hold: each used one is taken out of a call of its own.
  std::vector<ValueId> ids(outputs.size(), kNoValue);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].at("used"))
      ids[i] = add("aten.alias.default", "torch.ops." + op + "(" + text + ")[" + std::to_string(i) + "]",
                   outputs[i].at("type"))[0];
  bind(call, ids);
}

void GraphBuilder::bind(const Json& call, const std::vector<ValueId>& ids) {
  const Node& node = program_.nodes.back();
  const Json& outputs = call.at("outputs");
  bool fresh = true;
  if (is_view(node) || is_alias(call.at("op")))
    for (const Json& name : call.at("operands")) fresh = fresh && known(name).fresh;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].at("used"))
      known_[outputs[i].at("name")] = {without_copies(ids[i]), fresh, outputs[i].contains("strides"), packs(call),
                                       is_in_order(call)};
}

bool GraphBuilder::packs(const Json& call) const {
  if (call.at("operands").empty() || call.at("outputs")[0].contains("strides")) return false;
  const Known& operand = known(call.at("operands")[0]);
  const Node& node = program_.nodes.back();
  if (is_view(node)) return operand.packed && !copies(node);
  return operand.strided && (call.at("op") == "aten.clone.default" || call.at("op") == "aten.contiguous.default");
}

bool GraphBuilder::is_in_order(const Json& call) const {
  if (call.at("outputs")[0].contains("strides")) return false;
  const Node& node = program_.nodes.back();
  const auto behind = [&](const Known& operand) { return operand.packed || operand.in_order; };
  if (is_view(node)) return known(call.at("operands")[0]).in_order && !copies(node);
  bool found = false;
  for (const Json& name : call.at("operands")) found = found || behind(known(name));
  const ExprP body = found ? elementwise(program_, node) : nullptr;
  if (!body) return false;
  const Shape& shape = program_.value(node.outputs[0]).type.shape;
  const std::vector<const Expr*> loads = loads_of(body);
  return std::any_of(loads.begin(), loads.end(), [&](const Expr* load) {
    const ValueId id = node.inputs[static_cast<size_t>(load->tensor)];
    const auto is_it = [&](const Json& name) { return known(name).id == id && behind(known(name)); };
    const Json& operands = call.at("operands");
    return is_own_element(*load, shape) && std::any_of(operands.begin(), operands.end(), is_it);
  });
}

bool GraphBuilder::copies(const Node& node) const {
  const auto without_ones = [&](ValueId id) {
    Shape shape = program_.value(id).type.shape;
    std::erase(shape, 1);
    return shape;
  };
  return node.op == "reshape" && without_ones(node.inputs[0]) != without_ones(node.outputs[0]);
}

ValueId GraphBuilder::without_copies(ValueId id) const {
  const Node* node = program_.producer(id);
  return node && (is_copy(program_, *node) || puts_back(program_, *node)) ? node->inputs[0] : id;
}

bool GraphBuilder::is_view_of_leaf(ValueId id) const {
  const Node* node = program_.producer(id);
  return !node || (is_view(*node) && is_view_of_leaf(node->inputs[0]));
}

ValueId GraphBuilder::copy_of(ValueId id) {
  const auto added = add_node(program_, "clone", {id}, {}, {});
  MTMC_CHECK(added.ok(), "copying a result");
  return (*added)[0];
}

void GraphBuilder::add_output(const std::string& name) {
  // What torch returns in memory of its own, we return in memory of its own.
  const Known& value = known(name);
  const auto& outputs = program_.outputs;
  const bool taken = std::find(outputs.begin(), outputs.end(), value.id) != outputs.end();
  const bool shared = taken || kept_.contains(value.id) || (value.fresh && is_view_of_leaf(value.id));
  program_.outputs.push_back(shared || value.packed ? copy_of(value.id) : value.id);
}

void GraphBuilder::add_state(const std::string& target, const std::string& name, bool returned) {
  // Updates are stored one after the other: an old state must be read before.
  const ValueId id = known(name).id, value = is_view_of_leaf(id) ? copy_of(id) : id;
  program_.states.push_back({target, value});
  if (target.starts_with(".") && !returned) kept_.insert(value);
}

Program GraphBuilder::finish() && { return tidy(std::move(program_)); }

}  // namespace mtmc
