#include "source/cuda.h"

#include <algorithm>

#include "base/text.h"

namespace mtmc {
namespace {

// The declarator of a function, below pointers and references of its result.
const SyntaxNode* function_declarator(const SyntaxNode& function) {
  const SyntaxNode* at = function.part("declarator");
  while (at != nullptr && !at->is("function_declarator")) at = at->part("declarator");
  return at;
}

std::string declared_name(const SyntaxNode& declarator) {
  const SyntaxNode* at = &declarator;
  while (const SyntaxNode* inner = at->part("declarator")) at = inner;
  return at->is("identifier") || at->is("qualified_identifier") || at->is("field_identifier") ? last_name(at->text)
                                                                                              : "";
}

std::string_view head(const SyntaxNode& function) {
  const SyntaxNode* body = function.part("body");
  return body == nullptr ? function.text
                         : function.text.substr(0, static_cast<size_t>(body->text.data() - function.text.data()));
}

// Where blocks find out which they are, when they use more than one axis.
LineRange block_order(const SyntaxNode& body) {
  LineRange lines;
  std::set<std::string> axes;
  for (const SyntaxNode& statement : body.children) {
    bool asks = false;
    walk(statement, [&](const SyntaxNode& node) {
      if (node.text.starts_with("blockIdx.") && node.is("field_expression"))
        axes.insert(std::string(node.text)), asks = true;
      return true;
    });
    if (!asks || !statement.is("declaration")) continue;
    if (lines.first == 0) lines.first = statement.lines.first;
    lines.last = statement.lines.last;
  }
  return axes.size() > 1 ? lines : LineRange{};
}

// What an expression reads, which of torch's operators it calls, and what it launches.
class HostReader {
 public:
  explicit HostReader(const CodeFacts& facts) : facts_(facts) {}

  std::vector<SourceStep> run(const SyntaxNode& body) {
    block(body, true);
    return std::move(steps_);
  }

 private:
  void block(const SyntaxNode& node, bool certain) {
    for (const SyntaxNode& child : node.children) statement(child, certain);
  }

  void statement(const SyntaxNode& node, bool certain) {
    if (node.is("compound_statement")) return block(node, certain);
    if (node.is("if_statement") || node.is("else_clause") || node.is("for_statement") || node.is("while_statement") ||
        node.is("do_statement") || node.is("for_range_loop"))
      return block(node, false);
    if (!node.is("declaration") && !node.is("expression_statement") && !node.is("return_statement")) return;
    step_ = SourceStep{};
    step_.lines = step_.statement = node.lines;
    step_.certain = certain;
    memory_ = false;
    std::set<std::string> written;
    for (const SyntaxNode& child : node.children) {
      const SyntaxNode* left = child.part(child.is("init_declarator") ? "declarator" : "left");
      const SyntaxNode* right = child.part(child.is("init_declarator") ? "value" : "right");
      if (left != nullptr && right != nullptr && (child.is("init_declarator") || child.is("assignment_expression"))) {
        value(*right);
        written.insert(child.is("init_declarator") ? declared_name(*left) : std::string(left->text));
      } else if (child.named && child.field != "type") {
        value(child);
      }
    }
    for (const std::string& name : written)
      if (memory_ && step_.ops.empty()) fresh_.insert(name);
    step_.writes.merge(written);
    if (!step_.ops.empty() || !step_.writes.empty()) steps_.push_back(std::move(step_));
  }

  void value(const SyntaxNode& node) {
    if (node.is("identifier")) {
      step_.reads.insert(std::string(node.text));
    } else if (node.is("call_expression")) {
      call(node);
    } else if (!node.is("lambda_expression")) {
      for (const SyntaxNode& child : node.children)
        if (child.named && child.field != "type") value(child);
    }
  }

  void call(const SyntaxNode& node) {
    const SyntaxNode *function = node.part("function"), *arguments = node.part("arguments");
    if (function == nullptr || arguments == nullptr) return;
    const bool launches = std::any_of(node.children.begin(), node.children.end(),
                                      [](const SyntaxNode& one) { return one.is("kernel_call_syntax"); });
    if (launches) return launch(last_name(function->text), *arguments);
    const std::string_view name = function->text;
    const std::string last = last_name(name);
    const bool torch = name.starts_with("torch::") || name.starts_with("at::") || name.starts_with("F::");
    if (function->is("field_expression") && function->part("argument") != nullptr) value(*function->part("argument"));
    value(*arguments);
    if (torch && (last.starts_with("empty") || last.starts_with("zeros")))
      memory_ = true;
    else if (torch && last != "TensorOptions" && last != "from_blob" && name.find("cuda") == name.npos)
      step_.ops.push_back(last), step_.library = true;
  }

  void launch(const std::string& kernel_name, const SyntaxNode& arguments) {
    std::vector<std::set<std::string>> given;
    const std::set<std::string> before = std::move(step_.reads);
    for (const SyntaxNode& one : arguments.children) {
      if (!one.named || one.is("comment")) continue;
      step_.reads.clear();
      value(one);
      given.push_back(step_.reads);
    }
    step_.reads = before;
    add_launch(step_, facts_.kernel(kernel_name), given, {}, fresh_);
    step_.ops.push_back(kernel_name);
  }

  const CodeFacts& facts_;
  std::vector<SourceStep> steps_;
  SourceStep step_;
  std::set<std::string> fresh_;
  bool memory_ = false;
};

void read_function(const std::vector<SyntaxNode>& siblings, size_t at, const SyntaxNode& function, CodeFacts& facts,
                   std::vector<const SyntaxNode*>& hosts) {
  const SyntaxNode *declarator = function_declarator(function), *body = function.part("body");
  if (declarator == nullptr || body == nullptr) return;
  const bool on_device = head(function).find("__global__") != std::string_view::npos;
  const bool entry = siblings[at].is("linkage_specification");
  KernelFacts kernel;
  kernel.name = declared_name(*declarator);
  kernel.lines = {with_comment(siblings, at, siblings[at].lines.first), function.lines.last};
  if (const SyntaxNode* parameters = declarator->part("parameters"))
    for (const SyntaxNode& one : parameters->children) {
      const SyntaxNode* declared = one.part("declarator");
      if (!one.named || declared == nullptr) continue;
      const bool pointer = one.text.find('*') != one.text.npos,
                 fixed = one.text.starts_with("const") || one.text.find(" const ") != one.text.npos;
      kernel.parameters.push_back({declared_name(*declared), pointer && fixed, pointer && !fixed});
    }
  find_loops(*body, kernel);
  if (!on_device && !entry) {  // plain C that works on memory is a kernel, too
    const bool points = std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                                    [](const auto& one) { return one.reads || one.writes; });
    const bool works = std::any_of(kernel.loops.begin(), kernel.loops.end(),
                                   [](const SourceLoop& one) { return one.loads && one.computes; });
    if (!points || !works) return hosts.push_back(body);
  }
  kernel.order = block_order(*body);
  facts.kernels.push_back(std::move(kernel));
}

void read_siblings(const std::vector<SyntaxNode>& siblings, CodeFacts& facts, std::vector<const SyntaxNode*>& hosts) {
  for (size_t i = 0; i < siblings.size(); ++i) {
    const SyntaxNode& one = siblings[i];
    const SyntaxNode* inner = one.part("body");
    if (one.is("function_definition")) {
      read_function(siblings, i, one, facts, hosts);
    } else if (one.is("linkage_specification") && inner != nullptr && inner->is("function_definition")) {
      read_function(siblings, i, *inner, facts, hosts);
    } else if (one.is("template_declaration")) {
      for (const SyntaxNode& child : one.children)
        if (child.is("function_definition") && head(child).find("__global__") != std::string_view::npos)
          read_function(siblings, i, child, facts, hosts);
    } else if (one.is("namespace_definition") || one.is("linkage_specification") || one.is("preproc_if") ||
               one.is("preproc_ifdef") || one.is("ERROR") || one.is("declaration_list")) {
      read_siblings(inner != nullptr ? inner->children : one.children, facts, hosts);
    }
  }
}

}  // namespace

void read_cuda(const SyntaxNode& root, CodeFacts& facts) {
  std::vector<const SyntaxNode*> hosts;
  read_siblings(root.children, facts, hosts);
  for (const SyntaxNode* body : hosts) {
    std::vector<SourceStep> steps = HostReader(facts).run(*body);
    const bool works =
        std::any_of(steps.begin(), steps.end(), [](const SourceStep& step) { return step.launch || step.library; });
    if (works) facts.bodies.push_back(std::move(steps));
  }
}

}  // namespace mtmc
