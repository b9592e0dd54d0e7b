// TritonBench (arXiv 2502.14752): a checkout of thunlp/TritonBench. A task of suite T is a function and tests that call
// it; each way of calling it is a case, a module that is optimised by itself. A task of suite G is an instruction: see
// script_worker.h. python/mtmc/tritonbench does what must be Python.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "workbench/function_score.h"
#include "workbench/function_server.h"
#include "workbench/result_files.h"
#include "workbench/result_folder.h"
#include "workbench/script_worker.h"
#include "workbench/suite.h"
#include "workbench/task_worker.h"
#include "workbench/workbench.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 600;  // for one request, which runs a task's tests twice at most
constexpr const char* kNoKernel = "no computation: it returns an object of the framework's";
constexpr const char* kRandom = "its result is random numbers";
constexpr const char* kFactors = "its factors are not unique; see the reconstruction";

// What strict accuracy leaves out, as the project's targets name them.
const std::map<std::string, const char*> kExcluded = {
    {"Adam", kNoKernel},     {"SGD", kNoKernel},
    {"autocast", kNoKernel}, {"quantize_dynamic", kNoKernel},
    {"rand", kRandom},       {"bitwise_and_binomial", kRandom},
    {"svd", kFactors},       {"low_rank_svd_approximation", "its factors are not unique"},
    {"eig", kFactors},       {"qr", kFactors},
    {"lu", kFactors},        {"ldl_factor", kFactors},
};

// The files of a folder that have the line between golden code and tests. What measures each is in the checkout, too.
Status add_tasks(const fs::path& root, const fs::path& folder, const std::string& group, std::vector<SuiteTask>& all) {
  std::error_code code;
  const fs::path measured = root / "performance_metrics" / ("perf_" + group) / "golden_metrics";
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const fs::path file = fs::absolute(entry.path()).lexically_normal();
    if (file.extension() != ".py" || !entry.is_regular_file(code)) continue;
    MTMC_TRY(const std::string text, read_file(file));
    if (text.find("\n" + std::string(146, '#') + "\n") == text.npos) continue;
    const std::string name = file.stem().string();
    const fs::path sizes = fs::absolute(measured / (name + "_perf.py")).lexically_normal();
    const Json json = {{"file", file.string()}, {"sizes", sizes.string()}};
    all.push_back({group + "/" + name, {name, json.dump()}});
  }
  return ok_status();
}

Result<std::vector<SuiteTask>> tasks(const fs::path& root) {
  std::vector<SuiteTask> all;
  std::error_code code;
  const fs::path data = root / "data";
  MTMC_RETURN_IF_ERROR(add_tasks(root, data / "TritonBench_G_v1", "G", all));
  const fs::path functions = fs::is_directory(data, code) ? data / "TritonBench_T_v1" : root;
  MTMC_RETURN_IF_ERROR(add_tasks(root, functions, "T", all));
  std::sort(all.begin(), all.end(), [](const SuiteTask& a, const SuiteTask& b) { return a.name < b.name; });
  if (all.empty())
    return Error{"opening the suite tritonbench", "no task of suite T or G", "'" + root.string() + "'",
                 "a checkout of github.com/thunlp/TritonBench"};
  return all;
}

class FunctionWorker final : public TaskWorker {
 public:
  explicit FunctionWorker(const WorkerOptions& options) : options_(options) {}
  Result<Json> row(const SuiteTask& task, const WorkPlace& place) override;

 private:
  // The case's kernel file is in its folder afterwards; fields of its result.json. An Error: why there is none.
  Result<Json> work(const Json& one, const fs::path& folder, const WorkPlace& place);
  Json kernels(Json& cases, const WorkPlace& place);
  WorkerOptions options_;
  FunctionServer server_{kSeconds};
};

Result<Json> FunctionWorker::work(const Json& one, const fs::path& folder, const WorkPlace& place) {
  const std::string name = one.at("name").get<std::string>();
  const Json json = {{"name", name}, {"file", one.at("file")}, {"module", nullptr}, {"attr", "Model"}};
  const Task task{name, json.dump()};
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  if (options_.untouched) {
    MTMC_TRY(const Traced traced, server_.trace(task));
    MTMC_TRY(const Code code, place.bench.target().emit(traced.program, place.bench.hardware(), traced.shell));
    MTMC_RETURN_IF_ERROR(write_file(folder / "kernel.py", code.text));
    return Json{{"certified", false}};
  }
  MTMC_TRY(const Optimized done, place.bench.work(task, place.listener));
  MTMC_TRY(const ResultFiles files, result_files(place.store, done.run));
  MTMC_RETURN_IF_ERROR(write_result(folder, files));
  return Json::parse(files.result);
}

// Gives each case its kernel or the reason why it has none, and what was measured of it. What the candidate is made of.
Json FunctionWorker::kernels(Json& cases, const WorkPlace& place) {
  Json found = Json::array();
  for (Json& one : cases) {
    if (!one.at("refused").get<std::string>().empty()) continue;
    const fs::path folder = place.folder / one.at("name").get<std::string>();
    const Result<Json> result = work(one, folder, place);
    if (!result.ok()) {
      one["error"] = result.error().message();
      continue;
    }
    for (const char* field :
         {"certified", "answer", "refusal", "time_ms", "times", "speedup", "roofline_ms", "evaluations", "seconds"})
      if (result->contains(field)) one[field] = result->at(field);
    found.push_back({{"kernel", fs::absolute(folder / "kernel.py").string()}});
    for (const char* field : {"key", "changed", "returns", "complex", "decisions"}) found.back()[field] = one.at(field);
  }
  return found;
}

// Null where a case has no such figure: half a sum says nothing.
Json sum_of(const Json& cases, const std::function<Json(const Json&)>& figure) {
  double sum = 0;
  for (const Json& one : cases) {
    if (!one.at("refused").get<std::string>().empty()) continue;
    const Json value = figure(one);
    if (!value.is_number()) return nullptr;
    sum += value.get<double>();
  }
  return sum;
}

Json eager_ms(const Json& one) {
  const Json eager = one.value("times", Json::object()).value("eager", Json::object());
  return eager.is_object() ? eager.value("median_ms", Json()) : Json();
}

// Speedup and efficiency over all cases: sums of times, as the benchmark has it.
void add_figures(Json& row, bool strict) {
  const Json& cases = row.at("cases");
  const auto field = [](const char* name) { return [name](const Json& one) { return one.value(name, Json()); }; };
  const Json eager = sum_of(cases, eager_ms), own = sum_of(cases, field("time_ms"));
  const Json least = sum_of(cases, field("roofline_ms"));
  bool certified = strict;
  for (const Json& one : cases)
    certified = certified && (one.value("certified", false) || !one.at("refused").get<std::string>().empty());
  const bool timed = certified && eager.is_number() && own.is_number() && own.get<double>() > 0;
  row["certified"] = certified;
  row["time_ms"] = own;
  row["roofline_ms"] = least;
  row["speedup"] = {{"eager", timed ? Json(eager.get<double>() / own.get<double>()) : Json()}};
  row["roofline_share"] = timed && least.is_number() ? Json(least.get<double>() / own.get<double>()) : Json();
  row["answer"] = row.at("untouched").get<bool>()                   ? "untouched"
                  : !timed                                          ? "refused"
                  : row.at("speedup").at("eager").get<double>() > 1 ? "faster"
                                                                    : "not-faster";
  for (const char* name : {"seconds", "evaluations"}) row[name] = sum_of(cases, field(name));
}

std::string first_error(const Json& cases) {
  for (const Json& one : cases)
    if (one.contains("error")) return one.at("error").get<std::string>();
  return "";
}

// Why the judge refuses a case of a candidate that is right by the tests.
std::string first_refusal(const Json& cases) {
  for (const Json& one : cases)
    if (const Json why = one.value("refusal", Json()); why.is_object())
      return fmt::format("{}: {}", why.value("reason", ""), why.value("message", ""));
  return "";
}

Result<Json> FunctionWorker::row(const SuiteTask& task, const WorkPlace& place) {
  MTMC_TRY(const std::string device, device_of(place));
  const Json files = Json::parse(task.task.json);
  Json request = {{"op", "split"},
                  {"file", files.at("file")},
                  {"folder", fs::absolute(place.folder).string()},
                  {"device", device},
                  {"sizes", nullptr}};
  if (const auto& sizes = options_.performance)
    request["sizes"] = {{"file", files.at("sizes")}, {"each", sizes->each}, {"largest", sizes->largest}};
  MTMC_TRY(const Json parts, server_.ask(request));
  const auto left_out = kExcluded.find(task.task.name);
  const Json excluded = left_out == kExcluded.end() ? Json() : Json(left_out->second);
  Json row = begun_row(task, place, options_.performance, excluded, parts.at("failed"));
  row["untouched"] = options_.untouched, row["cases"] = parts.at("cases");
  if (options_.performance) row["places"] = parts.at("places"), row["left_out"] = parts.at("left_out");
  if (parts.at("failed").get<std::string>().empty()) {
    request["cases"] = kernels(row["cases"], place);
    request["op"] = "attempt", request["output"] = parts.at("output"), request["places"] = parts.at("places");
    MTMC_TRY(const Json verdict, server_.ask(request));
    row.update(verdict);
    if (const std::string why = first_error(row["cases"]); !row["called"].get<bool>() && !why.empty())
      row["reason"] = why;
    if (!row["called"].get<bool>()) row["error"] = row["reason"];
    if (row["strict"].get<bool>() && !options_.untouched) row["reason"] = first_refusal(row["cases"]);
  }
  add_figures(row, row["strict"].get<bool>());
  return row;
}

// Each suite's tasks to whoever knows them.
class Worker final : public TaskWorker {
 public:
  explicit Worker(const WorkerOptions& options) : functions_(options), scripts_(options) {}
  Result<Json> row(const SuiteTask& task, const WorkPlace& place) override {
    return group_of(task.name) == "G" ? scripts_.row(task, place) : functions_.row(task, place);
  }

 private:
  FunctionWorker functions_;
  ScriptWorker scripts_;
};

std::unique_ptr<TaskWorker> worker(const WorkerOptions& options) { return std::make_unique<Worker>(options); }

std::string_view written_by(const SuiteTask& task) { return group_of(task.name) == "G" ? "llm" : "builtin"; }

// Table 4 of the paper that this house follows (arXiv 2511.20100).
constexpr const char* kPublished =
    "Published for the paper's own system (QiMeng-Kernel, arXiv 2511.20100) on suite T: one A100, 64.46 % called, "
    "54.82 % "
    "executed, a mean speedup of 0.64 over eager. On suite G: 32.61 % called, 22.83 % executed.\n";

}  // namespace

extern const SuiteDef tritonbench_def;
const SuiteDef tritonbench_def{.name = "tritonbench",
                               .doc = "TritonBench's suites T and G, from a checkout of it",
                               .tasks = tasks,
                               .published = kPublished,
                               .worker = worker,
                               .table = function_table,
                               .group = "T",
                               .written_by = written_by};

}  // namespace mtmc
