#include "ir/hardware.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"

#include "ir_profiles.h"

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
  visit("memory_bytes", hardware.memory_bytes);
}

std::string architecture(int capability) {
  struct Generation {
    int first;
    const char* name;
  };
  const Generation generations[] = {{100, "Blackwell"}, {90, "Hopper"}, {89, "Ada"},
                                    {80, "Ampere"},     {75, "Turing"}, {70, "Volta"}};
  for (const Generation& one : generations)
    if (capability >= one.first) return one.name;
  return fmt::format("sm_{}", capability);
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
  if (hardware.cores < 1)
    return Error{"reading hardware facts", "it has no cores", std::to_string(hardware.cores), "1 or more"};
  return hardware;
}

Hardware null_hardware() { return {}; }

Hardware h200_hardware() { return hardware_profile("h200").value(); }

Result<Hardware> hardware_profile(const std::string& name_or_file) {
  std::string text;
  for (const auto& [name, json] : kProfiles)
    if (name == name_or_file) text = json;
  if (text.empty() && !name_or_file.ends_with(".json"))
    return Error{"choosing hardware", "no such profile", "'" + name_or_file + "'",
                 join(hardware_profiles(), ", ") + ", or a JSON file with the fields of src/ir/hardware.h"};
  if (text.empty()) {
    MTMC_TRY(text, read_file(name_or_file));
  }
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{"reading hardware facts", "not JSON", name_or_file, "an object of facts"};
  return hardware_from_json(json);
}

std::vector<std::string> hardware_profiles() {
  std::vector<std::string> names;
  for (const auto& [name, json] : kProfiles) names.emplace_back(name);
  return names;
}

std::string hardware_line(const Hardware& h) {
  std::vector<std::string> facts;
  const auto add = [&](double amount, const char* text) {
    if (amount > 0) facts.push_back(fmt::format("{:.3g}{}", amount, text));
  };
  const bool gpu = h.capability > 0;
  if (gpu) facts.push_back(architecture(h.capability));
  facts.push_back(fmt::format("{} {}", h.cores, gpu ? "SMs" : "cores"));
  constexpr double kKilo = 1 << 10, kMega = 1 << 20, kGiga = 1 << 30;
  add(static_cast<double>(h.memory_bytes) / kGiga, " GB memory");
  add(static_cast<double>(h.shared_bytes) / kKilo, " KB shared memory per SM");
  if (!gpu) add(static_cast<double>(h.l2_bytes) / kMega, " MB L2 per core");
  add(static_cast<double>(h.l3_bytes) / kMega, gpu ? " MB L2" : " MB L3");
  facts.push_back(fmt::format("{:.0f} GB/s", h.bandwidth / 1e9));
  add(h.flops_f32 / 1e12, " TFLOP/s FP32");
  return h.name + ": " + join(facts, ", ");
}

}  // namespace mtmc
