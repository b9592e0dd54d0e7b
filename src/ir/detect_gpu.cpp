// What this machine's GPU is and does: asked of python/mtmc/device/hardware.py, so that nothing here is linked to CUDA,
// and kept for the next start.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/variables.h"
#include "ir/hardware.h"
#include "ir/hardware_cache.h"

namespace mtmc {
namespace {

constexpr char kWay[] = "gpu 2";  // the number rises when hardware.py measures otherwise

// Driver and model, as the driver's own files say; empty where there is no GPU.
std::string gpu_key() {
  if (gpus().empty()) return "";
  std::error_code none;
  std::string key = kWay;
  if (const auto version = read_file("/proc/driver/nvidia/version"); version.ok()) key += *version;
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", none))
    if (const auto facts = read_file(gpu.path() / "information"); facts.ok()) key += *facts;
  return key;
}

}  // namespace

std::vector<std::string> gpus() {
  std::vector<std::string> found;
  if (const char* named = std::getenv("CUDA_VISIBLE_DEVICES")) {
    for (const std::string& name : split(named, ','))
      if (!name.empty()) found.push_back(name);
    return found;
  }
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator("/dev", none)) {
    const std::string name = file.path().filename(), number = name.substr(std::min<size_t>(name.size(), 6));
    if (name.starts_with("nvidia") && !number.empty() && number.find_first_not_of("0123456789") == number.npos)
      found.push_back(std::to_string(found.size()));  // CUDA counts those that are here from 0
  }
  return found;
}

Result<std::optional<Hardware>> detect_gpu() {
  const std::string key = gpu_key();
  if (key.empty()) return std::optional<Hardware>();
  if (const auto known = kept_hardware("gpu", key)) return known;
  MTMC_TRY(const Finished done, run({{python_program(), "-m", "mtmc.device.hardware"}, {}, {}, 180}));
  const Json found = Json::parse(done.out, nullptr, false);
  if (done.exit_code != 0 || !found.is_object())
    return Error{"measuring the GPU", "torch cannot use it", std::string(trim(done.err.substr(0, 400))),
                 "--target cpu"};
  if (found.empty()) return std::optional<Hardware>();  // torch was built without CUDA
  MTMC_TRY(const Hardware hardware, hardware_from_json(found));
  keep_hardware("gpu", key, hardware);
  return std::optional<Hardware>(hardware);
}

}  // namespace mtmc
