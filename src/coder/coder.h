// Micro coding: (state, action) -> next code. A coder takes one semantic step, chooses its numbers and prints the
// result; whether it is right and fast is the judge's business.
#pragma once
#include <memory>
#include <string>

#include "actions/action.h"
#include "base/result.h"
#include "eval/verdict.h"
#include "ir/program.h"
#include "targets/target.h"

namespace mtmc {

// What a step starts from.
struct CodeState {
  std::shared_ptr<const Program> program;  // null when the code was written by something that does not know Programs
  Code code;
};

struct CoderRequest {
  const CodeState& state;
  const Action& action;
  const Verdict* last = nullptr;  // of the state's code, when it was judged
};

struct Implementation {
  std::shared_ptr<const Program> program;
  Code code;
  std::string notes;  // JSON text for people and the store: what was tried, with which numbers
};

class Coder {
 public:
  virtual ~Coder() = default;
  virtual std::string name() const = 0;  // "builtin": stored with every attempt
  // The next code, or why this action cannot be implemented here (a refusal, expected in the loop). The same request
  // gives the same answer as long as the store remembers what was tuned.
  virtual Result<Implementation> implement(const CoderRequest& request) = 0;
  // It may be asked for this soon: what takes time may begin. Only where it works ahead: then implementing, too, costs
  // little and may be done for what will probably be asked.
  virtual bool works_ahead() const { return false; }
  virtual Status expect(const CoderRequest&) { return ok_status(); }
  // What was expected and has not begun will not be asked for.
  virtual Status expect_no_more() { return ok_status(); }
};

}  // namespace mtmc
