// What a benchmark writes: one JSON line a task, appended as soon as it is known. The last line of a task counts.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "workbench/suite.h"

namespace mtmc {

// The fields of result.json, with `suite` in front, `task` named as the suite does, and `error` null.
Json row_of(const std::string& suite, const SuiteTask& task, const Json& result);
// Of a task that could not be optimised: `suite`, `task`, `error` in words.
Json failed_row(const std::string& suite, const SuiteTask& task, const Error& error);

// The rows that a file holds, by task; a last line that was cut off is none. An Error: not a file of rows.
Result<std::map<std::string, Json>> read_rows(const std::filesystem::path& file);

class RowFile {
 public:
  // Reads the rows that are there. A last line that was cut off is taken away. An Error: not a file of rows.
  static Result<RowFile> open(const std::filesystem::path& file);
  // By task; those without an error are finished.
  const std::map<std::string, Json>& rows() const { return rows_; }
  bool finished(const std::string& task) const;
  Status append(const Json& row);

 private:
  explicit RowFile(std::filesystem::path file) : file_(std::move(file)) {}
  std::filesystem::path file_;
  std::map<std::string, Json> rows_;
};

}  // namespace mtmc
