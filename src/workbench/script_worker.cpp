#include "workbench/script_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "coder/script.h"
#include "ir/hardware.h"
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
Result<Json> hidden_from(const fs::path& file, const std::string& key_file) {
  Json hidden = Json::array({file.string()});
  const fs::path checkout = file.parent_path().parent_path();
  std::error_code wrong;
  const fs::directory_iterator all(checkout, wrong);
  if (wrong) return Error{"hiding golden code", wrong.message(), checkout.string(), "a folder that can be read"};
  for (const auto& entry : all)
    if (entry.path().extension().string().starts_with(".json")) hidden.push_back(entry.path().string());
  if (!key_file.empty()) hidden.push_back(fs::absolute(key_file).string());
  return hidden;
}

std::optional<double> number(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

// The larger share of what this device does at most, in bytes or in operations of any type, at the size where it is
// largest: the benchmark's definition (EVAL/eval_G/2_efficiency.py), which has an A100's peaks. `who`: 0 is the golden
// code, 1 the candidate. Null where nothing says how much work a call is.
Json efficiency(const Json& measured, const Hardware& hardware, size_t who) {
  const std::pair<const char*, double> peaks[] = {
      {"gbps", hardware.bandwidth / 1e9},
      {"tflops", std::max({hardware.flops_f32, hardware.flops_tf32, hardware.flops_f16}) / 1e12}};
  double best = 0;
  for (const Json& one : measured)
    for (const auto& [field, peak] : peaks)
      if (const Json& rates = one.at(field); rates.is_array())
        best = std::max(best, number(rates.at(who)).value_or(0) / peak);
  return best > 0 ? Json(best) : Json();
}

// What was measured at performance sizes: times are sums over the sizes at which the golden code can be held to, all of
// which the candidate must have done right.
void add_times(Json& row, const Json& found, const Hardware& hardware) {
  row.update(found);
  double golden = 0, own = 0;
  std::string wrong;
  int held = 0;
  for (const Json& one : found.at("measured")) {
    if (!one.at("golden_fails").get<std::string>().empty()) continue;
    ++held;
    if (const std::string why = one.at("reason"); !why.empty() && wrong.empty())
      wrong = fmt::format("size {}: {}", one.at("place").get<int>(), why);
    golden += number(one.at("golden_ms")).value_or(0), own += number(one.at("ms")).value_or(0);
  }
  if (held == 0) {
    if (found.at("untimed").get<std::string>().empty()) row["untimed"] = "the golden code fails at all of its sizes";
    return;
  }
  row["strict_at_sizes"] = wrong.empty();
  row["untimed"] = wrong;
  if (!wrong.empty() || own <= 0) return;
  row["golden_ms"] = golden, row["time_ms"] = own;
  row["speedup"]["golden"] = golden / own;
  row["efficiency"] = efficiency(found.at("measured"), hardware, 1);
  row["golden_efficiency"] = efficiency(found.at("measured"), hardware, 0);
}

}  // namespace

Result<Json> ScriptWorker::row(const SuiteTask& task, const WorkPlace& place) {
  MTMC_TRY(const std::string device, device_of(place));
  const Json files = Json::parse(task.task.json);
  const fs::path file = files.at("file").get<std::string>();
  MTMC_TRY(const Json hidden, hidden_from(file, place.bench.options().llm.key_file));
  Json request = {{"op", "golden"},
                  {"file", file.string()},
                  {"folder", fs::absolute(place.folder).string()},
                  {"device", device},
                  {"hidden", hidden}};
  const std::map<std::string, std::string> environment = {{"TRITON_INTERPRET", device == "cpu" ? "1" : "0"}};
  MTMC_TRY(const Json golden, server_.ask(request, environment));
  const std::string excluded = golden.at("excluded");
  Json row = begun_row(task, place, performance_, excluded.empty() ? Json() : Json(excluded), golden.at("failed"));
  row.update({{"goldens", goldens_}, {"certified", false}, {"answer", "refused"}, {"speedup", {{"eager", nullptr}}}});
  if (performance_)
    row.update({{"strict_at_sizes", nullptr},
                {"untimed", golden.at("failed").get<std::string>().empty() ? "it is not strictly right"
                                                                           : "its golden code does not run here"}});
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
  const bool to_be_timed = row.at("strict").get<bool>() || (row.at("called").get<bool>() && !excluded.empty());
  if (performance_ && to_be_timed) {
    request["op"] = "measure";
    request["sizes"] = {{"file", files.at("sizes")}, {"each", performance_->each}, {"largest", performance_->largest}};
    MTMC_TRY(const Json found, server_.ask(request, environment, FunctionServer::Turns::its));
    add_times(row, found, place.bench.hardware());
  }
  return row;
}

}  // namespace mtmc
