// The ModuleShell of a run as the store keeps it, so that a replay prints the same bytes.
#pragma once
#include <string>

#include "base/result.h"
#include "targets/target.h"

namespace mtmc {

std::string to_json_text(const ModuleShell& shell);
Result<ModuleShell> shell_from_json_text(const std::string& text);

}  // namespace mtmc
