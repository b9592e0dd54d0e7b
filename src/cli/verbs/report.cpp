// `mtmc report RUN`: writes the report of a run again, from the store.
#include <fmt/core.h>

#include <memory>

#include "base/text.h"
#include "cli/report_files.h"
#include "cli/verb.h"

namespace mtmc {
namespace {

struct ReportOptions {
  int64_t run = 0;
  std::string store, out;
};

Result<int> write_report(const ReportOptions& options) {
  MTMC_TRY(const auto store, open_store(store_path(options.store), OpenFor::reading));
  MTMC_TRY(const ResultFiles files, result_files(*store, options.run));
  const std::string folder = options.out.empty() ? fmt::format("mtmc-out/run-{}", options.run) : options.out;
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  MTMC_RETURN_IF_ERROR(write_result(folder, files));
  fmt::print("wrote {}/ with kernel.py, result.json, report.html\n", folder);
  return kDone;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<ReportOptions>();
  options.positional_integer(given->run, "RUN", "the number of a run, as `mtmc show` lists it");
  options.text(given->out, "--out", "DIR", "where to write (mtmc-out/run-RUN)");
  options.text(given->store, "--store", "FILE", "the store to read");
  return [given] { return write_report(*given); };
}

}  // namespace

extern const Verb report_def;
const Verb report_def{"report", "Write kernel.py, result.json and report.html of a run again, from the store.",
                      declare};

}  // namespace mtmc
