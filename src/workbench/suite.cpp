#include "workbench/suite.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "workbench_suites.h"

namespace mtmc {

namespace fs = std::filesystem;

namespace {

bool defines_model(const std::string& text) {
  return text.starts_with("class Model(") || text.find("\nclass Model(") != text.npos;
}

// "2_b" before "10_a": digits are compared as numbers.
bool before(const SuiteTask& a, const SuiteTask& b) { return strverscmp(a.name.c_str(), b.name.c_str()) < 0; }

}  // namespace

const SuiteDef* find_suite(std::string_view name) {
  for (const SuiteDef* def : kSuites)
    if (def->name == name) return def;
  return nullptr;
}

std::vector<const SuiteDef*> all_suites() { return {std::begin(kSuites), std::end(kSuites)}; }

Result<std::vector<SuiteTask>> tasks_of_folder(const fs::path& folder, const std::string& prefix) {
  std::vector<SuiteTask> tasks;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const fs::path file = fs::absolute(entry.path()).lexically_normal();
    if (file.extension() != ".py" || !entry.is_regular_file(code)) continue;
    MTMC_TRY(const std::string text, read_file(file));
    if (!defines_model(text)) continue;
    const std::string name = prefix + file.stem().string();
    const Json json = {{"name", file.stem().string()}, {"file", file.string()}, {"module", nullptr}, {"attr", "Model"}};
    tasks.push_back({name, {file.stem().string(), json.dump()}});
  }
  std::sort(tasks.begin(), tasks.end(), before);
  return tasks;
}

}  // namespace mtmc
