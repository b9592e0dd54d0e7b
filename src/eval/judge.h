// The judge: (task, candidate) -> verdict. It never learns who wrote the candidate.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "eval/verdict.h"

namespace mtmc {

struct Program;

inline constexpr const char* kNoMemory = "out of memory";  // what is wrong then, as task_error.py says it

// The user's module as the JSON text that python/mtmc/task/task.py reads.
struct Task {
  std::string name;
  std::string json;
};

// A kernel file: Python source that defines ModelNew. A judge that prices programs instead of running code (the null
// target's) reads `program`; the one that runs code ignores it.
struct Candidate {
  std::string code;
  std::shared_ptr<const Program> program;
  bool profiled = false;  // a screen, too, says which kernels take its time
};

// Somebody who works beside the judge, and stands still while it times a call.
class Bystander {
 public:
  virtual ~Bystander() = default;
  virtual void pause() = 0;
  virtual void resume() = 0;
};

class Judge {
 public:
  virtual ~Judge() = default;
  // Everything a candidate does wrong is in the verdict. An Error is the user's mistake in the task (it does not load
  // or run) or a judge that cannot work on this machine.
  virtual Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) = 0;
  // Why a candidate cannot be loaded or its kernels cannot be compiled, found out without a call; empty: nothing speaks
  // against it. No verdict, and none is changed by it. Nothing where no code is run.
  virtual Result<std::optional<std::string>> compile(const Task&, const Candidate&) {
    return std::optional<std::string>();
  }
  // What takes long while it judges is told from now on, as it begins: "certifying: timing calls"; an empty text
  // when it is over. To nobody where `told` is empty.
  virtual void tell(std::function<void(const std::string&)>) {}
  // A hint: tasks will follow. Its processes come up meanwhile.
  virtual Status start() { return ok_status(); }
  // A hint: candidates of this task may follow. Starts what all of them need and what takes long.
  virtual Status prepare(const Task&) { return ok_status(); }
  // A hint: this candidate may follow. Starts what only it needs and what takes long; it changes no verdict.
  virtual Status prepare(const Task&, const Candidate&) { return ok_status(); }
  // A hint: the caller waits for something else, and nothing is timed. Does some of what a first screen and a
  // certification of the task that was prepared will need, for a second at most as far as can be known; false: nothing
  // is left. In any thread that outlives the judge's processes; nothing else of the judge is called meanwhile.
  virtual bool get_ahead() { return false; }
  // A hint: after the next task that is prepared this one follows; null: nobody knows.
  virtual void expect(const Task*) {}
  // A hint: of the open task no candidate will follow. Where that holds memory others may need, it is given back.
  virtual void rest() {}
  // Hidden draws from here on are those of this seed, 0 of one that the system draws, as a new judge's would be.
  virtual void reseed(uint64_t) {}
};

}  // namespace mtmc
