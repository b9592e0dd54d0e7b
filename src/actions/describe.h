// The action types and the rules of simplify as a page: docs/ACTIONS.md.
#pragma once
#include <string>

namespace mtmc {

std::string actions_markdown();

}  // namespace mtmc
