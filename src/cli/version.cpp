#include "cli/version.h"

#include <fmt/core.h>

#include "base/process.h"
#include "base/text.h"
#include "eval/judge_options.h"

namespace mtmc {

// Asked for at run time: compiled in, each commit would build the program anew.
std::string version_line() {
  const auto asked = run({{"git", "--git-dir=" MTMC_SOURCE_DIR "/.git", "rev-parse", "--short", "HEAD"}, {}, {}, 10});
  const bool told = asked.ok() && asked->exit_code == 0;
  return fmt::format("mtmc, {}, commit {}", kEvaluator, told ? trim(asked->out) : "unknown");
}

}  // namespace mtmc
