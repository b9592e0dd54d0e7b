// What regions are made of, whatever the language: steps of straight code, and kernels with their loops.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "source/syntax.h"

namespace mtmc {

// A statement that works on tensors, or gives them another name.
struct SourceStep {
  LineRange lines;  // of a launch whose kernel is in the same text: the kernel's
  std::vector<std::string>
      ops;  // in the order in which they run: "linear", "gelu"; empty: only names, views and memory
  std::set<std::string> reads, writes;  // variables
  bool certain = true;                  // what it writes replaces what was there: not in a branch or a loop
  bool library = false;                 // calls an operator of torch
  bool launch = false;                  // runs a kernel
  LineRange statement;                  // its own lines
};

struct SourceLoop {
  std::string over;  // its variable; empty: a `while`
  LineRange lines;
  bool loads = false, computes = false;  // itself or a loop inside
  std::vector<SourceLoop> inside;
};

struct KernelFacts {
  std::string name;
  LineRange lines;  // with its decorators and the comment before it
  struct Parameter {
    std::string name;
    bool reads = false, writes = false;  // memory that it points to
  };
  std::vector<Parameter> parameters;
  std::vector<SourceLoop> loops;  // the outermost ones
  bool loads = false, computes = false;
  LineRange order;  // where it finds out which of a grid of several axes it is; {0, 0}: there is one axis

  const Parameter* parameter(std::string_view parameter_name) const;
};

struct CodeFacts {
  std::vector<std::vector<SourceStep>> bodies;  // of functions that run kernels and operators, forward first
  std::vector<KernelFacts> kernels;

  const KernelFacts* kernel(std::string_view name) const;
};

// Visits a node and all below, parents first, until `visit` says false: then not below that one.
template <class Visit>
void walk(const SyntaxNode& node, Visit&& visit) {
  if (!visit(node)) return;
  for (const SyntaxNode& child : node.children) walk(child, visit);
}

// The loops of a function's body and what it does; for both languages.
void find_loops(const SyntaxNode& body, KernelFacts& kernel);
// The last name in "tl.extra.cuda.gdc_wait" or "torch::relu".
std::string last_name(std::string_view dotted);
// From the first line of a comment that ends right above line `first`, itself a sibling before `children[at]`.
int with_comment(const std::vector<SyntaxNode>& children, size_t at, int first);

// What a launch does to its arguments, one set of variables each: where the kernel is known by its parameters (the last
// ones, should there be more arguments); else it writes what is fresh, memory that nothing was written to yet.
void add_launch(SourceStep& step, const KernelFacts* kernel, const std::vector<std::set<std::string>>& arguments,
                const std::vector<std::pair<std::string, std::set<std::string>>>& named, std::set<std::string>& fresh);

}  // namespace mtmc
