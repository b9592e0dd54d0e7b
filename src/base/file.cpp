#include "base/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace mtmc {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"reading " + path.string(), std::strerror(errno), "", ""};
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) return Error{"reading " + path.string(), "the read failed", "", ""};
  return std::move(content).str();
}

Status write_file(const std::filesystem::path& path, std::string_view content) {
  const std::string temporary = path.string() + ".tmp" + std::to_string(getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    if (!file) return Error{"writing " + path.string(), std::strerror(errno), "", ""};
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.flush();
    if (!file) {
      const std::string reason = std::strerror(errno);
      std::filesystem::remove(temporary);
      return Error{"writing " + path.string(), reason, "", ""};
    }
  }
  std::error_code code;
  std::filesystem::rename(temporary, path, code);
  if (code) return Error{"writing " + path.string(), code.message(), "", ""};
  return ok_status();
}

}  // namespace mtmc
