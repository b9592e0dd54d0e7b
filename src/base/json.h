// The JSON type of the house (nlohmann-json), forward-declared; .cpp files include <nlohmann/json.hpp>.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace mtmc {
using Json = nlohmann::json;
}
