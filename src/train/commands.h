// `mtmc train ...`: the words of the command line.
#pragma once
#include <functional>
#include <memory>

#include "base/result.h"

namespace CLI {
class App;
}

namespace mtmc::train {

// Adds `train` and its words to the program; the function does what was asked, once the words are read, and has the
// exit code: 0 done, 1 to be gone on with.
std::function<Result<int>()> add_commands(CLI::App& app);

}  // namespace mtmc::train
