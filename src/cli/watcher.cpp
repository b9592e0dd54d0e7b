#include "cli/watcher.h"

#include <fmt/core.h>

#include "cli/interrupt.h"
#include "cli/summary.h"

namespace mtmc {

namespace {

std::string best_text(const RunStatus& status) { return fmt::format("best {:.2f}x", status.best_speedup); }

}  // namespace

void Watcher::on_doing(const std::string& what, const RunStatus& status) {
  progress_.live(status.fraction, status.seconds_left, best_text(status), what);
}

void Watcher::on_attempt(const NodeRecord& attempt, bool remembered, const RunStatus& status) {
  ++attempts_;
  set_interrupt_note(fmt::format("{} attempt{} kept in {}; the same command goes on from there", attempts_,
                                 attempts_ == 1 ? " is" : "s are", store_));
  std::string line = step_line(attempt);
  if (remembered) line += " (remembered)";
  progress_.line(fmt::format("{}  [{}]", line, best_text(status)));
}

}  // namespace mtmc
