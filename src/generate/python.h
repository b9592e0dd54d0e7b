// A question to one of our Python modules: python -m MODULE REQUEST.json REPORT.json.
#pragma once
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace mtmc {

// The interpreter is $MTMC_PYTHON. An Error, told as `doing`: it failed, in its last words.
Result<Json> ask_python(const std::string& doing, const std::string& module, const Json& request);

}  // namespace mtmc
