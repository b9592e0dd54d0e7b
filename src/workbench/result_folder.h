// The folder that a run leaves: kernel.py, result.json, report.html.
#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"

namespace mtmc {

// Makes the folder and proves that it can be written to, before any work is done.
Status ready_result_folder(const std::filesystem::path& folder);

struct ResultFiles {
  std::string kernel, result, report;
};
// Of another module or target than `files` are, what lies in the folder: "run 2 (model, cpu)"; else empty.
std::string other_result(const std::filesystem::path& folder, const ResultFiles& files);
// Each file is written whole or not at all.
Status write_result(const std::filesystem::path& folder, const ResultFiles& files);

}  // namespace mtmc
