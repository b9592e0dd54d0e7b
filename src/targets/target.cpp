#include "targets/target.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text.h"

#include "targets_table.h"

namespace mtmc {

std::string_view to_string(Device device) {
  return device == Device::cuda ? "cuda" : device == Device::cpu ? "cpu" : "none";
}

void no_choices(const Group&, const Hardware&, Kernel&) {}
std::vector<Numbers> no_candidates(const Program&, const Kernel&, const Hardware&) { return {}; }
std::vector<std::string> no_precisions(const Program&, const Kernel&) { return {}; }
bool always_distinguishes(const Program&, const Choice&, const Hardware&) { return true; }

void tiled_products(const Group&, const Hardware&, Kernel& kernel) {
  if (kernel.family == Family::contraction) kernel.choices["tiled"] = "";
}

Result<Machine> gpu_machine() {
  MTMC_TRY(const std::optional<Hardware> gpu, detect_gpu());
  return gpu ? Machine{*gpu} : Machine{h200_hardware(), false};
}

bool TargetDef::reads(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool TargetDef::measures(std::string_view word) const {
  return std::find(measured.begin(), measured.end(), word) != measured.end();
}

const TargetDef* find_target(std::string_view name) {
  for (const TargetDef* target : kTargets)
    if (target->name == name) return target;
  return nullptr;
}

std::vector<const TargetDef*> all_targets() { return {std::begin(kTargets), std::end(kTargets)}; }

namespace {

// The target of the highest rank whose kernels this machine runs.
Result<TargetHere> best_target() {
  std::vector<const TargetDef*> ranked = all_targets();
  std::erase_if(ranked, [](const TargetDef* target) { return target->rank == 0; });
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto* a, const auto* b) { return a->rank > b->rank; });
  for (const TargetDef* target : ranked) {
    MTMC_TRY(Machine machine, target->machine());
    if (machine.runs) return TargetHere{target, std::move(machine)};
  }
  return Error{"choosing a target", "this machine runs no target's kernels", "auto", "a target by its name"};
}

// The target on a machine that is not here.
Result<TargetHere> elsewhere(const TargetDef& target, const std::string& profile) {
  MTMC_TRY(Hardware hardware, hardware_profile(profile));
  const bool gpu = hardware.capability > 0;
  if (target.device != Device::none && gpu != (target.device == Device::cuda))
    return Error{"choosing hardware", "the target " + std::string(target.name) + " does not run there", hardware.name,
                 gpu ? "--target triton or null" : "--target cpu or null"};
  return TargetHere{&target, Machine{std::move(hardware), false}};
}

}  // namespace

Result<TargetHere> choose_target(std::string_view name, const std::string& hardware) {
  if (name == "auto" && !hardware.empty())
    return Error{"choosing a target", "auto is what this machine runs, and --hardware names another", hardware,
                 "--target null or triton"};
  if (name == "auto") return best_target();
  const TargetDef* target = find_target(name);
  if (target == nullptr) {
    std::vector<std::string> names = {"auto"};
    for (const TargetDef* one : all_targets()) names.emplace_back(one->name);
    return Error{"choosing a target", "no target has this name", std::string(name), join(names, ", ")};
  }
  if (!hardware.empty()) return elsewhere(*target, hardware);
  MTMC_TRY(Machine machine, target->machine());
  return TargetHere{target, std::move(machine)};
}

}  // namespace mtmc
