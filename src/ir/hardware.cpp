#include "ir/hardware.h"

#include <nlohmann/json.hpp>

namespace mtmc {
namespace {

// Calls visit(name, member) for every field, so that writing and reading agree. Those of GPUs are written where they
// say something, and may be missing.
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

template <typename H, typename Visit>
void each_gpu_field(H& hardware, Visit visit) {
  visit("flops_tf32", hardware.flops_tf32);
  visit("flops_f16", hardware.flops_f16);
  visit("shared_bytes", hardware.shared_bytes);
  visit("registers", hardware.registers);
  visit("capability", hardware.capability);
}

}  // namespace

Json to_json(const Hardware& hardware) {
  Json json = Json::object();
  each_field(hardware, [&](const char* name, const auto& field) { json[name] = field; });
  each_gpu_field(hardware, [&](const char* name, const auto& field) {
    if (field != 0) json[name] = field;
  });
  return json;
}

Result<Hardware> hardware_from_json(const Json& json) {
  Hardware hardware;
  try {
    each_field(hardware, [&](const char* name, auto& field) { json.at(name).get_to(field); });
    each_gpu_field(hardware, [&](const char* name, auto& field) {
      if (json.contains(name)) json.at(name).get_to(field);
    });
  } catch (const Json::exception& error) {
    return Error{"reading hardware facts", error.what(), json.dump(), "the fields of ir/hardware.h"};
  }
  return hardware;
}

Hardware null_hardware() { return {}; }

Hardware h200_hardware() {
  Hardware h;
  h.name = "NVIDIA H200 (facts only)", h.target = "triton", h.cores = 132, h.vector_bytes = 16;
  h.bandwidth = 4.15e12, h.cache_bandwidth = 7e12;
  h.l1_bytes = h.l2_bytes = 233472, h.l3_bytes = 62914560;
  h.flops_f32 = 51e12, h.flops_special = 12.8e12, h.flops_tf32 = 370e12, h.flops_f16 = 700e12;
  h.launch_seconds = 1e-5, h.library_seconds = 4e-6;
  h.shared_bytes = 232448, h.registers = 65536, h.capability = 90;
  return h;
}

}  // namespace mtmc
