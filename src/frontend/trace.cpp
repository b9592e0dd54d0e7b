#include "frontend/trace.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "base/trace.h"
#include "base/variables.h"

namespace mtmc {
namespace {

std::string last_lines(const std::string& text, size_t most) {
  std::vector<std::string> lines = split(std::string(trim(text)), '\n');
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return join(lines, "\n");
}

std::string doing(const std::string& task_json) {
  return "tracing " + Json::parse(task_json).value("name", "the module");
}

Error too_long(const std::string& task_json, double seconds) {
  return {doing(task_json), "it took too long", format_double(seconds) + " s", "a module that traces in that time"};
}

}  // namespace

// Where the task lies for the tracer, and where it writes what it found.
struct Desk {
  TempDir folder;
  std::filesystem::path task = folder.path() / "task.json", out = folder.path() / "trace.json";

  Result<Traced> found() const {
    MTMC_TRY(const std::string text, read_file(out));
    return import_trace(Json::parse(text));
  }
};

Result<Traced> trace(const std::string& task_json, double timeout_seconds) {
  const Desk desk;
  MTMC_RETURN_IF_ERROR(write_file(desk.task, task_json));
  MTMC_TRY(const Finished done,
           run({{python_program(), "-m", "mtmc.trace.trace", desk.task.string(), desk.out.string()},
                {},
                {},
                timeout_seconds}));
  if (done.timed_out) return too_long(task_json, timeout_seconds);
  if (done.exit_code > 128)
    return Error{doing(task_json), "the tracer was ended by a signal", std::to_string(done.exit_code - 128),
                 "enough memory for the module and its inputs"};
  if (done.exit_code == 1 && done.err.find("No module named") != std::string::npos)
    return Error{doing(task_json), "Python lacks a package", last_lines(done.err, 1), "torch in " + python_program()};
  MTMC_CHECK(done.exit_code == 0 || done.exit_code == 2, "the tracer failed:\n" + last_lines(done.err, 30));
  return desk.found();
}

struct Tracer::Waiting {
  LineProcess process;
  std::string task_json = {};  // what it traces; empty: nothing yet
  std::unique_ptr<const Desk> desk = {};

  Status begin(const std::string& json) {
    task_json = json, desk = std::make_unique<const Desk>();
    MTMC_RETURN_IF_ERROR(write_file(desk->task, json));
    return process.send(Json{{"op", "trace"}, {"task", desk->task.string()}, {"out", desk->out.string()}}.dump());
  }
};

Tracer::Tracer() = default;
Tracer::~Tracer() = default;

void Tracer::begin_next() {
  // One is for this task, where none traces it yet, and one for what is foreseen: an idle one has all of this task's
  // time to import torch in.
  for (auto idle = std::ranges::count_if(waiting_, [](const Waiting& one) { return !one.desk; }); idle < 2; ++idle) {
    auto started = LineProcess::start({{python_program(), "-m", "mtmc.trace.trace", "--wait"}});
    if (!started.ok()) return;  // trace() says what is wrong
    waiting_.push_back({std::move(started).value()});
  }
}

void Tracer::foresee(const std::string& task_json) {
  std::erase_if(waiting_, [&](const Waiting& one) { return one.desk && one.task_json != task_json; });
  if (task_json.empty() || waiting_.empty() || waiting_.front().desk) return;
  if (!waiting_.front().begin(task_json).ok()) waiting_.erase(waiting_.begin());
}

Result<Traced> Tracer::trace(const std::string& task_json, double timeout_seconds) {
  auto found = std::ranges::find(waiting_, task_json, &Waiting::task_json);
  if (found == waiting_.end()) found = std::ranges::find(waiting_, std::string(), &Waiting::task_json);
  if (found == waiting_.end()) return mtmc::trace(task_json, timeout_seconds);
  Waiting mine = std::move(*found);
  waiting_.erase(found);
  const double until = now_seconds() + timeout_seconds;
  const bool foreseen = mine.desk != nullptr;
  const Span span(foreseen ? "tracing, begun before" : "tracing");
  const Status begun = foreseen ? ok_status() : mine.begin(task_json);
  const Result<std::string> reply =
      begun.ok() ? mine.process.receive(timeout_seconds) : Result<std::string>(begun.error());
  if (reply.ok() && Json::parse(*reply, nullptr, false).contains("code")) {  // else an exception ended it
    Result<Traced> traced = mine.desk->found();
    if (traced.ok() || !foreseen) return traced;  // beside another task it may have lacked memory
  }
  if (now_seconds() >= until) return too_long(task_json, timeout_seconds);
  return mtmc::trace(task_json, timeout_seconds);  // what ended that process, one of its own explains
}

}  // namespace mtmc
