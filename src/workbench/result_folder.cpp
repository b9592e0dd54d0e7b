#include "workbench/result_folder.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace mtmc {

Status ready_result_folder(const std::filesystem::path& folder) {
  const std::string doing = "opening the result folder";
  const std::string got = "'" + folder.string() + "'";
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    return Error{doing, "cannot make it (" + code.message() + ")", got, "--out with a folder that can be written to"};
  const auto probe = folder / ".mtmc-probe";
  const Status written = write_file(probe, "probe\n");
  if (!written.ok())
    return Error{doing, "cannot write there (" + written.error().got + written.error().wrong + ")", got,
                 "--out with a folder that can be written to"};
  std::filesystem::remove(probe, code);
  return ok_status();
}

std::string other_result(const std::filesystem::path& folder, const ResultFiles& files) {
  const Result<std::string> text = read_file(folder / "result.json");
  if (!text.ok()) return "";
  const Json old = Json::parse(*text, nullptr, false), now = Json::parse(files.result);
  const auto same = [&](const char* field) { return old.value(field, Json()) == now.value(field, Json()); };
  if (!old.is_object() || (same("task_hash") && same("target"))) return "";
  const auto word = [&](const char* field) { return replace_all(old.value(field, Json()).dump(), "\"", ""); };
  return fmt::format("run {} ({}, {})", word("run"), word("task"), word("target"));
}

Status write_result(const std::filesystem::path& folder, const ResultFiles& files) {
  MTMC_RETURN_IF_ERROR(write_file(folder / "kernel.py", files.kernel));
  MTMC_RETURN_IF_ERROR(write_file(folder / "result.json", files.result));
  return write_file(folder / "report.html", files.report);
}

}  // namespace mtmc
