#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"

namespace mtmc {

// A constant scalar as a number in a library call, where torch takes one as the last operand of the same kind of
// numbers: a tensor in its place would be read for every element, and make torch's kernels slower; that of masked_fill
// is read by the host, which waits for the GPU, and cannot be captured. Else nothing.
std::optional<std::string> number_for(const Program& program, const Node& node, size_t operand);

// Reads its operand's type, and no value.
bool is_like(const Node& node);

// What the node's call needs before it, of operands with these Python names: lines that compute what no Program can
// hold, and last one that says which of their variables are to be deleted behind the call. Mostly nothing.
std::vector<std::string> lines_before(const Node& node, const std::vector<std::string>& args,
                                      const std::string& device);

// How torch computes the node's results of operands with these Python names, on `device` (a Python name) if it has
// none. `moves`: the first result alone, others stay in the module's buffers. An is_like node is spelled without its
// operand where `args` is empty.
std::string library_call(const Program& program, const Node& node, const std::vector<std::string>& args, bool moves,
                         const std::string& device);

}  // namespace mtmc
