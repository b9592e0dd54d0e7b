#include "workbench/rows.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"

namespace mtmc {

namespace fs = std::filesystem;

Json row_of(const std::string& suite, const SuiteTask& task, const Json& result) {
  Json row = result;
  row["suite"] = suite, row["task"] = task.name, row["error"] = nullptr;
  return row;
}

Json failed_row(const std::string& suite, const SuiteTask& task, const Error& error) {
  return {{"suite", suite}, {"task", task.name}, {"error", error.message()}};
}

namespace {

// 0 where there is no whole line.
size_t end_of_lines(const std::string& text) { return text.rfind('\n') + 1; }

}  // namespace

Result<std::map<std::string, Json>> read_rows(const fs::path& file) {
  MTMC_TRY(const std::string text, read_file(file));
  std::map<std::string, Json> rows;
  for (const std::string& line : split(text.substr(0, end_of_lines(text)), '\n')) {
    if (line.empty()) continue;
    const Json row = Json::parse(line, nullptr, false);
    if (!row.is_object() || !row.contains("task") || !row["task"].is_string() || !row.contains("error"))
      return Error{"reading " + file.string(), "a line is no row", "'" + line.substr(0, 80) + "'",
                   "what `mtmc bench` writes"};
    rows[row.at("task").get<std::string>()] = row;
  }
  return rows;
}

Result<RowFile> RowFile::open(const fs::path& file) {
  RowFile rows(file);
  if (!fs::exists(file)) return rows;
  MTMC_TRY(rows.rows_, read_rows(file));
  MTMC_TRY(const std::string text, read_file(file));
  if (const size_t whole = end_of_lines(text); whole != text.size())
    MTMC_RETURN_IF_ERROR(write_file(file, text.substr(0, whole)));
  return rows;
}

bool RowFile::finished(const std::string& task) const {
  const auto row = rows_.find(task);
  return row != rows_.end() && row->second.at("error").is_null();
}

Status RowFile::append(const Json& row) {
  std::ofstream out(file_, std::ios::app);
  out << row.dump() << "\n" << std::flush;
  if (!out)
    return Error{"writing a row", "cannot write to the file", "'" + file_.string() + "'",
                 "space, and a folder that can be written to"};
  rows_[row.at("task").get<std::string>()] = row;
  return ok_status();
}

}  // namespace mtmc
