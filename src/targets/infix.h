// Functions that C++ and Python write between their arguments.
#pragma once
#include "ir/expr.h"

namespace mtmc {

// "+", or null. `div` is there; integers that must floor need more than it.
const char* infix(Fn fn);

}  // namespace mtmc
