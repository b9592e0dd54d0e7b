// Variables of the environment.
#pragma once
#include <string>

namespace mtmc {

// What a variable holds; `otherwise` where it is not set, or empty.
std::string variable(const char* name, const std::string& otherwise = "");
// The Python that runs our packages: $MTMC_PYTHON, else python3.
std::string python_program();

}  // namespace mtmc
