// A verb of the command line: `mtmc NAME ...`. To add one: src/cli/verbs/NAME.cpp that defines `const Verb NAME_def`;
// a generated table finds it.
#pragma once
#include <functional>
#include <string_view>

#include "base/result.h"
#include "cli/options.h"

namespace mtmc {

// Exit codes of the program.
enum ExitCode {
  kDone = 0,         // done; verify: certified at any speed
  kNotBetter = 1,    // nothing certified is faster than eager; verify: refused; bench: a task failed
  kUserMistake = 2,  // the user's mistake, told in one message
  kOurBug = 3,
  kSignalled = 128,  // and the signal's number: 130 after Ctrl-C, 143 after SIGTERM
};

// Runs the verb after the command line is read: an exit code, or the user's mistake.
using VerbBody = std::function<Result<int>()>;

struct Verb {
  std::string_view name, doc;
  VerbBody (*declare)(Options& options);
};

}  // namespace mtmc
