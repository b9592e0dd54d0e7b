// The helpers that emitted C++ uses (vector types, loads with tails, exp and its like, the blocked matmul), as text:
// kernel.py carries what it needs.
#pragma once
#include <string>

namespace mtmc {

// The sections of the prelude that `code` refers to, with what those need, in order.
std::string cpu_prelude(const std::string& code);

}  // namespace mtmc
