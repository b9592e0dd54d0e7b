// `mtmc report RUN`: writes the report of a run again, from the store, or compares it with another run.
#include <fmt/core.h>

#include <memory>

#include "base/text.h"
#include "cli/run_number.h"
#include "cli/verb.h"
#include "report/tables.h"
#include "workbench/result_files.h"

namespace mtmc {
namespace {

struct ReportOptions {
  std::string run, other, store, out;
};

Result<int> write_report(const ReportOptions& options) {
  MTMC_TRY(const auto store, open_store(store_path(options.store), OpenFor::reading));
  MTMC_TRY(const RunId run, find_run(*store, options.run));
  if (!options.other.empty()) {
    MTMC_TRY(const RunId other, find_run(*store, options.other));
    MTMC_TRY(const ReportData a, full_report(*store, run));
    MTMC_TRY(const ReportData b, full_report(*store, other));
    fmt::print("{}\n", difference_table(a, b));
    return kDone;
  }
  MTMC_TRY(const ResultFiles files, result_files(*store, run));
  const std::string folder = options.out.empty() ? fmt::format("mtmc-out/run-{}", run) : options.out;
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  MTMC_RETURN_IF_ERROR(write_result(folder, files));
  fmt::print("wrote {}/ with kernel.py, result.json, report.html\n", folder);
  return kDone;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<ReportOptions>();
  options.positional(given->run, "RUN", "the number of a run, as `mtmc show` lists it, or `last`");
  options.text(given->other, "--diff", "RUN", "print what differs between two runs instead");
  options.text(given->out, "--out", "DIR", "where to write (mtmc-out/run-RUN)");
  options.text(given->store, "--store", "FILE", "the store to read");
  return [given] { return write_report(*given); };
}

}  // namespace

extern const Verb report_def;
const Verb report_def{"report", "Write kernel.py, result.json and report.html of a run again, from the store.",
                      declare};

}  // namespace mtmc
