#include "base/text.h"
#include "ir/program.h"
#include "ir/schedule_words.h"

namespace mtmc {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string attr_text(const AttrValue& value) {
  struct Printer {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(int64_t whole) const { return std::to_string(whole); }
    std::string operator()(double number) const { return format_double(number); }
    std::string operator()(const std::string& text) const { return quoted(text); }
    std::string operator()(DType dtype) const { return std::string(name(dtype)); }
    std::string operator()(const std::vector<int64_t>& list) const {
      std::string text = "[";
      for (size_t i = 0; i < list.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(list[i]);
      return text + "]";
    }
  };
  return std::visit(Printer{}, value);
}

std::string node_text(const Program& program, const Node& node, const PrintOptions& options) {
  std::vector<std::string> results, types, args;
  for (ValueId id : node.outputs) {
    results.push_back(id_text(id));
    types.push_back(type_text(program.value(id)));
  }
  for (ValueId id : node.inputs) args.push_back(id_text(id));
  if (!node.attrs.empty()) args.push_back(attrs_text(node.attrs));
  std::string text = "  " + join(results, ", ") + " = " + node.op + "(" + join(args, ", ") + ") : " + join(types, ", ");
  if (options.locations && !node.location.empty()) text += "  @ " + node.location;
  return text + "\n";
}

std::string kernel_text(const Kernel& kernel, const PrintOptions& options) {
  std::string text = "kernel " + kernel.name + " = {";
  for (ValueId id : kernel.values) text += " " + id_text(id);
  text += " } " + std::string(name(kernel.family));
  for (const auto& [key, word] : kernel.choices) text += " " + choice_text(key, word);
  if (options.numbers && !kernel.numbers.empty()) {
    text += " |";
    for (const auto& [key, number] : kernel.numbers) text += " " + key + ":" + std::to_string(number);
  }
  return text + "\n";
}

}  // namespace

std::string type_text(const Value& value) {
  std::string text = to_string(value.type);
  if (value.storage != value.type.dtype) text += " storage " + std::string(name(value.storage));
  if (!value.layout.empty()) {
    text += " layout (";
    for (size_t i = 0; i < value.layout.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(value.layout[i]);
    text += ")";
  }
  return text;
}

std::string attrs_text(const Attrs& attrs) {
  std::vector<std::string> words;
  for (const auto& [key, value] : attrs) words.push_back(key + "=" + attr_text(value));
  return join(words, ", ");
}

std::string id_text(ValueId id) { return id == kNoValue ? "none" : "%" + std::to_string(id); }

std::string print(const Program& program, PrintOptions options) {
  static constexpr const char* kKinds[] = {"input", "param", "buffer", "constant"};
  std::string text = "program " + program.name + " {\n";
  for (const Value& value : program.values)
    if (value.kind != ValueKind::result)
      text += "  " + id_text(value.id) + " = " + kKinds[static_cast<int>(value.kind)] + " " + quoted(value.name) +
              " : " + type_text(value) + "\n";
  for (const Node& node : program.nodes) text += node_text(program, node, options);
  for (const StateUpdate& state : program.states)
    text += "  state " + quoted(state.name) + " = " + id_text(state.value) + "\n";
  std::vector<std::string> outputs;
  for (ValueId id : program.outputs) outputs.push_back(id_text(id));
  text += "  return " + join(outputs, ", ") + "\n}\n";
  for (const Kernel& kernel : program.kernels) text += kernel_text(kernel, options);
  for (const auto& capture : program.captures) text += "capture { " + join(capture, " ") + " }\n";
  for (const Rewrite& rewrite : program.rewrites)
    text += "rewritten " + rewrite.action + " " + quoted(rewrite.what) + "\n";
  return text;
}

}  // namespace mtmc
