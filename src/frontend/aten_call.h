// The arguments of a traced call, from JSON to what the operators' rules match.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/json.h"
#include "ops/aten.h"

namespace mtmc {

// nullopt when an argument is nothing that a rule could match (a dtype that a Program does not hold).
std::optional<AtenCall> aten_call(const std::string& overload, const Json& args,
                                  const std::function<ValueId(const std::string&)>& id_of);
// A JSON number, or {"float": "inf" | "-inf" | "nan"}.
double number_of(const Json& value);

}  // namespace mtmc
