#include "source/python.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text.h"
#include "source/python_steps.h"

namespace mtmc {
namespace {

// A function or class with or without decorators; null: something else.
const SyntaxNode* definition_in(const SyntaxNode& node) {
  if (node.is("function_definition") || node.is("class_definition")) return &node;
  return node.is("decorated_definition") ? node.part("definition") : nullptr;
}

std::string name_of(const SyntaxNode& definition) {
  const SyntaxNode* name = definition.part("name");
  return name == nullptr ? "" : std::string(name->text);
}

std::string called(const SyntaxNode& node) {
  const SyntaxNode* function = node.is("call") ? node.part("function") : nullptr;
  return function == nullptr ? "" : std::string(function->text);
}

std::set<std::string> identifiers_in(const SyntaxNode& node) {
  std::set<std::string> names;
  walk(node, [&](const SyntaxNode& one) {
    if (one.is("identifier")) names.insert(std::string(one.text));
    return true;
  });
  return names;
}

// ---- kernels in Triton
// -----------------------------------------------------------------------------------------------

bool is_kernel(const SyntaxNode& decorated) {
  return std::any_of(decorated.children.begin(), decorated.children.end(), [](const SyntaxNode& child) {
    return child.is("decorator") &&
           (child.text.find("jit") != child.text.npos || child.text.find("autotune") != child.text.npos);
  });
}

// Which parameters' memory is read and written, through variables that are made of them.
void follow_pointers(const SyntaxNode& body, KernelFacts& kernel) {
  std::map<std::string, std::set<std::string>> made_of;
  for (const auto& one : kernel.parameters) made_of[one.name] = {one.name};
  const auto parameters_in = [&](const SyntaxNode& node) {
    std::set<std::string> found;
    for (const std::string& name : identifiers_in(node))
      if (const auto at = made_of.find(name); at != made_of.end()) found.insert(at->second.begin(), at->second.end());
    return found;
  };
  walk(body, [&](const SyntaxNode& node) {
    const SyntaxNode *left = node.part("left"), *right = node.part("right"), *arguments = node.part("arguments");
    if (node.is("assignment") && left != nullptr && right != nullptr && left->is("identifier")) {
      const std::string function = last_name(called(*right));
      if (function != "load")
        made_of[std::string(left->text)].merge(parameters_in(*right));  // what was loaded is no pointer
    }
    const std::string function = last_name(called(node));
    const bool writes = function == "store" || function.starts_with("atomic_"),
               reads = function == "load" || function.starts_with("atomic_");
    if (arguments == nullptr || !(writes || reads)) return true;
    const auto first = std::find_if(arguments->children.begin(), arguments->children.end(),
                                    [](const SyntaxNode& one) { return one.named; });
    if (first == arguments->children.end()) return true;
    const std::set<std::string> through = parameters_in(*first);
    for (auto& one : kernel.parameters)
      if (through.contains(one.name)) one.writes = one.writes || writes, one.reads = one.reads || reads;
    return true;
  });
}

// The statements that say which program of the grid this is, where it has two axes or one that is taken apart.
LineRange program_order(const SyntaxNode& body) {
  LineRange lines;
  std::set<std::string> identities;  // variables with a program's number
  size_t axes = 0;
  bool apart = false;
  for (const SyntaxNode& statement : body.children) {
    const SyntaxNode* assignment = statement.children.empty() ? nullptr : &statement.children.front();
    const SyntaxNode* left = assignment == nullptr ? nullptr : assignment->part("left");
    if (!statement.is("expression_statement") || left == nullptr) continue;
    const size_t asked = split(replace_all(std::string(statement.text), "program_id(", "\n"), '\n').size() - 1;
    const std::set<std::string> names = identifiers_in(*assignment);
    const bool of =
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return identities.contains(name); });
    const bool divides = of && statement.text.find_first_of("%/") != statement.text.npos;
    if (asked == 0 && !divides) continue;
    axes += asked, apart = apart || divides;
    if (statement.text.find("arange(") == statement.text.npos) identities.merge(identifiers_in(*left));
    if (lines.first == 0) lines.first = statement.lines.first;
    lines.last = statement.lines.last;
  }
  return axes > 1 || apart ? lines : LineRange{};
}

void add_kernel(const std::vector<SyntaxNode>& siblings, size_t at, const SyntaxNode& function, CodeFacts& facts) {
  KernelFacts kernel;
  kernel.name = name_of(function);
  kernel.lines = {with_comment(siblings, at, siblings[at].lines.first), function.lines.last};
  if (const SyntaxNode* parameters = function.part("parameters"))
    for (const SyntaxNode& one : parameters->children)
      if (const auto names = identifiers_in(one); one.named && !names.empty())
        kernel.parameters.push_back({std::string(one.is("identifier")          ? one.text
                                                 : one.part("name") != nullptr ? one.part("name")->text
                                                                               : one.children.front().text),
                                     false, false});
  if (const SyntaxNode* body = function.part("body")) {
    find_loops(*body, kernel);
    follow_pointers(*body, kernel);
    kernel.order = program_order(*body);
  }
  facts.kernels.push_back(std::move(kernel));
}

// "library().softmax": a function of what a call made.
bool comes_of_call(const SyntaxNode& node) {
  const SyntaxNode* object = node.is("attribute") ? node.part("object") : nullptr;
  return object != nullptr && (object->is("call") || comes_of_call(*object));
}

// ---- the names of a file
// ---------------------------------------------------------------------------------------------

void read_import(const SyntaxNode& node, PythonNames& names) {
  const bool from = node.is("import_from_statement");
  const SyntaxNode* module = node.part("module_name");
  for (const SyntaxNode& one : node.children) {
    if (one.field != "name") continue;
    const SyntaxNode *alias = one.part("alias"), *name = one.is("aliased_import") ? one.part("name") : &one;
    const std::string known(alias != nullptr ? alias->text : one.text);
    const std::string whole = from && module != nullptr ? std::string(module->text)
                              : name != nullptr         ? std::string(name->text)
                                                        : "";
    if (whole == "torch" || whole.starts_with("torch.nn") ? alias != nullptr || from : false)
      names.torch.insert(known);
    else if (from)
      names.borrowed.insert(known);
  }
}

// "self.up = nn.Linear(...)", "self.scale = nn.Parameter(...)", self.register_buffer("mask", ...).
void read_constructor(const SyntaxNode& function, PythonNames& names) {
  walk(function, [&](const SyntaxNode& node) {
    const SyntaxNode *left = node.part("left"), *right = node.part("right"), *arguments = node.part("arguments");
    if (node.is("assignment") && left != nullptr && right != nullptr && left->text.starts_with("self.")) {
      const std::string name(left->text.substr(5)), made_by = called(*right),
                                                    root = made_by.substr(0, made_by.find('.'));
      if (last_name(made_by) == "Parameter" || root == "torch")
        names.tensors.insert(name);
      else if (names.torch.contains(root))
        names.modules[name] = operator_of(last_name(made_by));
    }
    const std::string function_name = called(node);
    if (arguments != nullptr && (function_name == "self.register_buffer" || function_name == "self.register_parameter"))
      for (const SyntaxNode& one : arguments->children)
        if (one.is("string") && one.children.size() > 1) {
          names.tensors.insert(std::string(one.children[1].text));
          break;
        }
    return true;
  });
}

// ModelNew, else Model, else the last class that has a forward.
const SyntaxNode* model_in(const SyntaxNode& root) {
  const SyntaxNode* found = nullptr;
  int rank = 0;
  for (const SyntaxNode& one : root.children) {
    const SyntaxNode* definition = definition_in(one);
    if (definition == nullptr || !definition->is("class_definition") || definition->part("body") == nullptr) continue;
    const std::string name = name_of(*definition);
    const int own = name == "ModelNew" ? 3 : name == "Model" ? 2 : 1;
    const auto& members = definition->part("body")->children;
    const bool has_forward = std::any_of(members.begin(), members.end(), [](const SyntaxNode& member) {
      const SyntaxNode* method = definition_in(member);
      return method != nullptr && name_of(*method) == "forward";
    });
    if (has_forward && own >= rank) found = definition, rank = own;
  }
  return found;
}

// The steps of its methods, forward first.
void read_model(const SyntaxNode& model, PythonNames& names, CodeFacts& facts) {
  std::vector<const SyntaxNode*> methods;
  for (const SyntaxNode& member : model.part("body")->children) {
    const SyntaxNode* method = definition_in(member);
    if (method == nullptr || !method->is("function_definition")) continue;
    if (name_of(*method) == "__init__")
      read_constructor(*method, names);
    else
      methods.push_back(method);
  }
  std::stable_partition(methods.begin(), methods.end(),
                        [](const SyntaxNode* one) { return name_of(*one) == "forward"; });
  for (const SyntaxNode* method : methods) facts.bodies.push_back(steps_of(*method, names, true));
}

}  // namespace

std::vector<Piece> cuda_pieces(const SyntaxNode& root, std::string_view text) {
  std::vector<Piece> pieces;
  walk(root, [&](const SyntaxNode& node) {
    if (!node.is("string_content")) return true;
    for (const char* sign : {"#include", "__global__", "extern \"C\""})
      if (node.text.find(sign) != node.text.npos) {
        const size_t begin = static_cast<size_t>(node.text.data() - text.data());
        pieces.emplace_back(begin, begin + node.text.size());
        break;
      }
    return false;
  });
  return pieces;
}

void read_python(const SyntaxNode& root, CodeFacts& facts) {
  PythonNames names;
  names.facts = &facts;
  std::vector<const SyntaxNode*> functions;
  for (size_t i = 0; i < root.children.size(); ++i) {
    const SyntaxNode& one = root.children[i];
    const SyntaxNode* definition = definition_in(one);
    if (one.is("import_from_statement") || one.is("import_statement")) read_import(one, names);
    if (definition != nullptr && definition->is("class_definition")) names.classes.insert(name_of(*definition));
    if (definition != nullptr && definition->is("function_definition")) {
      if (one.is("decorated_definition") && is_kernel(one))
        add_kernel(root.children, i, *definition, facts);
      else if (const std::string name = name_of(*definition); name != "get_inputs" && name != "get_init_inputs")
        functions.push_back(definition);  // those two only make arguments
    }
    const SyntaxNode* assignment =
        one.is("expression_statement") && !one.children.empty() ? &one.children.front() : nullptr;
    const SyntaxNode* made = assignment == nullptr ? nullptr : assignment->part("right");
    if (made != nullptr && !made->text.starts_with("torch.") && (made->is("call") || comes_of_call(*made)))
      for (const std::string& name : identifiers_in(*assignment->part("left")))
        names.built[name] = made->is("call") ? "" : last_name(made->text);
  }
  std::vector<std::vector<SourceStep>> beside;  // what works among the functions, as their steps say
  for (const SyntaxNode* function : functions) {
    std::vector<SourceStep> steps = steps_of(*function, names, false);
    const bool works =
        std::any_of(steps.begin(), steps.end(), [](const SourceStep& step) { return !step.ops.empty(); });
    names.functions[name_of(*function)] = works;
    if (works) beside.push_back(std::move(steps));
  }
  if (const SyntaxNode* model = model_in(root)) read_model(*model, names, facts);
  std::move(beside.begin(), beside.end(), std::back_inserter(facts.bodies));
}

}  // namespace mtmc
