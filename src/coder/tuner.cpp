#include "coder/tuner.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/kernel_headers.h"
#include "base/trace.h"
#include "base/turn.h"
#include "base/variables.h"

namespace mtmc {
namespace {

constexpr double kSlack = 30;          // that an answer may take beside building and measuring
constexpr double kCallsSeconds = 120;  // the most that calls of the library may take, each once or twice
constexpr double kTurnSeconds = 120;   // the most that it may wait for others on its GPU

double for_its_turn() { return turn_file().empty() ? 0 : kTurnSeconds; }

Json texts(const std::vector<TensorType>& types) {
  Json all = Json::array();
  for (const TensorType& type : types) all.push_back(to_string(type));
  return all;
}

}  // namespace

Status PythonTuner::warm_up() {
  if (process_ && process_->alive()) return ok_status();
  auto environment = memory_is_kept();
  if (device_ == "cpu") environment["CPATH"] = kernel_include_path();
  MTMC_TRY(LineProcess started, LineProcess::start({.argv = {python_program(), "-m", "mtmc.tune.tuner", device_},
                                                    .directory = folder_.path(),
                                                    .environment = environment}));
  process_.emplace(std::move(started));
  return ok_status();
}

Result<Json> PythonTuner::request(const std::vector<std::string>& modules, const std::vector<TensorType>& inputs) {
  MTMC_RETURN_IF_ERROR(warm_up());
  Json paths = Json::array();
  for (const std::string& module : modules) {
    const auto path = folder_.path() / ("version" + std::to_string(files_++) + ".py");
    MTMC_RETURN_IF_ERROR(write_file(path, module));
    paths.push_back(path.string());
  }
  return Json{{"modules", paths}, {"inputs", texts(inputs)}, {"device", device_}};
}

Status PythonTuner::prepare(const std::vector<std::string>& modules, const std::vector<TensorType>& inputs) {
  MTMC_TRY(Json asked, request(modules, inputs));
  asked["prepare"] = true;
  if (!process_->send(asked.dump()).ok()) process_.reset();  // a version has harmed it: the next tuning starts another
  return ok_status();
}

Status PythonTuner::stop_preparing() {
  if (process_ && !process_->send(R"({"stop_preparing": true})").ok()) process_.reset();
  return ok_status();
}

Status PythonTuner::make_room(int64_t task_bytes) {
  if (process_ && prepares() && !process_->send(Json{{"task_bytes", task_bytes}}.dump()).ok()) process_.reset();
  return ok_status();
}

Result<std::vector<bool>> PythonTuner::in_full_f32(const std::vector<LibraryCall>& calls) {
  // It ends with the thread that starts it, and this may be one that does not last.
  if (device_ == "cpu" || !process_ || !process_->alive()) return Tuner::in_full_f32(calls);
  const Span span("library calls in f32");
  Json asked = Json::array();
  for (const LibraryCall& call : calls) asked.push_back({{"call", call.text}, {"inputs", texts(call.inputs)}});
  MTMC_RETURN_IF_ERROR(process_->send(Json{{"in_full_f32", asked}}.dump()));
  const auto line = process_->receive(kCallsSeconds + for_its_turn());
  if (!line.ok()) {
    process_.reset();
    return Error{"finding out what torch computes in f32", line.error().message(), "", ""};
  }
  const auto full = Json::parse(*line).at("in_full_f32").get<std::vector<bool>>();
  MTMC_CHECK(full.size() == calls.size(), "the tuner answered for another number of calls: " + *line);
  return full;
}

Result<std::vector<Measured>> PythonTuner::measure(const std::vector<std::string>& modules,
                                                   const std::vector<TensorType>& inputs, double seconds,
                                                   double build_seconds) {
  const Span span("tuner");
  MTMC_TRY(Json asked, request(modules, inputs));
  asked["seconds"] = seconds, asked["build_seconds"] = std::min(build_seconds, kBuildSeconds);
  MTMC_RETURN_IF_ERROR(process_->send(asked.dump()));
  const auto line = process_->receive(kBuildSeconds + kSlack + 4 * seconds + for_its_turn());
  if (!line.ok()) {
    process_.reset();  // crashed or hung: the next tuning gets a fresh one
    return Error{"tuning a kernel", "a version harmed the process that times it: " + line.error().message(), "", ""};
  }
  const Json reply = Json::parse(*line);
  waited_for(reply.value("waited", 0.0));
  std::vector<Measured> measured;
  for (const Json& one : reply.at("results")) {
    Measured result;
    if (one.contains("ms")) result.ms = one.at("ms").get<double>();
    result.note = one.value("note", "");
    measured.push_back(std::move(result));
  }
  MTMC_CHECK(measured.size() == modules.size(), "the tuner answered for another number of versions: " + *line);
  return measured;
}

}  // namespace mtmc
