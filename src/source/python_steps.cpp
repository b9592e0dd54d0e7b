#include "source/python_steps.h"

#include <algorithm>

#include "base/text.h"

namespace mtmc {
namespace {

using Words = std::set<std::string_view>;

// Of torch and of tensors: what gives the same elements another name, and what has no elements yet.
const Words kViews = {"reshape",
                      "view",
                      "transpose",
                      "permute",
                      "flatten",
                      "unflatten",
                      "squeeze",
                      "unsqueeze",
                      "expand",
                      "view_as",
                      "t",
                      "select",
                      "expand_as",
                      "slice",
                      "split",
                      "chunk",
                      "unbind",
                      "detach",
                      "movedim",
                      "narrow",
                      "alias",
                      "broadcast_to",
                      "diagonal",
                      "unfold",
                      "swapaxes",
                      "as_strided",
                      "contiguous",
                      "T",
                      "mT",
                      "data",
                      "H",
                      "real",
                      "imag",
                      "data_ptr",
                      "copy_",
                      "tensor_split",
                      "split_with_sizes",
                      "view_as_real",
                      "view_as_complex",
                      "requires_grad_",
                      "pin_memory"};
const Words kMemory = {"empty",     "empty_like", "empty_strided", "new_empty", "tensor",
                       "as_tensor", "Tensor",     "from_numpy",    "get_buffer"};
// What is asked of a tensor, and does no work on its elements.
const Words kQuestions = {"shape",
                          "dtype",
                          "device",
                          "size",
                          "dim",
                          "ndim",
                          "numel",
                          "stride",
                          "is_cuda",
                          "is_contiguous",
                          "element_size",
                          "get_device",
                          "layout",
                          "requires_grad",
                          "ndimension",
                          "nelement",
                          "is_floating_point",
                          "untyped_storage",
                          "grad"};
// Of torch: what does nothing with tensors.
const Words kNoWork = {"no_grad",
                       "inference_mode",
                       "enable_grad",
                       "device",
                       "is_tensor",
                       "manual_seed",
                       "finfo",
                       "iinfo",
                       "Size",
                       "compile",
                       "Generator",
                       "autocast",
                       "is_grad_enabled",
                       "is_inference",
                       "_foreach_copy_",
                       "promote_types",
                       "result_type",
                       "broadcast_shapes",
                       "Parameter",
                       "set_grad_enabled",
                       "is_autocast_enabled"};
const Words kNoWorkParts = {"cuda",    "backends",    "jit",      "utils",    "_C", "library",
                            "version", "distributed", "profiler", "autograd", "amp"};

std::string operator_word(std::string_view sign) {
  static const std::map<std::string_view, std::string> kWords = {
      {"+", "add"},       {"-", "sub"},           {"*", "mul"}, {"/", "div"}, {"@", "matmul"}, {"**", "pow"},
      {"%", "remainder"}, {"//", "floor_divide"}, {"<", "lt"},  {">", "gt"},  {"<=", "le"},    {">=", "ge"},
      {"==", "eq"},       {"!=", "ne"},           {"&", "and"}, {"|", "or"},  {"^", "xor"},    {"~", "not"}};
  if (sign.size() > 1 && sign.ends_with("=") && !kWords.contains(sign)) sign.remove_suffix(1);  // "+="
  const auto found = kWords.find(sign);
  return found == kWords.end() ? "" : found->second;
}

class StepReader {
 public:
  StepReader(const PythonNames& names, bool given_tensors) : names_(names), given_tensors_(given_tensors) {}

  std::vector<SourceStep> run(const SyntaxNode& function) {
    if (const SyntaxNode* parameters = function.part("parameters"))
      for (const SyntaxNode& one : parameters->children) {
        if (const SyntaxNode* first = one.is("identifier")   ? &one
                                      : one.children.empty() ? nullptr
                                                             : &one.children.front())
          locals_.insert(std::string(first->text));
        const bool typed = one.is("typed_parameter") && one.text.find("Tensor") != one.text.npos;
        const SyntaxNode* name = given_tensors_ && one.is("identifier") ? &one
                                 : typed                                ? &one.children.front()
                                                                        : nullptr;
        if (name != nullptr && name->text != "self") tensors_.insert(std::string(name->text));
      }
    if (const SyntaxNode* body = function.part("body")) block(*body, true);
    return std::move(steps_);
  }

 private:
  void block(const SyntaxNode& node, bool certain) {
    for (const SyntaxNode& child : node.children) statement(child, certain);
  }

  void statement(const SyntaxNode& node, bool certain) {
    static const Words kBranches = {"if_statement",    "for_statement", "while_statement", "try_statement",
                                    "elif_clause",     "else_clause",   "except_clause",   "finally_clause",
                                    "match_statement", "case_clause"};
    if (node.is("block")) return block(node, certain);
    if (node.is("with_statement")) return block(node, certain);
    if (node.is("for_statement") && node.part("left") != nullptr) modules_.insert(std::string(node.part("left")->text));
    if (kBranches.contains(node.kind)) return block(node, false);
    if (!node.is("expression_statement") && !node.is("return_statement")) return;
    step_ = SourceStep{};
    step_.lines = step_.statement = node.lines;
    step_.certain = certain;
    for (const SyntaxNode& child : node.children) {
      if (child.is("assignment") || child.is("augmented_assignment"))
        assign(child);
      else if (child.named)
        value(child);
    }
    if (!step_.ops.empty() || !step_.writes.empty()) steps_.push_back(std::move(step_));
  }

  void assign(const SyntaxNode& node) {
    const SyntaxNode *left = node.part("left"), *right = node.part("right");
    if (left == nullptr || right == nullptr) return;  // only a type
    const size_t before = step_.ops.size();
    memory_ = false;
    bool tensor = false;
    if (right->is("assignment")) {
      assign(*right);
      tensor = !step_.ops.empty();
    } else {
      tensor = value(*right);
    }
    if (const SyntaxNode* sign = node.part("operator")) {
      tensor = value(*left) || tensor;
      if (tensor) step_.ops.push_back(operator_word(sign->text));
    }
    target(*left, tensor, memory_ && step_.ops.size() == before);
  }

  void target(const SyntaxNode& node, bool tensor, bool memory) {
    if (node.is("identifier") || node.is("attribute")) {
      const std::string name(node.text);
      step_.writes.insert(name);
      locals_.insert(name);
      tensors_.erase(name), fresh_.erase(name);
      if (tensor) tensors_.insert(name);
      if (memory) fresh_.insert(name);
    } else if (node.is("subscript")) {  // a part of it
      const SyntaxNode* whole = node.part("value");
      if (whole == nullptr || !(whole->is("identifier") || whole->is("attribute"))) return;
      value(*whole);
      step_.writes.insert(std::string(whole->text));
      if (step_.ops.empty() && tensors_.contains(std::string(whole->text))) step_.ops.push_back("copy");
    } else {
      for (const SyntaxNode& child : node.children)
        if (child.named) target(child, tensor, memory);
    }
  }

  // Adds to the step what an expression does, the innermost first. Is it a tensor, or does it hold one?
  bool value(const SyntaxNode& node) {
    if (node.is("identifier")) return variable(std::string(node.text));
    if (node.is("attribute")) return attribute(node);
    if (node.is("call")) return call(node);
    if (node.is("binary_operator") || node.is("unary_operator") || node.is("comparison_operator"))
      return arithmetic(node);
    if (node.is("subscript")) {
      const SyntaxNode* whole = node.part("value");
      const bool tensor = whole != nullptr && value(*whole);
      for (const SyntaxNode& child : node.children)
        if (child.field == "subscript" && value(child) && tensor) step_.ops.push_back("index");
      return tensor;
    }
    if (node.is("keyword_argument")) {
      const SyntaxNode* part = node.part("value");
      return part != nullptr && value(*part);
    }
    if (node.is("lambda") || node.is("string")) return false;
    return anything_in(node);
  }

  bool anything_in(const SyntaxNode& node) {
    bool tensor = false;
    for (const SyntaxNode& child : node.children)
      if (child.named) tensor = value(child) || tensor;
    return tensor;
  }

  bool variable(const std::string& name) {
    if (locals_.contains(name) || name.starts_with("self."))
      step_.reads.insert(name);  // no module, no name of the file
    return tensors_.contains(name);
  }

  bool attribute(const SyntaxNode& node) {
    const SyntaxNode *object = node.part("object"), *name = node.part("attribute");
    if (object == nullptr || name == nullptr || kQuestions.contains(name->text)) return false;
    if (object->text == "self")
      return variable(std::string(node.text)) || names_.tensors.contains(std::string(name->text));
    const bool tensor = value(*object);
    return (tensor && kViews.contains(name->text)) || name->text == "weight" || name->text == "bias";
  }

  bool arithmetic(const SyntaxNode& node) {
    const bool tensor = anything_in(node);
    if (!tensor) return false;
    for (const SyntaxNode& child : node.children) {
      if (child.named) continue;
      const std::string word = node.is("unary_operator") && child.kind == "-" ? "neg" : operator_word(child.kind);
      if (!word.empty()) step_.ops.push_back(word);
    }
    return true;
  }

  bool call(const SyntaxNode& node) {
    const SyntaxNode *function = node.part("function"), *arguments = node.part("arguments");
    if (function == nullptr || arguments == nullptr) return false;
    if (const SyntaxNode* of = function->is("subscript") ? function->part("value") : nullptr) {
      if (!of->text.starts_with("self.")) return launch(of->text, *arguments, 0);  // kernel[grid](...)
      return anything_in(*arguments) && operation(last_name(of->text), false);     // self.layers[0](x)
    }
    for (size_t i = 0, position = 0; i < arguments->children.size();
         ++i) {  // launch(kernel, ...), launch("kernel", ...)
      const SyntaxNode& one = arguments->children[i];
      const bool quoted = one.is("string") && one.text.size() > 2;
      const std::string_view kernel = quoted ? one.text.substr(1, one.text.size() - 2) : one.text;
      if ((one.is("identifier") || (quoted && has_variables(*arguments))) && names_.facts->kernel(kernel) != nullptr)
        return launch(kernel, *arguments, position + 1);
      position += one.named;
    }
    if (function->is("identifier")) return call_function(std::string(function->text), *arguments);
    if (function->is("attribute")) return call_attribute(*function, *arguments);
    anything_in(*function);
    return anything_in(*arguments);
  }

  // A call that is given names and numbers only launches nothing: scratch("kernel", 128) is memory for it.
  bool has_variables(const SyntaxNode& arguments) const {
    bool found = false;
    walk(arguments, [&](const SyntaxNode& node) {
      found = found || (node.is("identifier") && locals_.contains(std::string(node.text)));
      return !found;
    });
    return found;
  }

  bool operation(std::string name, bool library) {
    step_.ops.push_back(std::move(name));
    step_.library = step_.library || library;
    return true;
  }

  bool call_function(const std::string& name, const SyntaxNode& arguments) {
    if (const auto made = names_.built.find(name); made != names_.built.end())
      return launch(made->second.empty() ? name : made->second, arguments, 0);
    const bool tensor = anything_in(arguments);
    const auto own = names_.functions.find(name);
    if (own != names_.functions.end()) {
      if (own->second) return operation(name, false);
      memory_ = memory_ || !tensor;  // such as memory that is kept
      return tensor;
    }
    const bool foreign = names_.borrowed.contains(name) || modules_.contains(name);
    return foreign && tensor ? operation(name, false) : tensor;
  }

  // torch.f(x), self.module(x), library.f(x), x.f().
  bool call_attribute(const SyntaxNode& function, const SyntaxNode& arguments) {
    std::vector<std::string> path = split(function.text, '.');
    if (function.text.find_first_of("([ \n") != function.text.npos) path = {""};  // of what another call gave
    const SyntaxNode* object = function.part("object");
    const std::string name = last_name(function.text);
    if (path.size() > 1 && names_.torch.contains(path[0])) return call_torch(path, arguments);
    if (path[0] == "self" && path.size() == 2) {
      anything_in(arguments);
      const auto module = names_.modules.find(name);
      return operation(module == names_.modules.end() ? name : module->second, module != names_.modules.end());
    }
    if (names_.built.contains(path[0]) || names_.classes.contains(path[0]))
      return launch(name == "apply" ? path[0] : name, arguments, 0);
    if (object == nullptr || kQuestions.contains(name)) return false;
    const bool tensor = value(*object);
    const bool with_tensors = anything_in(arguments);
    if (!tensor) return path[0] == "self" && with_tensors && operation(name, false);
    if (kViews.contains(name)) return name != "data_ptr";  // an address is a number
    if (name.ends_with("_") && (object->is("identifier") || object->is("attribute")))
      step_.writes.insert(std::string(object->text));
    return operation(name.ends_with("_") ? name.substr(0, name.size() - 1) : name, true);
  }

  bool call_torch(const std::vector<std::string>& path, const SyntaxNode& arguments) {
    // torch.ops.aten.slice.Tensor: what stands behind the library's name.
    const std::string& name = path[1] == "ops" && path.size() > 3 ? path[3] : path.back();
    if (kNoWork.contains(name) || kNoWorkParts.contains(path[1])) return false;
    anything_in(arguments);
    if (kMemory.contains(name)) return memory_ = true;
    if (kViews.contains(name) && path[0] != "F") return true;
    return operation(name, true);
  }

  // `skipped` arguments come before those of the kernel.
  bool launch(std::string_view kernel_name, const SyntaxNode& arguments, size_t skipped) {
    std::vector<std::set<std::string>> given;
    std::vector<std::pair<std::string, std::set<std::string>>> named;
    const std::set<std::string> before = std::move(step_.reads);
    for (const SyntaxNode& one : arguments.children) {
      if (!one.named || one.is("comment")) continue;
      step_.reads.clear();
      value(one);
      const SyntaxNode* keyword = one.is("keyword_argument") ? one.part("name") : nullptr;
      if (keyword != nullptr)
        named.emplace_back(keyword->text, step_.reads);
      else if (skipped > 0)
        --skipped;
      else
        given.push_back(step_.reads);
    }
    step_.reads = before;
    const std::string name = last_name(kernel_name);
    add_launch(step_, names_.facts->kernel(name), given, named, fresh_);
    for (const std::string& written : step_.writes) tensors_.insert(written);
    step_.ops.push_back(name);
    return true;
  }

  const PythonNames& names_;
  const bool given_tensors_;
  std::vector<SourceStep> steps_;
  SourceStep step_;  // that is being read
  std::set<std::string> locals_, tensors_,
      fresh_;                      // variables: all, those that hold tensors, and those with only memory
  std::set<std::string> modules_;  // what a loop goes through
  bool memory_ = false;            // the expression makes memory
};

}  // namespace

std::vector<SourceStep> steps_of(const SyntaxNode& function, const PythonNames& names, bool given_tensors) {
  return StepReader(names, given_tensors).run(function);
}

std::string operator_of(std::string_view class_name) {
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::string name;
  for (size_t i = 0; i < class_name.size(); ++i) {
    const char c = class_name[i];
    if (upper(c) && i > 0 && !upper(class_name[i - 1]) && i + 1 < class_name.size() && !upper(class_name[i + 1]))
      name += '_';
    name += upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return name;
}

}  // namespace mtmc
