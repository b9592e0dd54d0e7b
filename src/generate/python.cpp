#include "generate/python.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "base/variables.h"

namespace mtmc {
namespace {

constexpr double kMostSeconds = 24 * 3600;  // it is the user who waits, and who may end it
constexpr size_t kLastWords = 500;

}  // namespace

Result<Json> ask_python(const std::string& doing, const std::string& module, const Json& request) {
  const std::string python = python_program();
  const TempDir folder;
  const auto asked = folder.path() / "request.json", told = folder.path() / "report.json";
  MTMC_RETURN_IF_ERROR(write_file(asked, request.dump()));
  Command command;
  command.argv = {python, "-m", module, asked.string(), told.string()};
  command.timeout_seconds = kMostSeconds;
  MTMC_TRY(const Finished done, run(command));
  if (done.exit_code != 0) {
    const std::string words(trim(done.err));
    return Error{doing, "it failed", words.substr(words.size() - std::min(words.size(), kLastWords)),
                 "torch in " + python};
  }
  MTMC_TRY(const std::string text, read_file(told));
  return Json::parse(text);
}

}  // namespace mtmc
