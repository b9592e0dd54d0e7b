#include "base/variables.h"

#include <cstdlib>

namespace mtmc {

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != 0 ? value : otherwise;
}

std::string python_program() { return variable("MTMC_PYTHON", "python3"); }

}  // namespace mtmc
