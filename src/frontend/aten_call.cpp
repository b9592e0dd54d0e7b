#include "frontend/aten_call.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

// Where and how a result lies in memory: nothing that a Program's operators speak of.
constexpr std::array<std::string_view, 5> kPlacement = {"device", "layout", "pin_memory", "memory_format",
                                                        "non_blocking"};

bool is_value(const Json& item) { return item.is_object() && item.contains("v"); }
bool is_number(const Json& item) { return item.is_number() || (item.is_object() && item.contains("float")); }

std::optional<AtenArg> list_argument(const Json& list, const std::function<ValueId(const std::string&)>& id_of) {
  if (std::any_of(list.begin(), list.end(), is_value)) {
    std::vector<ValueId> ids;
    for (const Json& item : list) ids.push_back(is_value(item) ? id_of(item.at("v")) : kNoValue);
    return ids;
  }
  if (std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_number_integer(); }))
    return list.get<std::vector<int64_t>>();
  if (std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_boolean(); }))
    return std::vector<int64_t>(list.begin(), list.end());
  if (!std::all_of(list.begin(), list.end(), is_number)) return std::nullopt;
  std::vector<double> numbers;
  for (const Json& item : list) numbers.push_back(number_of(item));
  return numbers;
}

std::optional<AtenArg> argument(const Json& value, const std::function<ValueId(const std::string&)>& id_of) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (is_number(value)) return number_of(value);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return list_argument(value, id_of);
  if (is_value(value)) return TensorArg{id_of(value.at("v"))};
  if (!value.contains("dtype")) return std::nullopt;
  const auto dtype = parse_dtype(value.at("dtype").get<std::string>());
  return dtype ? std::optional<AtenArg>(*dtype) : std::nullopt;
}

}  // namespace

double number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  return std::stod(value.at("float").get<std::string>());
}

std::optional<AtenCall> aten_call(const std::string& overload, const Json& args,
                                  const std::function<ValueId(const std::string&)>& id_of) {
  AtenCall call{overload, {}};
  for (const auto& [name, value] : args.items()) {
    const bool placement = std::find(kPlacement.begin(), kPlacement.end(), name) != kPlacement.end();
    if (placement || value.is_null()) continue;  // None stands for an absent operand or "as always"
    const auto converted = argument(value, id_of);
    if (!converted) return std::nullopt;
    call.args.emplace(name, *converted);
  }
  return call;
}

}  // namespace mtmc
