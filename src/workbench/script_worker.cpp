#include "workbench/script_worker.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "coder/script.h"
#include "workbench/suite.h"
#include "workbench/workbench.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInstructions = "TritonBench_G_v1.json";  // beside the folder of tasks

// The longer of the benchmark's two instructions for a task.
Result<std::string> instruction_of(const fs::path& file) {
  const fs::path list = file.parent_path().parent_path() / kInstructions;
  MTMC_TRY(const std::string text, read_file(list));
  const Json all = Json::parse(text, nullptr, false);
  if (all.is_array())
    for (const Json& one : all)
      if (one.is_object() && one.value("file", Json()) == file.filename().string() &&
          one.value("comp_instru", Json()).is_string())
        return one.at("comp_instru").get<std::string>();
  return Error{"reading " + list.string(), "no instruction for this task", file.filename().string(),
               "a list of {file, comp_instru}"};
}

// What a candidate must not read: golden code, wherever the checkout has it, and the key.
Json hidden_from(const fs::path& file, const std::string& key_file) {
  Json hidden = Json::array({file.string()});
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(file.parent_path().parent_path(), ignored))
    if (entry.path().extension().string().starts_with(".json")) hidden.push_back(entry.path().string());
  if (!key_file.empty()) hidden.push_back(fs::absolute(key_file).string());
  return hidden;
}

}  // namespace

Result<Json> ScriptWorker::row(const SuiteTask& task, const WorkPlace& place) {
  const std::string device(to_string(place.bench.target().device));
  if (device == "none")
    return Error{"choosing a target", "tritonbench runs its candidates", "null", "a target whose kernels run here"};
  const fs::path file = Json::parse(task.task.json).at("file").get<std::string>();
  Json request = {{"op", "golden"},
                  {"file", file.string()},
                  {"folder", fs::absolute(place.folder).string()},
                  {"device", device},
                  {"hidden", hidden_from(file, place.bench.options().llm.key_file)}};
  const std::map<std::string, std::string> environment = {{"TRITON_INTERPRET", device == "cpu" ? "1" : "0"}};
  MTMC_TRY(const Json golden, server_.ask(request, environment));
  const std::string excluded = golden.at("excluded");
  Json row = {{"task", task.name},
              {"error", nullptr},
              {"target", place.bench.target().name},
              {"hardware", place.bench.hardware().name},
              {"excluded", excluded.empty() ? Json() : Json(excluded)},
              {"golden_fails", golden.at("failed")},
              {"goldens", goldens_},
              {"called", false},
              {"executed", false},
              {"strict", false},
              {"reconstructed", nullptr},
              {"reason", golden.at("failed")},
              {"certified", false},
              {"answer", "refused"},
              {"speedup", {{"eager", nullptr}}}};
  if (!golden.at("failed").get<std::string>().empty()) return row;
  request["op"] = "attempt_script", request["output"] = golden.at("output"), request["code"] = nullptr;
  if (!goldens_) {
    MTMC_TRY(const std::string instruction, instruction_of(file));
    MTMC_TRY(LlmParts parts, llm_parts(place.bench.coder_context(ModuleShell{})));
    ScriptCoder coder(std::move(parts));
    const Result<Implementation> written = coder.write(instruction);
    if (const auto why = coder.given_up()) return *why;  // the next run of the same command tries again
    row["account"] = Json::parse(coder.account());
    row["reason"] = written.ok() ? "" : written.error().message();
    if (!written.ok()) return row;
    MTMC_RETURN_IF_ERROR(write_file(place.folder / "candidate.py", written->code.text));
    request["code"] = written->code.text;
  }
  MTMC_TRY(const Json verdict, server_.ask(request, environment));
  row.update(verdict);
  row["answer"] = row.at("strict").get<bool>() ? "right" : row.at("called").get<bool>() ? "called" : "refused";
  return row;
}

}  // namespace mtmc
