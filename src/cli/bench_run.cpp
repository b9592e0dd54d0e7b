#include "cli/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/verb.h"
#include "workbench/plots.h"
#include "workbench/result_folder.h"
#include "workbench/rows.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

std::string row_line(const Json& row) {
  if (!row.at("error").is_null()) return "failed: " + row.at("error").get<std::string>();
  const Json& eager = row.at("speedup").at("eager");
  const std::string answer = row.at("answer").is_string() ? row.at("answer").get<std::string>() : "unfinished";
  if (row.contains("refusal") && row["refusal"].is_object())
    return fmt::format("{}: {}", answer, row["refusal"].value("reason", ""));
  return eager.is_number() ? fmt::format("{}, {:.2f}x eager", answer, eager.get<double>()) : answer;
}

}  // namespace

BenchRun::BenchRun(fs::path folder, std::vector<std::string> tasks, double budget, RowFile rows)
    : folder_(std::move(folder)),
      tasks_(std::move(tasks)),
      budget_(budget),
      start_(now_seconds()),
      rows_(std::move(rows)) {}

void BenchRun::Totals::add(const Json& row) {
  ++done;
  failed += !row.at("error").is_null();
  if (!row.at("error").is_null()) return;
  faster += row.value("answer", "") == "faster";
  const Json& eager = row.at("speedup").at("eager");
  if (eager.is_number() && eager.get<double>() > 0) log_speedups += std::log(eager.get<double>()), ++timed;
}

std::string BenchRun::Totals::text() const {
  const std::string mean =
      timed == 0 ? "" : fmt::format(", {:.2f}x eager (geometric mean of {})", std::exp(log_speedups / timed), timed);
  return fmt::format("{} done, {} faster, {} failed{}", done, faster, failed, mean);
}

std::string BenchRun::place(const std::string& task) const {
  const auto at = std::find(tasks_.begin(), tasks_.end(), task) - tasks_.begin();
  return fmt::format("[{}/{}] {}", at + 1, tasks_.size(), task);
}

void BenchRun::show() {
  if (running_.size() < 2) return;  // one alone shows its own attempts
  progress_.live(static_cast<double>(totals_.done) / static_cast<double>(tasks_.size()), -1, totals_.text(),
                 join(running_, ", "));
}

Result<std::unique_ptr<BenchRun>> BenchRun::open(const fs::path& folder, std::vector<std::string> tasks,
                                                 double budget_seconds) {
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  MTMC_TRY(RowFile rows, RowFile::open(folder / "rows.jsonl"));
  return std::unique_ptr<BenchRun>(new BenchRun(folder, std::move(tasks), budget_seconds, std::move(rows)));
}

std::vector<std::string> BenchRun::left() {
  std::vector<std::string> others;
  for (const std::string& task : tasks_) {
    if (!rows_.finished(task)) {
      others.push_back(task);
      continue;
    }
    const Json& row = rows_.rows().at(task);
    totals_.add(row);
    progress_.line(place(task) + ": " + row_line(row) + " (remembered)");
  }
  return others;
}

bool BenchRun::begins(const std::string& task) {
  if (!kept_.ok()) return false;
  if (budget_ > 0 && now_seconds() - start_ > budget_) {
    progress_.line(fmt::format("the budget of {:.0f} s is spent: the same command goes on with {}", budget_, task));
    return false;
  }
  progress_.line(place(task));
  running_.push_back(task);
  show();
  return true;
}

void BenchRun::ended(const std::string& task, const Json& row, bool bug) {
  std::erase(running_, task);
  bugs_ += bug;
  kept_ = rows_.append(row);
  totals_.add(row);
  const char* where = row.value("from_store", false) ? " (from the store)" : "";
  progress_.line(fmt::format("{}: {}{}  [{}]", place(task), row_line(row), where, totals_.text()));
  show();
  set_interrupt_note(fmt::format("{} rows are kept in {}; the same command goes on from there", totals_.done,
                                 (folder_ / "rows.jsonl").string()));
}

Result<int> BenchRun::conclude(const SuiteDef& suite) {
  MTMC_RETURN_IF_ERROR(kept_);
  const std::string table = suite.table(rows_.rows());
  progress_.line("\n" + table);
  const std::string below = suite.published.empty() ? "" : "\n" + std::string(suite.published);
  const std::string pictures = "\n![speedups in order](speedups.svg)\n\n![speedup and seconds](seconds.svg)\n";
  MTMC_RETURN_IF_ERROR(write_file(folder_ / "summary.md", table + below + pictures));
  MTMC_RETURN_IF_ERROR(write_file(folder_ / "speedups.svg", speedups_svg(rows_.rows())));
  MTMC_RETURN_IF_ERROR(write_file(folder_ / "seconds.svg", seconds_svg(rows_.rows())));
  progress_.line(totals_.text() + "; rows in " + (folder_ / "rows.jsonl").string());
  return bugs_ > 0 ? kOurBug : totals_.failed > 0 ? kNotBetter : kDone;
}

}  // namespace mtmc
