// Where the checkout is. A function, and its path in one object file: every other one is the same in every checkout, so
// that ccache serves all of them.
#pragma once
#include <string>

namespace mtmc {

std::string source_dir();

}  // namespace mtmc
