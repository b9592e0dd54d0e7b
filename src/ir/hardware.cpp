#include "ir/hardware.h"

#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

// Calls visit(name, member) for every field, so that writing and reading agree.
template <typename H, typename Visit>
void each_field(H& hardware, Visit visit) {
  visit("name", hardware.name);
  visit("target", hardware.target);
  visit("cores", hardware.cores);
  visit("vector_bytes", hardware.vector_bytes);
  visit("bandwidth", hardware.bandwidth);
  visit("cache_bandwidth", hardware.cache_bandwidth);
  visit("l1_bytes", hardware.l1_bytes);
  visit("l2_bytes", hardware.l2_bytes);
  visit("l3_bytes", hardware.l3_bytes);
  visit("flops_f32", hardware.flops_f32);
  visit("flops_special", hardware.flops_special);
  visit("launch_seconds", hardware.launch_seconds);
  visit("library_seconds", hardware.library_seconds);
}

}  // namespace

Json to_json(const Hardware& hardware) {
  Json json = Json::object();
  each_field(hardware, [&](const char* name, const auto& field) { json[name] = field; });
  return json;
}

Result<Hardware> hardware_from_json(const Json& json) {
  Hardware hardware;
  try {
    each_field(hardware, [&](const char* name, auto& field) { json.at(name).get_to(field); });
  } catch (const Json::exception& error) {
    return Error{"reading hardware facts", error.what(), json.dump(), "the fields of ir/hardware.h"};
  }
  return hardware;
}

Hardware null_hardware() { return {}; }

}  // namespace mtmc
