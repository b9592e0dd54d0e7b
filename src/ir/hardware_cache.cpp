#include "ir/hardware_cache.h"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/variables.h"

namespace mtmc {
namespace {

std::filesystem::path cache_file(const std::string& kind, const std::string& key) {
  const std::filesystem::path base = variable("XDG_CACHE_HOME", variable("HOME", "/tmp") + "/.cache");
  return base / "mtmc" / (kind + "-" + short_hash(key) + ".json");
}

}  // namespace

std::optional<Hardware> kept_hardware(const std::string& kind, const std::string& key) {
  const auto text = read_file(cache_file(kind, key));
  if (!text.ok()) return std::nullopt;
  const auto known = hardware_from_json(Json::parse(*text, nullptr, false));
  return known.ok() ? std::optional<Hardware>(*known) : std::nullopt;
}

double hours_kept(const std::string& kind, const std::string& key) {
  std::error_code code;
  const auto written = std::filesystem::last_write_time(cache_file(kind, key), code);
  if (code) return 0;
  return std::chrono::duration<double, std::ratio<3600>>(std::filesystem::file_time_type::clock::now() - written)
      .count();
}

void keep_hardware(const std::string& kind, const std::string& key, const Hardware& hardware) {
  const auto path = cache_file(kind, key);
  std::error_code code;
  std::filesystem::create_directories(path.parent_path(), code);
  if (!code && !write_file(path, to_json(hardware).dump(2) + "\n").ok()) return;
}

}  // namespace mtmc
