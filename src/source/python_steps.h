// The steps of a Python function.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "source/facts.h"

namespace mtmc {

// What a Python file says outside of the function.
struct PythonNames {
  const CodeFacts* facts = nullptr;
  std::set<std::string> torch = {"torch", "F", "nn"};  // what torch is called here
  // Variables of the file that calls made, such as a compiled library; of one of its functions the name there, too.
  std::map<std::string, std::string> built;
  std::set<std::string> classes, borrowed;     // its classes, and functions imported by their own names
  std::map<std::string, bool> functions;       // its functions -> does it run operators or kernels?
  std::map<std::string, std::string> modules;  // self.NAME -> the operator of its class: "linear"
  std::set<std::string> tensors;               // self.NAME that are parameters and buffers
};

// `given_tensors`: parameters without a default are tensors, as those of forward; else those that say so.
std::vector<SourceStep> steps_of(const SyntaxNode& function, const PythonNames& names, bool given_tensors);
// "LayerNorm" -> "layer_norm", "ReLU" -> "relu".
std::string operator_of(std::string_view class_name);

}  // namespace mtmc
