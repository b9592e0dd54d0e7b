#include "targets/module_printer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"

namespace mtmc {

namespace {

constexpr const char* kChecks = R"PY(
def _expect(name, tensor, shape, dtype):
    """This kernel is specialised: anything but the traced shape, dtype and device is refused."""
    if tensor.shape != shape or tensor.dtype != dtype or not getattr(tensor, "is_" + _DEVICE):
        raise ValueError(f"running {_DESCRIPTION}: {name} does not fit: got {tuple(tensor.shape)} {tensor.dtype} on {tensor.device.type}, "
                         f"wanted {shape} {dtype} on {_DEVICE}")
    return tensor.contiguous()


_warned = False


def _warn_about_gradients(module):
    global _warned
    if not _warned and torch.is_grad_enabled() and any(p.requires_grad for p in module.parameters()):
        _warned = True
        warnings.warn("ModelNew computes no gradients: its outputs are detached", stacklevel=3)
)PY";

constexpr const char* kMoved = R"PY(_moved = {}


def _on_device(tensor):
    """What is no parameter and no buffer does not move with its module: it is copied once, and again when it changed."""
    if getattr(tensor, "is_" + _DEVICE):
        return tensor
    version = None if tensor.is_inference() else tensor._version
    kept = _moved.get(id(tensor))
    if kept is None or kept[0]() is not tensor or kept[1] != version:
        forget = lambda _, key=id(tensor): _moved.pop(key, None)
        kept = _moved[id(tensor)] = (weakref.ref(tensor, forget), version, tensor.to(_DEVICE))
    return kept[2]

)PY";

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (int64_t extent : shape) text += std::to_string(extent) + ", ";
  if (shape.size() > 1) text.resize(text.size() - 2);
  if (shape.size() == 1) text.resize(text.size() - 1);
  return text + ")";
}

// State that is neither parameter nor buffer (python/mtmc/wire/plain.py): ".hidden", ".rnn.state.0".
bool is_plain(const std::string& name) { return name.starts_with("."); }

// `owner.name`, for names that are no identifiers (`0`, `block1-0`) `getattr(owner, "name")`.
std::string member(const std::string& owner, const std::string& name) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  const bool identifier = !name.empty() && std::all_of(name.begin(), name.end(), fits) &&
                          !std::isdigit(static_cast<unsigned char>(name[0]));
  return identifier ? owner + "." + name : "getattr(" + owner + ", \"" + name + "\")";
}

class ModulePrinter {
 public:
  ModulePrinter(const Program& program, const ModuleShell& shell, const ModuleParts& parts)
      : program_(program), shell_(shell), parts_(parts) {}

  Code run() {
    text("\"\"\"" + shell_.description +
         ", optimised by MTMC.\n\nA drop-in ModelNew: same constructor, parameters and state_dict as the original; "
         "needs torch" +
         (parts_.software.empty() ? "" : " and " + std::string(parts_.software)) + ", not mtmc.\n\"\"\"\n");
    std::string constructor = shell_.constructor_source;
    while (constructor.starts_with("from __future__")) {  // must stand first in a file
      const size_t end = constructor.find('\n') + 1;
      text(constructor.substr(0, end));
      constructor.erase(0, end);
    }
    const bool moves = std::any_of(program_.values.begin(), program_.values.end(), is_attribute);
    if (parts_.graph || moves) text("import weakref\n\n");
    text(parts_.imports);
    text("import warnings\n\nimport torch\nimport torch.nn.functional as F\n\n");
    text("_DEVICE = \"" + std::string(to_string(parts_.device)) + "\"\n_DESCRIPTION = \"" + program_.name + "\"\n\n");
    const int source_start = line_;
    text(parts_.source);
    find_sources(source_start);
    constants();
    if (moves) text(kMoved);
    text(kChecks);
    text("\n\n");
    const size_t marker = constructor.find("# mtmc: forward");
    MTMC_CHECK(marker != std::string::npos, "the constructor source has no marker for forward");
    const size_t line_start = constructor.rfind('\n', marker) + 1;
    const size_t line_end = constructor.find('\n', marker);
    margin_ = std::string(marker - line_start, ' ');
    text(constructor.substr(0, line_start));
    forward();
    if (line_end != std::string::npos) text(constructor.substr(line_end));
    for (const Kernel& kernel : program_.kernels)
      for (ValueId id : kernel.values) code_.values[id] = code_.kernels[kernel.name];
    return std::move(code_);
  }

 private:
  void text(const std::string& more) {
    code_.text += more;
    line_ += static_cast<int>(std::count(more.begin(), more.end(), '\n'));
  }
  void statement(const std::string& one) { text(margin_ + "    " + one + "\n"); }

  // What the module holds under its name, and that is neither parameter nor buffer.
  static bool is_attribute(const Value& value) {
    if (value.kind == ValueKind::buffer) return is_plain(value.name);
    return value.kind == ValueKind::constant && !literal(value);
  }

  void find_sources(int start) {
    for (const Launch& launch : parts_.launches) {
      const size_t at = launch.source_marker.empty() ? std::string::npos : parts_.source.find(launch.source_marker);
      if (at == std::string::npos) continue;
      const int first =
          start + static_cast<int>(
                      std::count(parts_.source.begin(), parts_.source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
      code_.kernels[launch.kernel] = {first, first + launch.source_lines - 1};
    }
  }

  std::string python_name(ValueId id) const {
    if (id == kNoValue) return "None";
    const Value& value = program_.value(id);
    if (value.kind == ValueKind::input) return value.name;
    return (value.kind == ValueKind::constant && literal(value) ? "_c" : "v") + std::to_string(id);
  }

  // A constant scalar as a number in a library call, where torch takes one as the second operand of the same kind of
  // numbers: a tensor in its place would be read for every element, and make torch's kernels slower. Else nothing.
  std::optional<std::string> number(const Node& node, size_t operand) const {
    const OpDef* op = find_op(node.op);
    if (operand != 1 || node.inputs.size() != 2 || node.inputs[0] == kNoValue || node.inputs[1] == kNoValue || !op ||
        op->spelling.find("({0}, {1}") == std::string_view::npos)
      return std::nullopt;
    const bool takes = std::any_of(op->aten.begin(), op->aten.end(), [](const AtenRule& rule) {
      return rule.overload.ends_with(".Scalar") && rule.operands == "self other";
    });
    const TensorType& other = program_.value(node.inputs[0]).type;
    const Value& value = program_.value(node.inputs[1]);
    const auto numbers = literal(value);
    const DType dtype = value.type.dtype;
    if (!takes || !numbers || value.type.rank() > 0 || other.rank() == 0 || !std::isfinite((*numbers)[0]) ||
        is_float(dtype) != is_float(other.dtype) ||
        (!is_float(dtype) && (dtype == DType::b1 || (other.dtype != DType::i64 && other.dtype != DType::i32))))
      return std::nullopt;
    const bool whole = value.name.find_first_of(".e") == std::string::npos;
    if (!is_float(dtype) && !whole) return std::nullopt;
    return value.name + (is_float(dtype) && whole ? ".0" : "");
  }

  // Values that the Python text names: what library calls and launches read, and results.
  std::set<ValueId> named() const {
    std::set<ValueId> found(program_.outputs.begin(), program_.outputs.end());
    for (const StateUpdate& state : program_.states) found.insert(state.value);
    for (const Launch& launch : parts_.launches) found.insert(launch.reads.begin(), launch.reads.end());
    for (const Kernel& kernel : program_.kernels) {
      if (kernel.family != Family::library) continue;
      for (ValueId id : kernel.values) {
        const Node& node = *program_.producer(id);
        for (size_t i = 0; i < node.inputs.size(); ++i)
          if (!number(node, i)) found.insert(node.inputs[i]);
      }
    }
    return found;
  }

  // Constants with their elements in the text are made once, when the file is imported.
  void constants() {
    for (ValueId id : named()) {
      if (id == kNoValue || program_.value(id).kind != ValueKind::constant || !literal(program_.value(id))) continue;
      const Value& value = program_.value(id);
      std::vector<std::string> numbers;
      for (const std::string& number : split(value.name, ' '))
        numbers.push_back(number.find_first_of("in") != std::string::npos ? "float(\"" + number + "\")" : number);
      text(python_name(id) + " = torch.tensor([" + join(numbers, ", ") + "], dtype=" + torch_dtype(value.type.dtype) +
           ", device=_DEVICE).reshape(" + shape_text(value.type.shape) + ")\n");
    }
  }

  void forward() {
    text(margin_ + "def forward(self" + (shell_.arguments.empty() ? "" : ", " + join(shell_.arguments, ", ")) + "):\n");
    // Nothing else could record gradients.
    const bool records = parts_.graph || !program_.states.empty() ||
                         std::any_of(program_.kernels.begin(), program_.kernels.end(),
                                     [](const Kernel& kernel) { return kernel.family == Family::library; });
    const std::string margin = margin_;
    if (records) {
      statement("with torch.no_grad():");
      margin_ += "    ";
    }
    leaves();
    if (parts_.graph) {
      replay(margin);
      return;
    }
    kernels();
    margin_ = margin;
    returns();
  }

  void kernels() {
    find_last_readers();
    for (const Kernel& kernel : program_.kernels) {
      if (kernel.family == Family::library) {
        library(kernel);
      } else if (const Launch* launch = launch_of(kernel)) {
        own(*launch, kernel);
      }
    }
    for (const StateUpdate& state : program_.states)
      if (!is_plain(state.name)) statement(state_path(state.name) + ".copy_(" + python_name(state.value) + ")");
    if (!parts_.graph) assign_attributes();
  }

  // Plain attributes get new tensors, as the user's forward gave them; tuples and lists are made again.
  void assign_attributes() {
    std::map<std::string, std::vector<std::string>> items;
    for (const StateUpdate& state : program_.states) {
      if (!is_plain(state.name)) continue;
      const std::string path = state_path(state.name), value = typed_name(state.value);
      const size_t place = path.ends_with("]") ? path.rfind('[') : path.size();
      if (place == path.size())
        statement(path + " = " + value);
      else
        items[path.substr(0, place)].push_back(path.substr(place + 1, path.size() - place - 2) + ": " + value);
    }
    for (const auto& [path, values] : items)
      statement(path + " = type(" + path + ")([{" + join(values, ", ") + "}.get(i, kept) for i, kept in enumerate(" +
                path + ")])");
  }

  // A value in its own type, however it is kept in between.
  std::string typed_name(ValueId id) const {
    const bool narrowed = id != kNoValue && program_.value(id).storage != program_.value(id).type.dtype;
    return python_name(id) + (narrowed ? ".to(" + torch_dtype(program_.value(id).type.dtype) + ")" : "");
  }

  const Launch* launch_of(const Kernel& kernel) const {
    for (const Launch& launch : parts_.launches)
      if (launch.kernel == kernel.name) return &launch;
    return nullptr;
  }

  // Which node of a library call, or which launch, is the last to read a value: eager frees its memory then, too.
  void find_last_readers() {
    std::map<ValueId, const void*> last;
    for (const Kernel& kernel : program_.kernels) {
      if (kernel.family == Family::library) {
        for (const Node* node : nodes_of(kernel)) {
          for (ValueId id : node->outputs) last[id] = node;
          for (ValueId id : node->inputs) last[id] = node;
        }
      } else if (const Launch* launch = launch_of(kernel)) {
        for (ValueId id : launch->writes) last[id] = launch;
        for (ValueId id : launch->reads) last[id] = launch;
        for (const Value& value : program_.values)
          if (launch->call.find("{" + std::to_string(value.id) + "}") != std::string::npos) last[value.id] = launch;
      }
    }
    for (ValueId id : program_.outputs) last.erase(id);
    for (const StateUpdate& state : program_.states) last.erase(state.value);
    for (const auto& [id, reader] : last)
      if (id != kNoValue && program_.value(id).kind == ValueKind::result) done_with_[reader].push_back(python_name(id));
  }

  // "del v3, v4", or nothing.
  std::string freed_after(const void* reader) const {
    const auto found = done_with_.find(reader);
    return found == done_with_.end() ? "" : "del " + join(found->second, ", ");
  }

  std::vector<const Node*> nodes_of(const Kernel& kernel) const {
    std::vector<const Node*> found;
    for (const Node& node : program_.nodes)
      if (std::find(kernel.values.begin(), kernel.values.end(), node.outputs[0]) != kernel.values.end())
        found.push_back(&node);
    return found;
  }

  // forward hands its tensors to one graph launch of _run; `margin`: outside no_grad.
  void replay(const std::string& margin) {
    std::vector<std::string> inputs, held, all;
    for (const Value& value : program_.values) {
      if (value.kind == ValueKind::result || (value.kind == ValueKind::constant && literal(value))) continue;
      const bool moves = value.kind == ValueKind::input || (value.kind == ValueKind::buffer && is_plain(value.name));
      (moves ? inputs : held).push_back(python_name(value.id));
    }
    const auto tuple = [](const std::vector<std::string>& names) { return "[" + join(names, ", ") + "]"; };
    statement("results = _replay(self, " + tuple(inputs) + ", " + tuple(held) + ")");
    std::vector<ValueId> returned = program_.outputs;
    for (const StateUpdate& state : program_.states)
      if (is_plain(state.name)) returned.push_back(state.value);
    std::set<ValueId> named;
    for (size_t i = 0; i < returned.size(); ++i)
      if (returned[i] != kNoValue && named.insert(returned[i]).second)
        statement(python_name(returned[i]) + " = results[" + std::to_string(i) + "]");
    assign_attributes();
    margin_ = margin;
    returns();
    for (const auto* list : {&inputs, &held}) all.insert(all.end(), list->begin(), list->end());
    text("\n" + margin_ + "def _run(self" + (all.empty() ? "" : ", ") + join(all, ", ") + "):\n");
    kernels();
    std::vector<std::string> results;
    for (ValueId id : returned) results.push_back(id == kNoValue ? "None" : python_name(id));
    statement("return " + tuple(results));
  }

  // Names for forward's arguments and for what it reads of its module. The arguments are checked, and so is what our
  // own kernels read: torch checks the rest itself, and every check costs the host a microsecond a call.
  void leaves() {
    for (const std::string& line : shell_.opening) statement(line);
    const std::set<ValueId> read = named();
    std::set<ValueId> own;
    for (const Launch& launch : parts_.launches) own.insert(launch.reads.begin(), launch.reads.end());
    std::vector<const Value*> held;
    for (const Value& value : program_.values) {
      if (value.kind == ValueKind::input)
        statement(python_name(value.id) + " = " + expected(value, value.name));
      else if (value.kind != ValueKind::result && (value.kind != ValueKind::constant || is_attribute(value)) &&
               (parts_.graph || read.count(value.id)))
        held.push_back(&value);
    }
    name_modules(held);
    for (const Value* value : held) {
      const std::string text =
          is_attribute(*value) ? "_on_device(" + state_path(value->name) + ")" : state_path(value->name);
      const bool checked = parts_.graph || own.count(value->id);
      statement(python_name(value->id) + " = " + (checked ? expected(*value, text) : text));
    }
  }

  static std::string expected(const Value& value, const std::string& text) {
    return "_expect(\"" + value.name + "\", " + text + ", " + shape_text(value.type.shape) + ", " +
           torch_dtype(value.type.dtype) + ")";
  }

  // Submodules from which several things are read become variables: each step of a path is a search in three tables.
  void name_modules(const std::vector<const Value*>& held) {
    std::map<std::string, std::set<std::string>> uses;  // a submodule's path -> what is read from it
    for (const Value* value : held)
      for (size_t dot = is_plain(value->name) ? std::string::npos : value->name.find('.'); dot != std::string::npos;
           dot = value->name.find('.', dot + 1))
        uses[value->name.substr(0, dot)].insert(value->name.substr(dot + 1, value->name.find('.', dot + 1) - dot - 1));
    for (const auto& [module, read] : uses) {  // a module stands before what is inside it
      if (read.size() < 2) continue;
      const std::string variable = "_m" + std::to_string(modules_.size());
      statement(variable + " = " + path(module));
      modules_[module] = variable;
    }
  }

  // The same of any state: plain attributes may lie in tuples and lists.
  std::string state_path(const std::string& name) const {
    if (!is_plain(name)) return path(name);
    std::string text = "self";
    for (const std::string& part : split(name.substr(1), '.'))
      text = !part.empty() && std::isdigit(static_cast<unsigned char>(part[0])) ? text + "[" + part + "]"
                                                                                : member(text, part);
    return text;
  }

  // Where forward finds what the module holds under a dotted name: "_m0.weight" or "self.norm.weight".
  std::string path(const std::string& dotted) const {
    if (const auto known = modules_.find(dotted); known != modules_.end()) return known->second;
    const size_t dot = dotted.rfind('.');
    return dot == std::string::npos ? member("self", dotted)
                                    : member(path(dotted.substr(0, dot)), dotted.substr(dot + 1));
  }

  void library(const Kernel& kernel) {
    const int first = line_;
    for (const Node* one : nodes_of(kernel)) {
      const Node& node = *one;
      std::vector<std::string> args, results;
      for (size_t i = 0; i < node.inputs.size(); ++i)
        args.push_back(number(node, i).value_or(python_name(node.inputs[i])));
      for (ValueId id : node.outputs) results.push_back(python_name(id));
      const OpDef* op = find_op(node.op);
      MTMC_CHECK(op != nullptr, "no torch form of " + node.op);
      std::string call = op->torch(call_of(program_, node), args);
      if (args.empty()) call.insert(call.rfind(')'), ", device=_DEVICE");  // a factory
      if (const std::string freed = freed_after(one); !freed.empty()) call += "; " + freed;
      statement(join(results, ", ") + " = " + call + comment(node.op, node.location));
    }
    code_.kernels[kernel.name] = {first, line_ - 1};
  }

  static std::string comment(const std::string& what, const std::string& location) {
    return location.empty() ? "" : "  # " + what + ", " + location;
  }

  void own(const Launch& launch, const Kernel& kernel) {
    for (ValueId id : launch.reads) {
      const Value& value = program_.value(id);
      const bool made_by_us = value.kind != ValueKind::result ||
                              std::any_of(parts_.launches.begin(), parts_.launches.end(), [&](const Launch& l) {
                                return std::find(l.writes.begin(), l.writes.end(), id) != l.writes.end();
                              });
      if (!made_by_us && contiguous_.insert(id).second)
        statement(python_name(id) + " = " + python_name(id) + ".contiguous()");
    }
    for (ValueId id : launch.writes) {
      const Value& value = program_.value(id);
      const std::string device = parts_.device == Device::cpu ? "" : ", device=_DEVICE";
      statement(python_name(id) + " = torch.empty(" + shape_text(value.type.shape) +
                ", dtype=" + torch_dtype(value.storage) + device + ")");
    }
    if (launch.call.empty()) return;
    const int first = line_;
    std::string call = launch.call;
    std::set<ValueId> all(launch.reads.begin(), launch.reads.end());
    all.insert(launch.writes.begin(), launch.writes.end());
    for (const Value& value : program_.values)
      call = replace_all(call, "{" + std::to_string(value.id) + "}", python_name(value.id));
    for (const std::string& one : split(call, '\n')) statement(one);
    if (const std::string freed = freed_after(&launch); !freed.empty()) statement(freed);
    if (!code_.kernels.count(kernel.name)) code_.kernels[kernel.name] = {first, line_ - 1};
  }

  void returns() {
    std::string result = shell_.outputs;
    std::vector<std::string> names;
    for (ValueId id : program_.outputs) names.push_back(typed_name(id));
    if (result.empty()) result = names.size() == 1 ? "{0}" : "";
    if (result.empty()) {
      result = "(" + join(names, ", ") + ")";
    } else {
      for (size_t i = 0; i < names.size(); ++i) result = replace_all(result, "{" + std::to_string(i) + "}", names[i]);
    }
    statement("_warn_about_gradients(self)");  // when everything is launched, where gradients are not switched off
    statement("return " + result);
  }

  const Program& program_;
  const ModuleShell& shell_;
  const ModuleParts& parts_;
  Code code_;
  std::string margin_ = "    ";
  std::set<ValueId> contiguous_;
  std::map<std::string, std::string> modules_;                 // submodules that have a variable
  std::map<const void*, std::vector<std::string>> done_with_;  // a node or launch -> variables that nobody reads later
  int line_ = 1;
};

}  // namespace

Code print_module(const Program& program, const ModuleShell& shell, const ModuleParts& parts) {
  return ModulePrinter(program, shell, parts).run();
}

}  // namespace mtmc
