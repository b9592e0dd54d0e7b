#include "source/facts.h"

#include <algorithm>

namespace mtmc {
namespace {

bool is_loop(const SyntaxNode& node) {
  return node.is("for_statement") || node.is("while_statement") || node.is("do_statement") || node.is("for_range_loop");
}

// The first identifier: of "k", "int k = 0", "i, j".
std::string first_identifier(const SyntaxNode& node) {
  std::string name;
  walk(node, [&](const SyntaxNode& one) {
    if (name.empty() && one.is("identifier")) name = one.text;
    return name.empty();
  });
  return name;
}

std::string variable_of(const SyntaxNode& loop) {
  for (const char* field : {"left", "declarator", "initializer"})  // Python's, for (auto x : xs), for (int i = 0; ...)
    if (const SyntaxNode* part = loop.part(field)) {
      if (const SyntaxNode* declared = part->part("declarator")) part = declared;
      return first_identifier(*part);
    }
  return "";
}

bool is_load(const SyntaxNode& node) {
  if (node.is("subscript_expression")) return true;
  if (node.is("pointer_expression")) return node.text.starts_with("*");
  if (!node.is("call") && !node.is("call_expression")) return false;
  const SyntaxNode* function = node.part("function");
  if (function == nullptr) return false;
  const std::string name = last_name(function->text);
  return name.starts_with("load") || name.starts_with("__ld") || name == "async_copy" || name == "memcpy_async";
}

bool is_arithmetic(const SyntaxNode& node) {
  if (node.is("conditional_expression")) return true;  // x > 0 ? x : 0
  static const std::set<std::string_view> kSigns = {"+", "-", "*", "/", "@", "**", "+=", "-=", "*=", "/="};
  if (node.is("binary_operator") || node.is("binary_expression") || node.is("augmented_assignment") ||
      node.is("assignment_expression"))
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const SyntaxNode& child) { return kSigns.contains(child.kind); });
  if (!node.is("call") && !node.is("call_expression")) return false;
  static const std::set<std::string_view> kCalls = {"dot",  "dot_scaled", "exp", "exp2", "expf",     "sum",
                                                    "max",  "maximum",    "fma", "fmaf", "sqrt",     "rsqrt",
                                                    "tanh", "sigmoid",    "log", "logf", "mma_sync", "erf"};
  const SyntaxNode* function = node.part("function");
  return function != nullptr && kCalls.contains(last_name(function->text));
}

struct Found {
  std::vector<SourceLoop> loops;
  bool loads = false, computes = false;
};

// Is memory that is only read handed on to a function? Then that one loads from it.
bool hands_on(const SyntaxNode& node, const KernelFacts& kernel) {
  const SyntaxNode* arguments = node.is("call_expression") ? node.part("arguments") : nullptr;
  if (arguments == nullptr) return false;
  return std::any_of(arguments->children.begin(), arguments->children.end(), [&](const SyntaxNode& one) {
    const SyntaxNode* first = one.is("binary_expression") ? one.part("left") : nullptr;
    const auto* parameter = first == nullptr ? nullptr : kernel.parameter(first->text);
    return parameter != nullptr && parameter->reads;
  });
}

void look(const SyntaxNode& node, const KernelFacts& kernel, Found& found) {
  if (is_loop(node)) {
    SourceLoop loop{
        node.is("while_statement") || node.is("do_statement") ? "" : variable_of(node), node.lines, false, false, {}};
    Found inside;
    if (const SyntaxNode* body = node.part("body")) look(*body, kernel, inside);
    loop.loads = inside.loads, loop.computes = inside.computes;
    loop.inside = std::move(inside.loops);
    found.loads |= loop.loads, found.computes |= loop.computes;
    found.loops.push_back(std::move(loop));
    return;
  }
  if (is_load(node)) {  // where it loads from is no arithmetic on data
    found.loads = true;
    return;
  }
  if (is_arithmetic(node)) found.computes = true;
  if (hands_on(node, kernel)) found.loads = true;
  for (const SyntaxNode& child : node.children) look(child, kernel, found);
}

}  // namespace

const KernelFacts::Parameter* KernelFacts::parameter(std::string_view parameter_name) const {
  for (const Parameter& one : parameters)
    if (one.name == parameter_name) return &one;
  return nullptr;
}

const KernelFacts* CodeFacts::kernel(std::string_view name) const {
  for (const KernelFacts& one : kernels)
    if (one.name == name) return &one;
  return nullptr;
}

void find_loops(const SyntaxNode& body, KernelFacts& kernel) {
  Found found;
  look(body, kernel, found);
  kernel.loops = std::move(found.loops);
  kernel.loads = found.loads, kernel.computes = found.computes;
}

std::string last_name(std::string_view dotted) {
  dotted = dotted.substr(0, std::min(dotted.find('<'), dotted.find('[')));
  const size_t at = dotted.find_last_of(".:> \n");
  return std::string(at == dotted.npos ? dotted : dotted.substr(at + 1));
}

int with_comment(const std::vector<SyntaxNode>& children, size_t at, int first) {
  while (at-- > 0 && children[at].is("comment") && children[at].lines.last == first - 1)
    first = children[at].lines.first;
  return first;
}

void add_launch(SourceStep& step, const KernelFacts* kernel, const std::vector<std::set<std::string>>& arguments,
                const std::vector<std::pair<std::string, std::set<std::string>>>& named, std::set<std::string>& fresh) {
  step.launch = true;
  const bool known = kernel != nullptr && std::any_of(kernel->parameters.begin(), kernel->parameters.end(),
                                                      [](const auto& one) { return one.writes; });
  if (kernel != nullptr) step.lines = kernel->lines;
  const auto add = [&](const KernelFacts::Parameter* parameter, const std::set<std::string>& variables) {
    for (const std::string& variable : variables) {
      const bool writes = known ? parameter != nullptr && parameter->writes : fresh.contains(variable);
      if (writes) step.writes.insert(variable);
      if (known ? parameter != nullptr && parameter->reads : !writes) step.reads.insert(variable);
    }
  };
  const size_t parameters = kernel == nullptr ? 0 : kernel->parameters.size();
  const size_t before = known && arguments.size() > parameters ? arguments.size() - parameters : 0;
  for (size_t i = 0; i < arguments.size(); ++i)
    add(i >= before && i - before < parameters ? &kernel->parameters[i - before] : nullptr, arguments[i]);
  for (const auto& [name, variables] : named) add(kernel == nullptr ? nullptr : kernel->parameter(name), variables);
  for (const std::string& variable : step.writes) fresh.erase(variable);
}

}  // namespace mtmc
