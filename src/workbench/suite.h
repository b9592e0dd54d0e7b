// A suite: benchmark tasks that lie in a folder which the user names. Nothing of it is ours or committed, but for
// suites that write their tasks there. To add one: src/workbench/suites/NAME.cpp defining `extern const SuiteDef
// NAME_def`; a generated table finds it.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/judge.h"
#include "workbench/score.h"
#include "workbench/task_worker.h"

namespace mtmc {

struct SuiteTask {
  std::string name;  // unique within the suite, a relative path: "level1/19_ReLU"
  Task task;
};

struct SuiteDef {
  std::string_view name, doc;
  // The suite's tasks in the order of their names, numbers by their value. An Error: `root` does not hold the suite.
  Result<std::vector<SuiteTask>> (*tasks)(const std::filesystem::path& root);
  // What others have published on it, as Markdown that stands below the table of a run; may be empty.
  std::string_view published = "";
  // It writes its tasks into `root`, which need not be named.
  bool writes = false;
  // Of a suite whose tasks are more than one module each: who makes their rows. Null: each task is a module.
  std::unique_ptr<TaskWorker> (*worker)(const WorkerOptions& options) = nullptr;
  std::string (*table)(const TaskRows& rows) = score_table;  // what all rows amount to, as Markdown
  std::string_view group = "";  // the part of it that is meant where none is named; empty: all
  // The coder that a task must be given to, "builtin" or "llm". Null: any.
  std::string_view (*written_by)(const SuiteTask& task) = nullptr;
};

const SuiteDef* find_suite(std::string_view name);
std::vector<const SuiteDef*> all_suites();

// Help for those who read folders. The Python files in `folder` that define a class Model, each named `prefix` + its
// stem: a module and its arguments as KernelBench writes them (Model, get_inputs, get_init_inputs). None where there is
// no such folder. An Error: a file cannot be read.
Result<std::vector<SuiteTask>> tasks_of_folder(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace mtmc
