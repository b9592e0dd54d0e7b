// One call of a process that is not believed, conducted from outside: memory for its arguments, the values put there
// while it stands still, the clock, its results read where they lie (python/mtmc/keeper/conduct.py). Candidates and
// rivals perform alike.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/judge_process.h"
#include "eval/task_facts.h"

namespace mtmc {

struct CallPlan {
  std::string draw;
  bool same_addresses = false;     // the values come where those of the last call lay
  bool seeded = true;              // torch's generator begins where eager's began
  int hold = 1;                    // so many of the last results stay alive
  int drop = 0;                    // of them the one so far behind the last one goes; 0: none does
  bool late = false;               // arguments come late on the caller's stream, and the result is copied there at once
  bool poison = false;             // memory that is handed out holds a pattern
  bool clean = false;              // or zeros, as a new process's does (on a CPU)
  std::vector<std::string> state;  // entries of the state that are results, too
  std::vector<int> written;        // tensors of the arguments that are results, too
  bool keep = false;               // the last call's arguments stay where they are
  bool gradients = false;          // they are recorded
  int threads = 0;                 // so many instead of its own
  int glimpses = 0;                // of its work, at most: see Performance::own and library
  double glimpsed_ms = 0;          // over which they are spread
  std::vector<std::string> folders;  // where code of its own lies
  std::filesystem::path out;         // where the results are put; empty: they are not read
  double timeout_seconds = 30;
  std::string engine;  // which of a baseline's; a candidate has one
};

struct Performance {
  std::shared_ptr<const Json> reply, places;  // what it says of its results; where its arguments lie
  double wall_ms = 0;                         // from the byte that released it until it stood still
  double inside_ms = 0;                       // by its own clock
  double processor_ms = 0;                    // processor time of its tree meanwhile
  double busy_ms = 0, kept_ms = 0;            // processor time for getting ready, and since the call before
  double woken_ms = 0;                        // of the former, what may be a call that nobody times
  int own = 0, library = 0;                   // threads that glimpses found in code of its own, and in libraries
  std::vector<int> modified;                  // tensors of its arguments that are not what was put there
  std::string unreadable;                     // why its results could not be read
  std::string reason, message;                // for which it is refused

  bool ok() const { return reason.empty(); }
};

// `who` performs in this process. Where results are read it stands still until `proceed`. An Error when the process
// that conducts it is lost.
Result<Performance> perform(JudgeProcess& conductor, TaskFacts& facts, const std::string& who, const CallPlan& plan);
Status proceed(JudgeProcess& conductor);

// Asks it for memory with `step`, and puts there a draw, or state-NAME, outside of any call.
Result<Performance> lend(JudgeProcess& conductor, TaskFacts& facts, const std::string& who, const std::string& name,
                         const Json& step, double timeout_seconds);

}  // namespace mtmc
