// Whole files as text.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mtmc {

Result<std::string> read_file(const std::filesystem::path& path);
// Writes beside the target and renames, so that a full disk or a kill never leaves half a file.
Status write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace mtmc
