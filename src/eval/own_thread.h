// A judge that opens a task while its caller goes on, as with planning.
#pragma once
#include <memory>

#include "eval/judge.h"

namespace mtmc {

// The same judge in a thread of its own, which lasts as long as it does: processes end with the thread that starts
// them. prepare(task) returns at once, and everything else waits until that is done, but get_ahead(), which then says
// that something is left. What goes wrong in it is told to whoever asks about a candidate of that task next.
std::unique_ptr<Judge> in_own_thread(std::unique_ptr<Judge> judge);

}  // namespace mtmc
