#include "base/source_text.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"

namespace mtmc {

namespace {

bool is_utf8(const std::string& text) {
  const std::string replaced = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(replaced).get_ref<const std::string&>() == text;
}

}  // namespace

Result<std::string> read_source(const std::filesystem::path& path) {
  MTMC_TRY(std::string text, read_file(path));
  if (is_utf8(text)) return text;
  std::string made;
  for (const unsigned char byte : text) {
    if (byte >= 0x80) made += static_cast<char>(byte < 0xc0 ? 0xc2 : 0xc3);
    made += static_cast<char>(byte < 0xc0 ? byte : byte - 0x40);
  }
  return made;
}

}  // namespace mtmc
