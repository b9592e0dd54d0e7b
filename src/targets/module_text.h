// Text that every printed module has, and how Python writes shapes and members.
#pragma once

#include <string>

#include "ir/type.h"

namespace mtmc {

extern const char* const kChecks;  // what refuses tensors that do not fit, and warns about gradients
extern const char* const kMoved;   // what moves attributes to the device

std::string shape_text(const Shape& shape);  // "(4, 8)"
// `owner.name`, for names that are no identifiers (`0`, `block1-0`) `getattr(owner, "name")`.
std::string member(const std::string& owner, const std::string& name);

}  // namespace mtmc
