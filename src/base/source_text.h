// The text of a file of Python source.
#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"

namespace mtmc {

// In UTF-8, for the store and JSON: a file that is none is read as Latin-1, in which every byte is a character.
Result<std::string> read_source(const std::filesystem::path& path);

}  // namespace mtmc
