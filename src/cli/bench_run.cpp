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
#include "workbench/result_folder.h"
#include "workbench/rows.h"
#include "workbench/score.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

std::string row_line(const Json& row) {
  if (!row.at("error").is_null()) return "failed: " + row.at("error").get<std::string>();
  const Json& eager = row.at("speedup").at("eager");
  const std::string answer = row.at("answer").is_string() ? row.at("answer").get<std::string>() : "unfinished";
  return eager.is_number() ? fmt::format("{}, {:.2f}x eager", answer, eager.get<double>()) : answer;
}

}  // namespace

struct BenchRun::State {
  struct Totals {
    int done = 0, faster = 0, failed = 0;
    double log_speedups = 0;
    int timed = 0;

    void add(const Json& row) {
      ++done;
      failed += !row.at("error").is_null();
      if (!row.at("error").is_null()) return;
      faster += row.value("answer", "") == "faster";
      const Json& eager = row.at("speedup").at("eager");
      if (eager.is_number() && eager.get<double>() > 0) log_speedups += std::log(eager.get<double>()), ++timed;
    }
    std::string text() const {
      const std::string mean =
          timed == 0 ? ""
                     : fmt::format(", {:.2f}x eager (geometric mean of {})", std::exp(log_speedups / timed), timed);
      return fmt::format("{} done, {} faster, {} failed{}", done, faster, failed, mean);
    }
  };

  fs::path folder, file;
  std::vector<std::string> tasks;
  double budget = 0;  // seconds; 0: none
  RowFile rows;
  Status kept = ok_status();  // of the last row
  Progress progress{stdout};
  Totals totals = {};
  std::vector<std::string> running = {};
  int bugs = 0;
  double start = now_seconds();

  std::string place(const std::string& task) const {
    const auto at = std::find(tasks.begin(), tasks.end(), task) - tasks.begin();
    return fmt::format("[{}/{}] {}", at + 1, tasks.size(), task);
  }
  void show() {
    if (running.size() < 2) return;  // one alone shows its own attempts
    progress.live(static_cast<double>(totals.done) / static_cast<double>(tasks.size()), -1, totals.text(),
                  join(running, ", "));
  }
};

BenchRun::BenchRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
BenchRun::BenchRun(BenchRun&&) noexcept = default;
BenchRun::~BenchRun() = default;
Progress& BenchRun::progress() { return state_->progress; }

Result<BenchRun> BenchRun::open(const fs::path& folder, std::vector<std::string> tasks, double budget_seconds) {
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  const fs::path file = folder / "rows.jsonl";
  MTMC_TRY(RowFile rows, RowFile::open(file));
  return BenchRun(std::unique_ptr<State>(
      new State{.folder = folder, .file = file, .tasks = std::move(tasks), .budget = budget_seconds, .rows = rows}));
}

std::vector<std::string> BenchRun::left() {
  std::vector<std::string> others;
  for (const std::string& task : state_->tasks) {
    if (!state_->rows.finished(task)) {
      others.push_back(task);
      continue;
    }
    const Json& row = state_->rows.rows().at(task);
    state_->totals.add(row);
    state_->progress.line(state_->place(task) + ": " + row_line(row) + " (remembered)");
  }
  return others;
}

bool BenchRun::begins(const std::string& task) {
  if (!state_->kept.ok()) return false;
  if (state_->budget > 0 && now_seconds() - state_->start > state_->budget) {
    state_->progress.line(
        fmt::format("the budget of {:.0f} s is spent: the same command goes on with {}", state_->budget, task));
    return false;
  }
  state_->progress.line(state_->place(task));
  state_->running.push_back(task);
  state_->show();
  return true;
}

void BenchRun::ended(const std::string& task, const Json& row, bool bug) {
  std::erase(state_->running, task);
  state_->bugs += bug;
  state_->kept = state_->rows.append(row);
  state_->totals.add(row);
  state_->progress.line(fmt::format("{}: {}  [{}]", state_->place(task), row_line(row), state_->totals.text()));
  state_->show();
  set_interrupt_note(fmt::format("{} rows are kept in {}; the same command goes on from there", state_->totals.done,
                                 state_->file.string()));
}

Result<int> BenchRun::conclude() {
  MTMC_RETURN_IF_ERROR(state_->kept);
  const std::string table = score_table(state_->rows.rows());
  state_->progress.line("\n" + table);
  MTMC_RETURN_IF_ERROR(write_file(state_->folder / "summary.md", table));
  state_->progress.line(state_->totals.text() + "; rows in " + state_->file.string());
  return state_->bugs > 0 ? kOurBug : state_->totals.failed > 0 ? kNotBetter : kDone;
}

}  // namespace mtmc
