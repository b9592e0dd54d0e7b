#include "targets/library_call.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/op.h"

namespace mtmc {

std::optional<std::string> number_for(const Program& program, const Node& node, size_t operand) {
  const OpDef* op = find_op(node.op);
  const std::string_view operands = node.inputs.size() == 2 ? "self other" : "self mask value";
  if (operand < 1 || operand > 2 || operand + 1 != node.inputs.size() || !op ||
      op->spelling.find("({0}, {1}") == std::string_view::npos ||
      std::find(node.inputs.begin(), node.inputs.end(), kNoValue) != node.inputs.end())
    return std::nullopt;
  const bool takes = std::any_of(op->aten.begin(), op->aten.end(), [&](const AtenRule& rule) {
    return rule.overload.ends_with(".Scalar") && rule.operands == operands;
  });
  const TensorType& other = program.value(node.inputs[0]).type;
  const Value& value = program.value(node.inputs[operand]);
  const auto numbers = literal(value);
  const DType dtype = value.type.dtype;
  if (!takes || !numbers || value.type.rank() > 0 || other.rank() == 0 || is_float(dtype) != is_float(other.dtype) ||
      (!is_float(dtype) && (dtype == DType::b1 || (other.dtype != DType::i64 && other.dtype != DType::i32))))
    return std::nullopt;
  if (!std::isfinite((*numbers)[0]))
    return operand == 2 ? std::optional("float(\"" + value.name + "\")") : std::nullopt;
  const bool whole = value.name.find_first_of(".e") == std::string::npos;
  if (!is_float(dtype) && !whole) return std::nullopt;
  return value.name + (is_float(dtype) && whole ? ".0" : "");
}

bool is_like(const Node& node) { return node.op == "full_like"; }

std::vector<std::string> lines_before(const Node& node, const std::vector<std::string>& args,
                                      const std::string& device) {
  if (!node.attrs.has(kLinesBefore)) return {};
  return split(replace_all(with_places(node.attrs.text(kLinesBefore), args), "torch.device('cpu')", device), '\n');
}

std::string library_call(const Program& program, const Node& node, const std::vector<std::string>& args, bool moves,
                         const std::string& device) {
  const OpDef* op = find_op(node.op);
  MTMC_CHECK(op != nullptr, "no torch form of " + node.op);
  const OpCall call = call_of(program, node);
  Attrs full = node.attrs;
  if (is_like(node) && args.empty()) {
    const TensorType& type = program.value(node.outputs[0]).type;
    op = find_op("full");
    full["shape"] = type.shape, full["dtype"] = type.dtype;
  }
  const OpCall spelled{op->name, args.empty() ? std::vector<std::optional<TensorType>>{} : call.operands, full};
  std::string text = moves ? op->torch_in_place(spelled, args) : op->torch(spelled, args);
  if (args.empty() && !node.attrs.has(kLinesBefore) && text.find("device=") == std::string::npos)  // a factory
    text.insert(text.rfind(')'), ", device=" + device);
  if (!device.empty())
    text = replace_all(text, "torch.device('cpu')", device);  // traced where no input says the device
  return text;
}

}  // namespace mtmc
