#include "frontend/trace.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"

namespace mtmc {
namespace {

std::string interpreter() {
  const char* chosen = std::getenv("MTMC_PYTHON");
  return chosen && *chosen ? chosen : "python3";
}

std::string last_lines(const std::string& text, size_t most) {
  std::vector<std::string> lines = split(std::string(trim(text)), '\n');
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return join(lines, "\n");
}

}  // namespace

Result<Traced> trace(const std::string& task_json, double timeout_seconds) {
  const std::string doing = "tracing " + Json::parse(task_json).value("name", "the module");
  const TempDir folder;
  const auto task = folder.path() / "task.json", out = folder.path() / "trace.json";
  MTMC_RETURN_IF_ERROR(write_file(task, task_json));
  MTMC_TRY(const Finished done,
           run({{interpreter(), "-m", "mtmc.trace.trace", task.string(), out.string()}, {}, {}, timeout_seconds}));
  if (done.timed_out)
    return Error{doing, "it took too long", format_double(timeout_seconds) + " s", "a module that traces in that time"};
  if (done.exit_code > 128)
    return Error{doing, "the tracer was ended by a signal", std::to_string(done.exit_code - 128),
                 "enough memory for the module and its inputs"};
  if (done.exit_code == 1 && done.err.find("No module named") != std::string::npos)
    return Error{doing, "Python lacks a package", last_lines(done.err, 1), "torch in " + interpreter()};
  MTMC_CHECK(done.exit_code == 0 || done.exit_code == 2, "the tracer failed:\n" + last_lines(done.err, 30));
  MTMC_TRY(const std::string text, read_file(out));
  return import_trace(Json::parse(text));
}

}  // namespace mtmc
