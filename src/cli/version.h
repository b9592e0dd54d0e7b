// What this mtmc is.
#pragma once
#include <string>

namespace mtmc {

// "mtmc, judge N, commit 0123abcd": the commit is that of the checkout now, "unknown" where git cannot tell.
std::string version_line();

}  // namespace mtmc
