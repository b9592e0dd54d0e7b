#include "targets/module_printer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "targets/import_time.h"
#include "targets/in_place.h"
#include "targets/library_call.h"
#include "targets/lifetimes.h"
#include "targets/module_text.h"
#include "targets/written.h"

namespace mtmc {

namespace {

class ModulePrinter {
 public:
  ModulePrinter(const Program& program, const ModuleShell& shell, const ModuleParts& parts)
      : program_(program),
        shell_(shell),
        parts_(parts),
        at_import_(made_at_import(program)),
        written_(written(program, parts.launches, at_import_)) {
    for (const Launch& launch : parts.launches)
      for (ValueId id : launch.reads) own_.insert(written_.home(id));
  }

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
    id = written_.home(id);
    const Value& value = program_.value(id);
    if (value.kind == ValueKind::input) return value.name;
    const bool global = (value.kind == ValueKind::constant && literal(value)) || at_import_.count(id);
    return (global ? "_c" : "v") + std::to_string(id);
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
          if (!number_for(program_, node, i)) found.insert(node.inputs[i]);
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
    make_at_import();
  }

  // What depends on them alone is made then, too; what only that needed is forgotten.
  void make_at_import() {
    std::set<ValueId> read;
    for (const Launch& launch : parts_.launches) read.insert(launch.reads.begin(), launch.reads.end());
    const std::set<ValueId> packed = read;  // launches want rows in order
    for (const Node& node : program_.nodes)
      if (!at_import_.count(node.outputs[0])) read.insert(node.inputs.begin(), node.inputs.end());
    std::vector<std::string> forgotten;
    for (const Kernel& kernel : program_.kernels) {
      if (!runs_at_import(kernel, at_import_)) continue;
      const int first = line_;
      for (const Node* node : program_.nodes_of(kernel)) {
        text(call_text(*node, "") + "\n");
        for (ValueId id : node->outputs) {
          if (packed.count(id)) text(python_name(id) + " = " + python_name(id) + ".contiguous()\n");
          if (!read.count(id)) forgotten.push_back(python_name(id));
        }
      }
      code_.kernels[kernel.name] = {first, line_ - 1};
    }
    if (!forgotten.empty()) text("del " + join(forgotten, ", ") + "\n");
  }

  void forward() {
    find_moved();
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
    done_with_ = last_reads(program_, parts_.launches, written_);
    for (const Kernel& kernel : program_.kernels) {
      if (runs_at_import(kernel, at_import_)) continue;
      if (kernel.family == Family::library) {
        library(kernel);
      } else if (const Launch* launch = launch_of(kernel)) {
        own(*launch, kernel);
      }
    }
    set_buffers();
    // Who gets what lies in a buffer gets a copy, as of all that lies there.
    std::set<std::string> copied;
    for (ValueId id : written_.shared)
      if (const std::string name = python_name(id); copied.insert(name).second)
        statement(name + " = " + name + ".clone()");
    if (!parts_.graph) assign_attributes();
  }

  // Buffers get their new values: those of a type by one call, which on a GPU is one launch for many.
  void set_buffers() {
    std::map<DType, std::pair<std::vector<std::string>, std::vector<std::string>>> copies;
    for (const StateUpdate& state : program_.states) {
      if (is_plain(state.name) || in_place_.count(state.value)) continue;
      if (written_.kept.count(state.name)) {
        // A copy of a buffer that does not lie in order was written.
        const Value& buffer = *std::find_if(program_.values.begin(), program_.values.end(), [&](const Value& value) {
          return value.kind == ValueKind::buffer && value.name == state.name;
        });
        const std::string path = state_path(state.name), name = python_name(buffer.id);
        if (is_checked(buffer.id)) statement("if " + name + " is not " + path + ": " + path + ".copy_(" + name + ")");
        continue;
      }
      auto& [buffers, values] = copies[program_.value(state.value).type.dtype];
      buffers.push_back(state_path(state.name));
      values.push_back(python_name(state.value));
    }
    for (const auto& [dtype, copy] : copies) {
      const auto& [buffers, values] = copy;
      if (buffers.size() == 1) {
        statement(buffers[0] + ".copy_(" + values[0] + ")");
      } else {
        statement("torch._foreach_copy_(");
        statement("    [" + join(buffers, ", ") + "],");
        statement("    [" + join(values, ", ") + "])");
      }
    }
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

  // Results that no variable holds, since torch leaves them in the module's own buffers or nobody wants them; and those
  // buffers.
  void find_moved() {
    for (const Kernel& kernel : program_.kernels) {
      if (kernel.family != Family::library) continue;
      for (const Node* node : program_.nodes_of(kernel)) {
        if (!moves_in_place(program_, *node)) continue;
        in_place_.insert(node->outputs.begin() + 1, node->outputs.end());
        for (size_t i = 1; i < node->outputs.size(); ++i)
          in_place_.insert(find_op(node->op)->in_place.operand(*node, i));
      }
    }
  }

  // "del v3, v4", or nothing.
  std::string freed_after(const void* reader) const {
    const auto found = done_with_.find(reader);
    if (found == done_with_.end()) return "";
    std::vector<std::string> names;
    for (ValueId id : found->second)
      if (!in_place_.count(id) && !at_import_.count(id)) names.push_back(python_name(id));
    return names.empty() ? "" : "del " + join(names, ", ");
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
    modules_.clear();  // forward's variables
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
      const std::string text = held_text(*value);
      statement(python_name(value->id) + " = " + (is_checked(value->id) ? expected(*value, text) : text));
    }
  }

  // Must what the module holds be as it was traced, and lie in order?
  bool is_checked(ValueId id) const {
    if (in_place_.count(id)) return false;
    return parts_.graph || own_.count(id) || written_.in_order.count(id);
  }

  // What forward reads of its module. The attribute itself is what is moved, once: a view of it is another in each
  // call.
  std::string held_text(const Value& value) const {
    const bool real = value.name.ends_with(kRealView);
    const std::string path = state_path(value.name.substr(0, value.name.size() - (real ? kRealView.size() : 0)));
    const std::string text = is_attribute(value) ? "_on_device(" + path + ")" : path;
    return real ? "torch.view_as_real(" + text + ".resolve_conj())" : text;
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
    for (const Node* node : program_.nodes_of(kernel)) {
      std::vector<std::string> lines = lines_before(*node, operands_of(*node), "_DEVICE"), then;
      if (!lines.empty()) then.push_back(lines.back()), lines.pop_back();
      for (const std::string& line : lines) statement(line);
      then.push_back(freed_after(node));
      std::erase(then, "");
      if (written_.there.count(node)) {
        const std::string said =
            "# " + node->op + ": it lies there" + (node->location.empty() ? "" : ", " + node->location);
        statement(then.empty() ? said : join(then, "; ") + "  " + said);
        continue;
      }
      statement(call_text(*node, then.empty() ? "" : "; " + join(then, "; ")));
    }
    code_.kernels[kernel.name] = {first, line_ - 1};
  }

  std::vector<std::string> operands_of(const Node& node) const {
    std::vector<std::string> args;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      args.push_back(number_for(program_, node, i).value_or(python_name(node.inputs[i])));
    return args;
  }

  // "v3 = F.relu(v2)", `then`, and where it comes from.
  std::string call_text(const Node& node, const std::string& then) const {
    std::vector<std::string> args = operands_of(node), results;
    for (ValueId id : node.outputs)
      if (!in_place_.count(id)) results.push_back(python_name(id));
    if (is_like(node) && at_import_.count(node.outputs[0])) args.clear();  // its operand is not there
    if (written_.writes.count(&node))
      return find_op(node.op)->write(call_of(program_, node), args) + then + comment(node.op, node.location);
    const bool moves = results.size() < node.outputs.size();
    const std::string call = library_call(program_, node, args, moves, "_DEVICE");
    return join(results, ", ") + " = " + call + then + comment(node.op, node.location);
  }

  static std::string comment(const std::string& what, const std::string& location) {
    return location.empty() ? "" : "  # " + what + ", " + location;
  }

  void own(const Launch& launch, const Kernel& kernel) {
    for (ValueId id : launch.reads) {
      const bool made_by_us = program_.value(written_.home(id)).kind != ValueKind::result || at_import_.count(id) ||
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
  const std::set<ValueId> at_import_;  // see made_at_import
  const Written written_;              // see written
  std::set<ValueId> own_;              // what our own kernels read, by its home
  std::set<ValueId> contiguous_;
  std::set<ValueId> in_place_;                             // see find_moved
  std::map<std::string, std::string> modules_;             // submodules that have a variable
  std::map<const void*, std::vector<ValueId>> done_with_;  // see last_reads
  int line_ = 1;
};

}  // namespace

Code print_module(const Program& program, const ModuleShell& shell, const ModuleParts& parts) {
  return ModulePrinter(program, shell, parts).run();
}

}  // namespace mtmc
